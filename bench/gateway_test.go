package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/coder/websocket"
)

const gatewayToken = "bench-token-0123456789abcdef"

// gateway is a running `grapnel gateway`.
type gateway struct {
	*agent        // the process
	ACP    string `json:"acp"`
}

// gateway starts `grapnel gateway` in the home, ended with the benchmark.
func (h *home) gateway(tb testing.TB) *gateway {
	tb.Helper()
	a := &agent{tb: tb, cmd: exec.Command(program(tb, grapnel), "--config-dir", h.dir, "gateway", "--json")}
	a.cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "GRAPNEL_gateway__port=0", "GRAPNEL_gateway__auth__token="+gatewayToken,
		"GRAPNEL_gateway__limits__connections=0", "GRAPNEL_gateway__limits__requests_per_minute=0", "GRAPNEL_acp__max_sessions=100000")
	a.cmd.Stderr = &a.log
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	g := &gateway{agent: a}
	tb.Cleanup(func() {
		_ = a.cmd.Process.Signal(os.Interrupt)
		_ = a.cmd.Wait() // its exit code is other tests' business
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, g)
	}
	if err != nil {
		tb.Fatalf("the gateway is not ready: %v in %q\n%s", err, line, &a.log)
	}
	return g
}

// socket is a WebSocket client that does no more than it must.
type socket struct {
	tb   testing.TB
	conn *websocket.Conn
	id   int
	seen int // notifications met while waiting
	buf  bytes.Buffer
}

// dial connects to a gateway's address.
func dial(tb testing.TB, url string) *socket {
	tb.Helper()
	conn, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + gatewayToken}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	conn.SetReadLimit(-1)
	return &socket{tb: tb, conn: conn}
}

// send sends a request and returns its id. params is JSON.
func (s *socket) send(method, params string) int {
	s.id++
	msg := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.id, method, params)
	if err := s.conn.Write(context.Background(), websocket.MessageText, msg); err != nil {
		s.tb.Fatalf("%s: %v", method, err)
	}
	return s.id
}

// next reads a message, valid until the next one.
func (s *socket) next() ([]byte, error) {
	_, r, err := s.conn.Reader(context.Background())
	if err != nil {
		return nil, err
	}
	s.buf.Reset()
	_, err = s.buf.ReadFrom(r)
	return s.buf.Bytes(), err
}

// call sends a request and returns its result, valid until the next call.
func (s *socket) call(method, params string) json.RawMessage {
	head := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"`, s.send(method, params))
	for {
		msg, err := s.next()
		if err != nil {
			s.tb.Fatalf("%s: %v", method, err)
		}
		rest, ok := bytes.CutPrefix(msg, head)
		if !ok {
			s.seen++
			continue
		}
		result, ok := bytes.CutPrefix(rest, []byte(`result":`))
		if !ok {
			s.tb.Fatalf("%s failed: %s", method, msg)
		}
		return json.RawMessage(result)
	}
}

func (s *socket) initialize() {
	s.call("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
}

// session opens a session and returns its id.
func (s *socket) session(h *home) string {
	var r struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.NewDecoder(bytes.NewReader(s.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, h.cwd)))).Decode(&r); err != nil {
		s.tb.Fatal(err)
	}
	return r.SessionID
}

func (s *socket) close() { _ = s.conn.Close(websocket.StatusNormalClosure, "") }

// BenchmarkGatewayConnect is from a client's first byte to the answer to its
// initialize.
func BenchmarkGatewayConnect(b *testing.B) {
	h := newHome(b)
	g := h.gateway(b)
	var ours sample
	for b.Loop() {
		var s *socket
		ours.add(func() {
			s = dial(b, g.ACP)
			s.initialize()
		})
		s.close()
	}
	b.ReportMetric(ms(ours.p50()), "ms-p50")
	b.ReportMetric(ms(ours.at(0.99)), "ms-p99")
}

// BenchmarkGatewayLoad is session/load of a long session over a WebSocket, with
// every update received before the response.
func BenchmarkGatewayLoad(b *testing.B) {
	const length = 10_000
	h := newHome(b)
	st := openStore(b, h.dir)
	id, _ := st.filled(b, h.cwd, length)
	st.end(b)
	s := dial(b, h.gateway(b).ACP)
	s.initialize()
	var ours sample
	for b.Loop() {
		s.seen = 0
		ours.add(func() { s.call("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, h.cwd)) })
		if s.seen < length {
			b.Fatalf("%d updates came, want %d", s.seen, length)
		}
		untimed(b, func() { s.call("session/close", fmt.Sprintf(`{"sessionId":%q}`, id)) })
	}
	b.ReportMetric(ms(ours.p50()), "ms-p50")
	b.ReportMetric(us(ours.p50())/length, "us/update")
}

// BenchmarkGatewayMemory is what a gateway holds: idle, for each client that
// follows a session, and for each session that is parked.
func BenchmarkGatewayMemory(b *testing.B) {
	const clients, parked = 500, 2000
	for b.Loop() {
		floor := start(b, program(b, baseline))
		floor.initialize()
		base := floor.status("VmRSS")
		floor.end()

		h := newHome(b)
		g := h.gateway(b)
		idle := g.status("VmRSS")
		first := dial(b, g.ACP)
		first.initialize()
		id := first.session(h)
		before := g.status("VmRSS")
		var all []*socket
		for range clients {
			s := dial(b, g.ACP)
			s.initialize()
			s.call("session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, id, h.cwd))
			all = append(all, s)
		}
		perClient := (g.status("VmRSS") - before) / clients
		for _, s := range all {
			s.close()
		}

		before = g.status("VmRSS")
		for range parked {
			first.call("session/close", fmt.Sprintf(`{"sessionId":%q}`, first.session(h)))
		}
		perParked := (g.status("VmRSS") - before) / parked
		first.close()
		b.ReportMetric(idle/1024, "idle-MiB")
		b.ReportMetric(idle/base, "x-base")
		b.ReportMetric(perClient, "KiB/client")
		b.ReportMetric(max(0, perParked), "KiB/parked")
	}
}

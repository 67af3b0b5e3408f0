package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
)

// home is a configuration directory with a fake model behind it, and a working
// directory.
type home struct {
	dir, cwd string
	model    *fakellm.Server
	url      string
}

func newHome(tb testing.TB) *home {
	tb.Helper()
	h := &home{dir: tb.TempDir(), cwd: tb.TempDir(), model: &fakellm.Server{}}
	server := httptest.NewServer(h.model)
	tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	h.url = server.URL
	conf := fmt.Sprintf(`
[acp]
max_sessions = 1000
[autonomy]
allowed_commands = ["*"]
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "sk-fake"
model = "fake-model"
context_window = 1000000
[agents.main]
provider = "fake"
`, h.url)
	if err := os.WriteFile(filepath.Join(h.dir, "config.toml"), []byte(conf), 0o600); err != nil {
		tb.Fatal(err)
	}
	return h
}

// agent is a running program and our end of its pipes. It does no more than it
// must, because it shares the machine with what it measures.
type agent struct {
	tb   testing.TB
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	log  bytes.Buffer
	id   int
	seen int // notifications met while waiting
}

// start runs a program.
func start(tb testing.TB, program string, args ...string) *agent {
	tb.Helper()
	a := &agent{tb: tb, cmd: exec.Command(program, args...)}
	a.cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1")
	a.cmd.Stderr = &a.log
	in, err := a.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	a.in, a.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := a.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return a
}

// acp starts `grapnel acp` in the home.
func (h *home) acp(tb testing.TB) *agent {
	tb.Helper()
	return start(tb, program(tb, grapnel), "--config-dir", h.dir, "acp")
}

// opened is acp with the handshake done, ended with the benchmark.
func (h *home) opened(tb testing.TB) *agent {
	tb.Helper()
	a := h.acp(tb)
	tb.Cleanup(a.end)
	a.initialize()
	return a
}

// call sends a request and returns the beginning of its result, valid until the
// next call. params is JSON.
func (a *agent) call(method, params string) json.RawMessage {
	a.id++
	if _, err := fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", a.id, method, params); err != nil {
		a.tb.Fatalf("%s: %v\n%s", method, err, &a.log)
	}
	head := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"`, a.id)
	for {
		line := a.line(method)
		rest, ok := bytes.CutPrefix(line, head)
		if !ok {
			a.seen++
			continue
		}
		result, ok := bytes.CutPrefix(rest, []byte(`result":`))
		if !ok {
			a.tb.Fatalf("%s failed: %s", method, line)
		}
		return json.RawMessage(result)
	}
}

// line reads a line and returns its beginning, which is valid until the next.
func (a *agent) line(waitingFor string) []byte {
	line, err := a.out.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line = bytes.Clone(line)
		for err == bufio.ErrBufferFull {
			_, err = a.out.ReadSlice('\n')
		}
	}
	if err != nil {
		a.tb.Fatalf("%s: the agent ended: %v\n%s", waitingFor, err, &a.log)
	}
	return line
}

func (a *agent) initialize() {
	a.call("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
}

// session opens a session and returns its id.
func (a *agent) session(h *home) string {
	var r struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.NewDecoder(bytes.NewReader(a.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, h.cwd)))).Decode(&r); err != nil {
		a.tb.Fatal(err)
	}
	return r.SessionID
}

func (a *agent) prompt(session, text string) {
	result := a.call("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, text))
	if !bytes.Contains(result, []byte(`"end_turn"`)) {
		a.tb.Fatalf("prompt %s: %s", text, result)
	}
}

func (a *agent) load(h *home, session string) {
	a.call("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, h.cwd))
}

func (a *agent) close(session string) {
	a.call("session/close", fmt.Sprintf(`{"sessionId":%q}`, session))
}

// end closes the agent's input and waits for it; a second call does nothing.
func (a *agent) end() {
	_ = a.in.Close()
	_ = a.cmd.Wait() // its exit code is other tests' business
}

// status reads a line of the process's status, in KiB; it skips the benchmark
// where the system has none.
func (a *agent) status(name string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.cmd.Process.Pid))
	if err != nil {
		a.tb.Skip("this system does not tell how much memory a process has")
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			var kib float64
			if _, err := fmt.Sscan(rest, &kib); err == nil {
				return kib
			}
		}
	}
	a.tb.Fatalf("no %s in the status of the process", name)
	return 0
}

// cpu is the processor time the process has used, to a hundredth of a second; 0
// where the system does not tell.
func (a *agent) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11]) // numbers, as the system writes them
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

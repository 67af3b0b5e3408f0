package fieldtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Token is the static credential of every gateway of this kit. Its owner is the
// one that stdio has.
const Token = "field-test-token-0123456789abcdef"

// Gateway is a running `grapnel gateway` on a port of its own.
type Gateway struct {
	*process
	w   *World
	URL string `json:"url"` // where it is, such as http://127.0.0.1:4711
	ACP string `json:"acp"` // its WebSocket address
}

// Gateway runs `grapnel gateway` with more arguments and waits until it is
// ready. What config.toml says about the port does not count.
func (w *World) Gateway(args ...string) *Gateway {
	w.T.Helper()
	p := w.command(append([]string{"gateway", "--json"}, args...)...)
	p.cmd.Env = append(p.cmd.Env, "GRAPNEL_gateway__port=0", "GRAPNEL_gateway__auth__token="+Token)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	g := &Gateway{process: p, w: w}
	drained, ready := make(chan struct{}), make(chan string, 1)
	p.start(drained)
	w.T.Cleanup(p.Kill)
	go func() {
		defer close(drained)
		r := bufio.NewReader(out)
		line, _ := r.ReadString('\n') // one that is cut short is no JSON
		ready <- line
		_, _ = io.Copy(io.Discard, r)
	}()
	select {
	case line := <-ready:
		if err := json.Unmarshal([]byte(line), g); err != nil || g.ACP == "" {
			w.T.Fatalf("the gateway is not ready: %v in %q\n%s", err, line, p.Stderr())
		}
	case <-time.After(patience):
		w.T.Fatalf("the gateway is not ready in time\n%s", p.Stderr())
	}
	return g
}

// Host is the host and port it listens on.
func (g *Gateway) Host() string {
	u, err := url.Parse(g.ACP)
	if err != nil {
		g.tb.Fatal(err)
	}
	return u.Host
}

// Stop asks the gateway to drain and expects a clean exit.
func (g *Gateway) Stop() {
	g.tb.Helper()
	g.Signal(syscall.SIGTERM)
	if code := g.WaitExit(); code != 0 {
		g.tb.Errorf("exit code %d after SIGTERM\n%s", code, g.Stderr())
	}
}

// Get fetches a path of the gateway and returns the body of its answer.
func (g *Gateway) Get(path string) string {
	g.tb.Helper()
	req, err := http.NewRequestWithContext(g.tb.Context(), http.MethodGet, g.URL+path, nil)
	if err != nil {
		g.tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.tb.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		g.tb.Fatalf("GET %s: %s %v %s", path, resp.Status, err, body)
	}
	return string(body)
}

// Metric is the value of a metric, which is named with its labels.
func (g *Gateway) Metric(name string) int {
	g.tb.Helper()
	for line := range strings.Lines(g.Get("/metrics")) {
		var value float64
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			if _, err := fmt.Sscan(rest, &value); err != nil {
				g.tb.Fatalf("%s: %v", line, err)
			}
			return int(value)
		}
	}
	g.tb.Fatalf("there is no metric %s", name)
	return 0
}

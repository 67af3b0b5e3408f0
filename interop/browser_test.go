//go:build interop

package interop

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// visit is what a page tells of its visit to a gateway.
type visit struct {
	Closed    int      `json:"closed"` // code of the WebSocket's end, if it never opened
	Protocol  string   `json:"protocol"`
	Agent     string   `json:"agent"`
	Workspace string   `json:"workspaceDir"`
	Kinds     []string `json:"kinds"`
	Text      string   `json:"text"`
	Asked     []string `json:"asked"`
	Prompt    struct {
		StopReason string `json:"stopReason"`
		Content    string `json:"content"`
	} `json:"prompt"`
}

// site serves the page of a console and hears how its visit went.
type site struct {
	*httptest.Server
	acp    string // set before the page is opened
	visits chan visit
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{visits: make(chan visit, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(testbed.Root(t), "interop", "browser", "console.html"))
	})
	mux.HandleFunc("GET /gateway", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.MarshalWrite(w, map[string]string{"acp": s.acp, "token": testbed.Token})
	})
	mux.HandleFunc("POST /outcome", func(_ http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		var v visit
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		if err != nil {
			t.Errorf("the page tells %q: %v", text, err)
		}
		s.visits <- v
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// browser is the program of a Chromium. Where there is none the test is left
// out, but never in CI.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("there is no Chromium, and CI must not leave this out; run scripts/setup")
	}
	t.Skip("there is no Chromium; scripts/setup installs it")
	return ""
}

// open has a browser open the site's page and waits for what it tells.
func (s *site) open(t *testing.T, program, acp string) visit {
	t.Helper()
	s.acp = acp
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--no-first-run", "--no-proxy-server",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", s.URL) // a port keeps it running
	cmd.WaitDelay = 10 * time.Second
	log := &lockedBuffer{}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt) // it ends its children itself
		_ = cmd.Wait()
	}()
	select {
	case v := <-s.visits:
		return v
	case <-time.After(peerTimeout):
		t.Fatalf("the page tells nothing:\n%s", log)
	}
	return visit{}
}

// TestBrowser has a real browser talk to the gateway from a page whose origin
// is listed, with the token among the subprotocols; and from one that is not
// listed, with the same token.
func TestBrowser(t *testing.T) {
	t.Parallel()
	program := browser(t)
	bed := testbed.New(t, testbed.Chat)
	listed, foreign := newSite(t), newSite(t)
	gateway := bed.Gateway(t, testbed.GatewayOptions{Origins: []string{listed.URL}})

	got := listed.open(t, program, gateway.ACP)
	want := visit{
		Protocol: "zeroclaw.acp.v1", Agent: "grapnel", Workspace: got.Workspace,
		Kinds: []string{"agent_message_chunk", "tool_call", "tool_call_update"},
		Text:  "From a page.Written.", Asked: []string{"session/request_permission"},
	}
	want.Prompt.StopReason, want.Prompt.Content = "end_turn", want.Text
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the listed page (-want +got):\n%s", d)
	}
	if got.Workspace == "" {
		t.Error("the session has no workspaceDir")
	} else if text, err := os.ReadFile(filepath.Join(got.Workspace, "page.txt")); err != nil || string(text) != "hello" {
		t.Errorf("what the page had written: %q %v", text, err)
	}

	if got := foreign.open(t, program, gateway.ACP); got.Closed != 1006 {
		t.Errorf("the page of another origin came in: %+v", got)
	}
}

// lockedBuffer is a buffer that a program writes to while the test reads.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

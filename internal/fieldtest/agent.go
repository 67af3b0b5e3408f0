// Package fieldtest drives the real grapnel binary over its real pipes, the way
// clients in the field do, against a fake model on the wire. Its tests are the
// reports of what went wrong for users of such programs, named by their ids.
package fieldtest

import (
	"bufio"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
)

// AsMain is set in the environment of a test binary that is to be grapnel: the
// TestMain of every package that uses this kit looks at it.
const AsMain = "GRAPNEL_FIELDTEST_AS_MAIN"

// patience bounds every wait for the agent; a correct one answers in
// milliseconds, and a loaded machine is slow.
const patience = 30 * time.Second

// World is what one test's agents share: a home, a working directory and a
// model.
type World struct {
	T     testing.TB
	Home  string // configuration directory
	Cwd   string
	Model *fakellm.Server
	URL   string // of the model
	Env   []string
	Wrap  []string // a command that starts the one behind it, such as setpriv
}

// NewWorld makes a world whose only provider is the fake model, spoken to as
// Chat Completions. Lines of more go to the top of config.toml.
func NewWorld(t testing.TB, more ...string) *World {
	t.Helper()
	w := &World{T: t, Home: filepath.Join(t.TempDir(), "home"), Cwd: realDir(t, t.TempDir()), Model: &fakellm.Server{}}
	server := httptest.NewServer(w.Model)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	w.URL = server.URL
	w.ConfigureFake(more...)
	return w
}

// ConfigureFake replaces config.toml: the fake model is the provider, and lines
// of more go to the top.
func (w *World) ConfigureFake(more ...string) {
	w.T.Helper()
	w.Configure(strings.Join(more, "\n") + fmt.Sprintf(`
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "sk-fake"
model = "fake-model"
context_window = 100000
[agents.main]
provider = "fake"
`, w.URL))
}

func realDir(t testing.TB, dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// Configure replaces config.toml.
func (w *World) Configure(text string) {
	w.T.Helper()
	if err := os.MkdirAll(w.Home, 0o700); err != nil {
		w.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Home, "config.toml"), []byte(text), 0o600); err != nil {
		w.T.Fatal(err)
	}
}

// Agent is a running `grapnel acp` and the test's end of its pipes.
type Agent struct {
	*Link
	*process
	in  io.WriteCloser
	out io.Closer
}

// Start runs `grapnel acp` with more arguments.
func (w *World) Start(args ...string) *Agent {
	w.T.Helper()
	p := w.command(append([]string{"acp"}, args...)...)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	a := &Agent{process: p, in: in, out: out}
	a.Link = newLink(w, func(line string) error { _, err := io.WriteString(in, line+"\n"); return err }, p.Stderr)
	drained := make(chan struct{})
	p.start(drained)
	go func() {
		defer close(drained)
		a.read(out)
	}()
	w.T.Cleanup(a.Kill)
	return a
}

// read collects the agent's lines.
func (a *Agent) read(out io.Reader) {
	defer a.end()
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			a.take(line)
		}
		if err != nil {
			return
		}
	}
}

// Write sends bytes as they are.
func (a *Agent) Write(s string) {
	a.t.Helper()
	if _, err := io.WriteString(a.in, s); err != nil {
		a.t.Fatalf("write to the agent: %v\n%s", err, a.stderr)
	}
}

// CloseOutput closes the reading end of the agent's stdout, as a client that
// died does.
func (a *Agent) CloseOutput() { _ = a.out.Close() }

// CloseInput ends the agent's stdin.
func (a *Agent) CloseInput() { _ = a.in.Close() }

// Kill ends the process at once and waits for it; a second call does nothing.
func (a *Agent) Kill() {
	_ = a.cmd.Process.Kill()
	_ = a.in.Close()
	<-a.exited
}

// Crash is Kill in the middle of whatever the agent does, such as writing a
// line.
func (a *Agent) Crash() {
	a.mu.Lock()
	a.torn = true
	a.mu.Unlock()
	a.Kill()
}

// Quit closes stdin and expects a clean exit.
func (a *Agent) Quit() {
	a.t.Helper()
	a.CloseInput()
	if code := a.WaitExit(); code != 0 {
		a.t.Fatalf("exit code %d after stdin was closed\n%s", code, a.stderr)
	}
}

// Package fieldtest drives the real grapnel binary over its real pipes, the way
// clients in the field do, against a fake model on the wire. Its tests are the
// reports of what went wrong for users of such programs, named by their ids.
package fieldtest

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
	"slices"
	"strings"
	"sync"
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
	w      *World
	t      testing.TB
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Closer
	stderr *syncBuffer
	exited chan struct{}

	mu    sync.Mutex
	more  *sync.Cond
	lines []Message // everything it wrote, in order
	torn  bool      // it may end in the middle of a line
	raw   []string
	ended bool // its output is closed
	next  int  // id of the next request
}

// Message is one JSON-RPC message of the agent's.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *RPCError       `json:"error"`
	RPC    string          `json:"jsonrpc"`
	Line   int             `json:"-"` // its place among all lines
}

// RPCError is a JSON-RPC error.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Start runs `grapnel acp` with more arguments.
func (w *World) Start(args ...string) *Agent {
	w.T.Helper()
	argv := append(slices.Clone(w.Wrap), os.Args[0], "--config-dir", w.Home, "acp")
	cmd := exec.Command(argv[0], append(argv[1:], args...)...)
	cmd.Env = append(os.Environ(), AsMain+"=1", "NO_PROXY=127.0.0.1")
	cmd.Env = append(cmd.Env, w.Env...)
	a := &Agent{w: w, t: w.T, cmd: cmd, stderr: &syncBuffer{}, exited: make(chan struct{}), next: 100}
	a.more = sync.NewCond(&a.mu)
	cmd.Stderr = a.stderr
	var err error
	if a.in, err = cmd.StdinPipe(); err != nil {
		w.T.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.T.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.T.Fatal(err)
	}
	a.out = out
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		a.read(out)
	}()
	go func() {
		<-reading
		_ = cmd.Wait()
		close(a.exited)
	}()
	w.T.Cleanup(a.Kill)
	return a
}

// read collects the agent's lines. Every one must be a JSON-RPC message.
func (a *Agent) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			a.take(line)
		}
		if err != nil {
			a.mu.Lock()
			a.ended = true
			a.more.Broadcast()
			a.mu.Unlock()
			return
		}
	}
}

func (a *Agent) take(line []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var m Message
	if a.torn && line[len(line)-1] != '\n' {
		return
	}
	if err := json.Unmarshal(line, &m); err != nil || m.RPC != "2.0" || line[len(line)-1] != '\n' || bytes.ContainsRune(line, '\r') {
		a.t.Errorf("stdout carried a line that is no JSON-RPC message: %.200q", line)
	}
	m.Line = len(a.lines)
	a.lines = append(a.lines, m)
	a.raw = append(a.raw, string(line))
	a.more.Broadcast()
}

// Write sends bytes as they are.
func (a *Agent) Write(s string) {
	a.t.Helper()
	if _, err := io.WriteString(a.in, s); err != nil {
		a.t.Fatalf("write to the agent: %v\n%s", err, a.stderr)
	}
}

// Send sends one line.
func (a *Agent) Send(line string) {
	a.t.Helper()
	a.Write(line + "\n")
}

// Await returns the first message, from line on, that match accepts.
func (a *Agent) Await(from int, what string, match func(Message) bool) Message {
	a.t.Helper()
	m, ok := a.await(from, match, patience)
	if !ok {
		a.t.Fatalf("the agent did not send %s; it sent:\n%s\nstderr:\n%s", what, a.Transcript(), a.stderr)
	}
	return m
}

func (a *Agent) await(from int, match func(Message) bool, bound time.Duration) (Message, bool) {
	until := time.Now().Add(bound) // before the timer's, or its one wake-up could come too early
	deadline := time.AfterFunc(bound, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.more.Broadcast()
	})
	defer deadline.Stop()
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		for ; from < len(a.lines); from++ {
			if match(a.lines[from]) {
				return a.lines[from], true
			}
		}
		if a.ended || !time.Now().Before(until) {
			return Message{}, false
		}
		a.more.Wait()
	}
}

// Next returns the message at a line, or waits up to bound for it; false when
// there is none by then or the agent has ended.
func (a *Agent) Next(line int, bound time.Duration) (Message, bool) {
	return a.await(line, func(Message) bool { return true }, bound)
}

// Response waits for the answer to the request with a literal id.
func (a *Agent) Response(id string) Message {
	a.t.Helper()
	return a.Await(0, "the response to "+id, func(m Message) bool {
		return m.Method == "" && string(m.ID) == id
	})
}

// Begin sends a request with a fresh id and returns the id.
func (a *Agent) Begin(method string, params any) string {
	a.t.Helper()
	a.next++
	id := fmt.Sprint(a.next)
	a.Send(Request(id, method, params))
	return id
}

// Call sends a request and waits for its answer.
func (a *Agent) Call(method string, params any) Message {
	a.t.Helper()
	return a.Response(a.Begin(method, params))
}

// Must is Call for requests that have to succeed; into may be nil.
func (a *Agent) Must(method string, params, into any) {
	a.t.Helper()
	m := a.Call(method, params)
	if m.Error != nil {
		a.t.Fatalf("%s failed: %d %s %s\nstderr:\n%s", method, m.Error.Code, m.Error.Message, m.Error.Data, a.stderr)
	}
	if into != nil {
		if err := json.Unmarshal(m.Result, into); err != nil {
			a.t.Fatal(err)
		}
	}
}

// Lines returns how many messages there are so far.
func (a *Agent) Lines() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.lines)
}

// Messages returns the messages so far.
func (a *Agent) Messages() []Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Message(nil), a.lines...)
}

// Transcript is everything the agent wrote, shortened per line.
func (a *Agent) Transcript() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var b strings.Builder
	for _, line := range a.raw {
		if len(line) > 400 {
			line = line[:400] + "…\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// Stderr is what the agent logged so far.
func (a *Agent) Stderr() string { return a.stderr.String() }

// Pid is the agent's process id.
func (a *Agent) Pid() int { return a.cmd.Process.Pid }

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

// WaitExit waits for the process to end and returns its code.
func (a *Agent) WaitExit() int {
	a.t.Helper()
	select {
	case <-a.exited:
	case <-time.After(patience):
		a.t.Fatalf("the agent did not exit\n%s", a.stderr)
	}
	return a.cmd.ProcessState.ExitCode()
}

// Quit closes stdin and expects a clean exit.
func (a *Agent) Quit() {
	a.t.Helper()
	a.CloseInput()
	if code := a.WaitExit(); code != 0 {
		a.t.Fatalf("exit code %d after stdin was closed\n%s", code, a.stderr)
	}
}

// Request encodes a request; id is a literal.
func Request(id, method string, params any) string {
	if params == nil {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s}`, id, quote(method))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, id, quote(method), encode(params))
}

// Notification encodes a notification.
func Notification(method string, params any) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%s,"params":%s}`, quote(method), encode(params))
}

func quote(s string) string { return encode(s) }

func encode(v any) string {
	if raw, ok := v.(json.RawMessage); ok {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // test data always encodes
	}
	return string(b)
}

// syncBuffer is a buffer that one goroutine writes while others read.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

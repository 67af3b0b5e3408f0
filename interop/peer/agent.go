// Package peer runs an agent as a child process and talks to it in raw lines
// of JSON-RPC, so that tests see exactly what is on the wire.
package peer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Time an agent may take to answer on a slow machine, and to end once its stdin
// is closed. A test that waits longer has failed.
const (
	patience = 30 * time.Second
	farewell = 8 * time.Second
)

// Handler answers a request of the agent.
type Handler func(params jsontext.Value) (result any, err *Error)

// Checker finds out whether a message of the agent fits the schema.
type Checker interface {
	// Check judges the params of a request or a notification, or the result of
	// a method; kind is "Request", "Notification" or "Response".
	Check(method, kind string, value jsontext.Value) error
}

// Options say how to run an agent.
type Options struct {
	Command []string
	Env     []string // whole, as os.Environ gives it; nil: ours
	Dir     string
	Checker Checker // nil: envelopes only
}

// Agent is a running agent. Its methods are safe for concurrent use; those that
// fail the test must be called by the goroutine that runs it.
type Agent struct {
	tb      testing.TB
	checker Checker
	cmd     *exec.Cmd
	stderr  bytes.Buffer // complete once the process has ended

	writing sync.Mutex
	stdin   io.WriteCloser

	mu       sync.Mutex
	changed  chan struct{} // closed when something below changes
	messages []Message
	faults   []error
	asked    map[string]string // methods of our requests, by id
	handlers map[string]Handler
	ended    bool // stdout is at its end
	lastID   int
	closed   bool
}

// Start runs an agent. What is left of it is killed when the test ends.
func Start(tb testing.TB, o Options) *Agent {
	tb.Helper()
	a := &Agent{
		tb: tb, checker: o.Checker, cmd: exec.Command(o.Command[0], o.Command[1:]...),
		changed: make(chan struct{}), asked: map[string]string{}, handlers: map[string]Handler{},
	}
	a.cmd.Env, a.cmd.Dir, a.cmd.Stderr = o.Env, o.Dir, &a.stderr
	a.cmd.WaitDelay = farewell // should a child it left behind keep stderr open
	stdin, err := a.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	stdout, err := a.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		tb.Fatalf("the agent does not start: %v", err)
	}
	a.stdin = stdin
	go a.read(stdout)
	tb.Cleanup(a.kill)
	return a
}

// Handle answers the agent's requests for a method; without a handler they get
// -32601.
func (a *Agent) Handle(method string, h Handler) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handlers[method] = h
}

// read takes the agent's lines until its stdout ends.
func (a *Agent) read(stdout io.Reader) {
	r := bufio.NewReaderSize(stdout, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			a.receive(line)
		}
		if err != nil {
			break
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.change()
}

func (a *Agent) receive(line []byte) {
	body, whole := bytes.CutSuffix(line, []byte("\n"))
	m, err := parse(body)
	if !whole {
		err = errors.Join(err, errors.New("the last line of the agent is not ended"))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	m.N = len(a.messages)
	a.messages = append(a.messages, m)
	if err == nil {
		err = a.judge(m)
	}
	if err != nil {
		a.faults = append(a.faults, errors.New(err.Error()+": "+string(body)))
	}
	if m.IsRequest() {
		go a.serve(m, a.handlers[m.Method])
	}
	a.change()
}

// judge asks the checker about a message.
func (a *Agent) judge(m Message) error {
	switch {
	case a.checker == nil, m.Err != nil:
		return nil
	case m.IsRequest():
		return a.checker.Check(m.Method, "Request", m.Params)
	case m.IsResponse():
		method, ok := a.asked[string(m.ID)]
		if !ok {
			return nil // a test that sends odd ids looks for itself
		}
		return a.checker.Check(method, "Response", m.Result)
	}
	return a.checker.Check(m.Method, "Notification", m.Params)
}

// change wakes everyone who waits; a.mu is held.
func (a *Agent) change() {
	close(a.changed)
	a.changed = make(chan struct{})
}

func (a *Agent) serve(m Message, h Handler) {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if h == nil {
		h = func(jsontext.Value) (any, *Error) {
			return nil, &Error{Code: -32601, Message: "there is no " + m.Method}
		}
	}
	if result, err := h(m.Params); err != nil {
		answer["error"] = err
	} else {
		answer["result"] = result
	}
	a.write(answer)
}

// write sends a value as a line. An agent that no longer reads shows by its
// exit.
func (a *Agent) write(v any) {
	line, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		a.tb.Errorf("marshal a message: %v", err)
		return
	}
	a.Send(string(line))
}

// Send writes a line as it is.
func (a *Agent) Send(line string) {
	a.writing.Lock()
	defer a.writing.Unlock()
	_, _ = io.WriteString(a.stdin, line+"\n")
}

// Notify sends a notification.
func (a *Agent) Notify(method string, params any) {
	a.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// Request sends a request and returns its id for Response.
func (a *Agent) Request(method string, params any) string {
	a.mu.Lock()
	a.lastID++
	id := strconv.Itoa(a.lastID)
	a.asked[id] = method
	a.mu.Unlock()
	a.write(map[string]any{"jsonrpc": "2.0", "id": jsontext.Value(id), "method": method, "params": params})
	return id
}

// Response waits for the response to a request.
func (a *Agent) Response(id string) Message {
	a.tb.Helper()
	return a.Wait("a response to "+id, func(m *Message) bool { return m.IsResponse() && string(m.ID) == id })
}

// Call sends a request and waits for its response.
func (a *Agent) Call(method string, params any) Message {
	a.tb.Helper()
	return a.Response(a.Request(method, params))
}

// Must is Call for requests that may not fail; it reads the result into v,
// unless that is nil, and returns the response.
func (a *Agent) Must(method string, params, v any) Message {
	a.tb.Helper()
	m := a.Call(method, params)
	if err := m.Failure(); err != nil {
		a.tb.Fatalf("%s fails: %v (%s)", method, err, m.Err)
	}
	if v != nil {
		if err := json.Unmarshal(m.Result, v); err != nil {
			a.tb.Fatalf("the result of %s: %v", method, err)
		}
	}
	return m
}

// Wait returns the first message that satisfies wanted, now or later.
func (a *Agent) Wait(what string, wanted func(*Message) bool) Message {
	a.tb.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for seen := 0; ; {
		a.mu.Lock()
		fresh, ended, changed := a.messages[seen:], a.ended, a.changed
		a.mu.Unlock()
		for i := range fresh {
			if wanted(&fresh[i]) {
				return fresh[i]
			}
		}
		seen += len(fresh)
		if ended {
			a.fatal("the agent ended before " + what)
		}
		select {
		case <-changed:
		case <-late.C:
			a.fatal("there is no " + what)
		}
	}
}

func (a *Agent) fatal(what string) {
	a.tb.Helper()
	a.kill()
	for _, m := range a.Messages() {
		a.tb.Logf("%.2000s", m.Line)
	}
	a.tb.Fatalf("%s; stderr: %s", what, a.stderr.String())
}

// Messages returns everything the agent has said so far.
func (a *Agent) Messages() []Message {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Message(nil), a.messages...)
}

// Close ends the agent by closing its stdin, waits for its exit and returns
// everything it said. The test fails if the agent takes too long, exits with an
// error or broke a rule of the wire at any time.
func (a *Agent) Close() []Message {
	a.tb.Helper()
	a.writing.Lock()
	_ = a.stdin.Close()
	a.writing.Unlock()
	timer := time.AfterFunc(farewell, func() {
		a.tb.Error("the agent does not end when its stdin is closed")
		_ = a.cmd.Process.Kill()
	})
	defer timer.Stop()
	a.drain()
	if err := a.cmd.Wait(); err != nil {
		a.tb.Errorf("the agent ended with %v; stderr: %s", err, a.stderr.String())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, fault := range a.faults {
		a.tb.Error(fault)
	}
	return append([]Message(nil), a.messages...)
}

// drain waits until stdout is at its end.
func (a *Agent) drain() {
	for {
		a.mu.Lock()
		ended, changed := a.ended, a.changed
		a.mu.Unlock()
		if ended {
			return
		}
		<-changed
	}
}

// Stderr is what the agent wrote to stderr; complete after Close.
func (a *Agent) Stderr() string { return a.stderr.String() }

func (a *Agent) kill() {
	a.mu.Lock()
	closed := a.closed
	a.closed = true
	a.mu.Unlock()
	if closed {
		return
	}
	_ = a.cmd.Process.Kill()
	a.drain()
	_ = a.cmd.Wait()
}

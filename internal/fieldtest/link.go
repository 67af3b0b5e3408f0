package fieldtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// Link is the test's end of a connection to Grapnel, whatever it runs over:
// what came in, and how to say something.
type Link struct {
	w    *World
	t    testing.TB
	send func(line string) error
	log  func() string // what the other end has to say for itself when a test fails

	mu    sync.Mutex
	more  *sync.Cond
	lines []Message // everything it wrote, in order
	torn  bool      // it may end in the middle of a line
	raw   []string
	ended bool // nothing more comes
	next  int  // id of the next request
}

// newLink makes a link; send passes one message on.
func newLink(w *World, send func(line string) error, log func() string) *Link {
	l := &Link{w: w, t: w.T, send: send, log: log, next: 100}
	l.more = sync.NewCond(&l.mu)
	return l
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

// take keeps a line, which must be a JSON-RPC message.
func (l *Link) take(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var m Message
	if l.torn && line[len(line)-1] != '\n' {
		return
	}
	if err := json.Unmarshal(line, &m); err != nil || m.RPC != "2.0" || line[len(line)-1] != '\n' || bytes.ContainsRune(line, '\r') {
		l.t.Errorf("stdout carried a line that is no JSON-RPC message: %.200q", line)
	}
	m.Line = len(l.lines)
	l.lines = append(l.lines, m)
	l.raw = append(l.raw, string(line))
	l.more.Broadcast()
}

// end says that nothing more comes.
func (l *Link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	l.more.Broadcast()
}

// TrySend sends one message over a connection that may be gone.
func (l *Link) TrySend(line string) error { return l.send(line) }

// Over reports whether nothing more comes.
func (l *Link) Over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// Send sends one message.
func (l *Link) Send(line string) {
	l.t.Helper()
	if err := l.send(line); err != nil {
		l.t.Fatalf("write to the agent: %v\n%s", err, l.log())
	}
}

// Await returns the first message, from line on, that match accepts.
func (l *Link) Await(from int, what string, match func(Message) bool) Message {
	l.t.Helper()
	m, ok := l.await(from, match, patience)
	if !ok {
		l.t.Fatalf("the agent did not send %s; it sent:\n%s\nstderr:\n%s", what, l.Transcript(), l.log())
	}
	return m
}

func (l *Link) await(from int, match func(Message) bool, bound time.Duration) (Message, bool) {
	until := time.Now().Add(bound) // before the timer's, or its one wake-up could come too early
	deadline := time.AfterFunc(bound, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.more.Broadcast()
	})
	defer deadline.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		for ; from < len(l.lines); from++ {
			if match(l.lines[from]) {
				return l.lines[from], true
			}
		}
		if l.ended || !time.Now().Before(until) {
			return Message{}, false
		}
		l.more.Wait()
	}
}

// Next returns the message at a line, or waits up to bound for it; false when
// there is none by then or the agent has ended.
func (l *Link) Next(line int, bound time.Duration) (Message, bool) {
	return l.await(line, func(Message) bool { return true }, bound)
}

// Response waits for the answer to the request with a literal id.
func (l *Link) Response(id string) Message {
	l.t.Helper()
	return l.Await(0, "the response to "+id, func(m Message) bool {
		return m.Method == "" && string(m.ID) == id
	})
}

// Begin sends a request with a fresh id and returns the id.
func (l *Link) Begin(method string, params any) string {
	l.t.Helper()
	l.next++
	id := fmt.Sprint(l.next)
	l.Send(Request(id, method, params))
	return id
}

// Call sends a request and waits for its answer.
func (l *Link) Call(method string, params any) Message {
	l.t.Helper()
	return l.Response(l.Begin(method, params))
}

// Must is Call for requests that have to succeed; into may be nil.
func (l *Link) Must(method string, params, into any) {
	l.t.Helper()
	m := l.Call(method, params)
	if m.Error != nil {
		l.t.Fatalf("%s failed: %d %s %s\nstderr:\n%s", method, m.Error.Code, m.Error.Message, m.Error.Data, l.log())
	}
	if into != nil {
		if err := json.Unmarshal(m.Result, into); err != nil {
			l.t.Fatal(err)
		}
	}
}

// Lines returns how many messages there are so far.
func (l *Link) Lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// Messages returns the messages so far.
func (l *Link) Messages() []Message {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Message(nil), l.lines...)
}

// Forget drops what the messages before a line held, for tests that hear more
// than memory does.
func (l *Link) Forget(line int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.lines[:line])
	clear(l.raw[:line])
}

// Raw is the message at a line as it came.
func (l *Link) Raw(line int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.raw[line]
}

// Transcript is everything the agent wrote, shortened per line.
func (l *Link) Transcript() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, line := range l.raw {
		if len(line) > 400 {
			line = line[:400] + "…\n"
		}
		b.WriteString(line)
	}
	return b.String()
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

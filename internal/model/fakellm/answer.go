package fakellm

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// protocol writes an answer in the form of one API.
type protocol interface {
	begin(a *answer)
	text(a *answer, s string)
	think(a *answer, s string)
	call(a *answer, c call)
	end(a *answer, stop string) // stop: end, tools, length, refusal
	whole(a *answer, stop string) any
}

// answer is an answer in the making.
type answer struct {
	w       http.ResponseWriter
	r       *http.Request
	req     *body
	p       protocol
	id      string
	reuse   bool // tool calls have the same id every time
	begun   bool
	stop    string
	perByte bool // write byte by byte
	said    strings.Builder
	thought strings.Builder
	calls   []call
}

// Stand-ins for the UTF-16 halves of an emoji, which no Go string can hold;
// event writes them as the escapes that JavaScript servers send.
const (
	highHalf = "\ue000"
	lowHalf  = "\ue001"
)

var halves = strings.NewReplacer(highHalf, `\ud83c`, lowHalf, `\udf89`)

func (s *Server) answer(w http.ResponseWriter, r *http.Request, b *body, p protocol) {
	last, steps := b.prompt()
	prompt := last.directions()
	script := parseScript(prompt)
	a := &answer{w: w, r: r, req: b, p: p, id: "fake" + strconv.Itoa(s.next()), stop: "end"}
	a.reuse = strings.Contains(prompt, "D:REUSEID")
	for _, act := range script.step(steps) {
		if !s.perform(a, act, prompt) {
			return
		}
	}
	a.finish()
}

// next counts, for ids.
func (s *Server) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return s.calls
}

// perform does one action and reports whether the answer goes on.
func (s *Server) perform(a *answer, act action, prompt string) bool {
	switch act.verb {
	case "HTTP":
		return !s.refuse(a.w, act.arg, prompt)
	case "SAY":
		a.say(act.arg)
	case "THINK":
		a.think(act.arg)
	case "CHUNKS":
		n := numbers(act.arg, 3)
		return a.chunks(n[0], n[1], time.Duration(n[2])*time.Millisecond)
	case "SLOW":
		return a.chunks(numbers(act.arg, 1)[0], len("slow "), 100*time.Millisecond)
	case "SPLITEMOJI":
		a.split(act.arg)
	case "SPLITPAIR":
		a.text(highHalf)
		a.text(lowHalf)
	case "TOOL", "ALSO":
		name, input := a.req.toolCall(act.arg)
		a.tool(s, name, input)
	case "PAR":
		count, command, _ := strings.Cut(act.arg, " ")
		for range numbers(count, 1)[0] {
			name, input := a.req.toolCall("shell " + command)
			a.tool(s, name, input)
		}
	case "LOOP":
		name, input := a.req.toolCall("shell true")
		a.tool(s, name, input)
	case "BADJSON":
		name, input := a.req.toolCall("shell echo broken")
		a.tool(s, name, input[:len(input)-2])
	default:
		return a.odd(act)
	}
	return true
}

// odd does the actions that end an answer badly.
func (a *answer) odd(act action) bool {
	switch act.verb {
	case "STALL":
		<-a.r.Context().Done()
		return false
	case "TRUNCATE":
		a.begin()
		if a.said.Len() == 0 {
			a.text("This answer ")
		}
		if act.arg == "clean" {
			return false
		}
		panic(http.ErrAbortHandler) // breaks the connection
	case "EMPTY":
		a.begin()
	case "REFUSE":
		a.say("I cannot help with that.")
		a.stop = "refusal"
	case "MAXTOKENS":
		a.say("This is cut")
		a.stop = "length"
	}
	return true
}

// refuse fails the request as "D:HTTP status times retry-after" says, and
// reports whether it did.
func (s *Server) refuse(w http.ResponseWriter, arg, prompt string) bool {
	n := numbers(arg, 3)
	status, times, wait := n[0], n[1], n[2]
	s.mu.Lock()
	if s.failures == nil {
		s.failures = make(map[string]int)
	}
	s.failures[prompt]++
	failed := s.failures[prompt]
	s.mu.Unlock()
	if times > 0 && failed > times {
		return false
	}
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
	}
	fail(w, status, fmt.Sprintf("scripted failure %d", status))
	return true
}

func (a *answer) begin() {
	if a.begun {
		return
	}
	a.begun = true
	if a.req.Stream {
		h := a.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache")
		h.Set("Request-Id", "req_"+a.id)
		a.p.begin(a)
	}
}

// say tells a text in pieces of a few characters, as models do.
func (a *answer) say(s string) {
	const size = 12
	runes := []rune(s)
	for len(runes) > size {
		a.text(string(runes[:size]))
		runes = runes[size:]
	}
	a.text(string(runes))
}

func (a *answer) text(s string) {
	a.begin()
	a.said.WriteString(s)
	if a.req.Stream {
		a.p.text(a, s)
	}
}

func (a *answer) think(s string) {
	a.begin()
	a.thought.WriteString(s)
	if a.req.Stream {
		a.p.think(a, s)
	}
}

func (a *answer) tool(s *Server, name, input string) {
	if !a.req.mayCall() {
		a.say("I may not use tools now.")
		return
	}
	id := "call_" + strconv.Itoa(s.next())
	if a.reuse {
		id = "call_reused"
	}
	a.begin()
	c := call{id: id, name: name, input: input}
	a.calls = append(a.calls, c)
	a.stop = "tools"
	if a.req.Stream {
		a.p.call(a, c)
	}
}

// chunks says n numbered pieces of size bytes, each after a pause.
func (a *answer) chunks(n, size int, pause time.Duration) bool {
	for i := range n {
		if i > 0 && pause > 0 {
			select {
			case <-time.After(pause):
			case <-a.r.Context().Done():
				return false
			}
		}
		a.text(fmt.Sprintf("%0*d ", max(1, size-1), i+1))
	}
	return a.r.Context().Err() == nil
}

func (a *answer) split(s string) {
	if s == "" {
		s = "漢字🎉é"
	}
	a.perByte = true
	a.text(s)
	a.perByte = false
}

func (a *answer) finish() {
	a.begin()
	if a.req.Stream {
		a.p.end(a, a.stop)
		return
	}
	a.w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(a.w, a.p.whole(a, a.stop), json.Deterministic(true))
}

// event writes one server-sent event.
func (a *answer) event(name string, data any) {
	out, ok := data.(string)
	if !ok {
		b, err := json.Marshal(data, json.Deterministic(true))
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		out = halves.Replace(string(b))
	}
	msg := "data: " + out + "\n\n"
	if name != "" {
		msg = "event: " + name + "\n" + msg
	}
	if !a.perByte {
		_, _ = a.w.Write([]byte(msg))
		a.flush()
		return
	}
	for i := range len(msg) {
		_, _ = a.w.Write([]byte{msg[i]})
		a.flush()
	}
}

func (a *answer) flush() {
	_ = http.NewResponseController(a.w).Flush()
}

// tokens are the counts an answer reports: a quarter of the bytes, of all that
// was sent and of all that is said.
func (a *answer) tokens() (in, out int) {
	out = a.said.Len() + a.thought.Len()
	for _, c := range a.calls {
		out += len(c.input)
	}
	return a.req.size/4 + 1, out/4 + 1
}

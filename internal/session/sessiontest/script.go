// Package sessiontest holds what tests of sessions share: a scripted driver,
// clients that write down what they see, and the contracts that every driver
// and every ledger must pass under a hub.
package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Script is a driver that does what the prompt says, a command a line:
//
//	say TEXT           one message chunk
//	chunks N           N numbered chunks
//	think TEXT         one thought chunk
//	warn TEXT          a notice
//	tool ID            a tool call from start to end
//	open ID            a tool call that is left open
//	done ID            its completion
//	work ID            a tool call that fails when the turn is cancelled
//	frames ID N BYTES  N updates that each carry all output so far
//	ask                a permission; says how it was answered
//	askfor ID          a tool call that asks first
//	leave              a permission nobody waits for any more when the turn ends
//	elicit             an elicitation; says how it was answered
//	private TEXT       an event of the driver's own
//	recall             says the driver's own events of the past
//	title TEXT         renames the session
//	where              says the cwd and what was configured
//	wait NAME          until Go(NAME), or the turn is cancelled
//	deaf NAME          until Go(NAME), whatever happens
//	stop REASON        ends the turn with a stop reason
//	fail TEXT          fails the turn
//	die | panic        ends the driver
//
// Prompts that are commands (session.Commander) begin with a slash:
//
//	/echo TEXT         answers beside the turn that runs
//	/halt              the same, and stops that turn and the queue
//	/broken | /panic   fails beside it
//	/turn TEXT         takes a turn of its own, which says the line
type Script struct {
	// OpenErr, if set, decides what Open answers.
	OpenErr func(session.OpenRequest) error
	// SteerErr is what Steer answers; what it takes is said.
	SteerErr error

	mu     sync.Mutex
	gates  map[string]chan struct{}
	opened []*ScriptHandle
	seen   []string // prompts that reached the driver, as text
}

var _ session.Driver = (*Script)(nil)

// Go lets everybody pass who waits for a name, now or later.
func (d *Script) Go(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-d.gate(name):
	default:
		close(d.gate(name))
	}
}

func (d *Script) gate(name string) chan struct{} {
	if d.gates == nil {
		d.gates = make(map[string]chan struct{})
	}
	if d.gates[name] == nil {
		d.gates[name] = make(chan struct{})
	}
	return d.gates[name]
}

func (d *Script) waitFor(name string) <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gate(name)
}

// Seen lists the prompts that reached the driver.
func (d *Script) Seen() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.seen...)
}

// UntilSeen waits until n prompts have reached the driver.
func (d *Script) UntilSeen(n int) {
	for i := range n {
		<-d.waitFor(seenGate(i))
	}
}

func seenGate(i int) string { return fmt.Sprintf("prompt %d was seen", i) }

// Opened lists the handles, oldest first.
func (d *Script) Opened() []*ScriptHandle {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*ScriptHandle(nil), d.opened...)
}

// Open implements session.Driver.
func (d *Script) Open(ctx context.Context, req session.OpenRequest) (session.Handle, error) {
	if d.OpenErr != nil {
		if err := d.OpenErr(req); err != nil {
			return nil, err
		}
	}
	h := &ScriptHandle{driver: d, Req: req, config: maps.Clone(req.Config), ended: make(chan struct{}), closed: make(chan struct{})}
	if h.config == nil {
		h.config = map[string]string{"mode": "ask"}
	}
	if req.Restored && req.History != nil {
		err := req.History(ctx, func(e session.Event) error {
			h.past = append(h.past, string(e.Body))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = append(d.opened, h)
	return h, nil
}

// ScriptHandle is one opened Script.
type ScriptHandle struct {
	Req    session.OpenRequest
	driver *Script
	past   []string

	mu     sync.Mutex
	config map[string]string
	ended  chan struct{}
	closed chan struct{}
	once   sync.Once
}

var _ session.Mortal = (*ScriptHandle)(nil)

// Kill ends the agent as a crash would.
func (h *ScriptHandle) Kill() { h.once.Do(func() { close(h.ended) }) }

// Done implements session.Mortal.
func (h *ScriptHandle) Done() <-chan struct{} { return h.ended }

// Err implements session.Mortal.
func (h *ScriptHandle) Err() error { return fmt.Errorf("%w: exit 3", session.ErrDriverDied) }

// Closed is closed with the handle.
func (h *ScriptHandle) Closed() <-chan struct{} { return h.closed }

// Setup implements session.Handle.
func (h *ScriptHandle) Setup() session.Setup {
	h.mu.Lock()
	defer h.mu.Unlock()
	return session.Setup{ConfigOptions: h.options()}
}

func (h *ScriptHandle) options() jsontext.Value {
	raw, _ := json.Marshal([]map[string]string{
		{"id": "mode", "category": "mode", "currentValue": h.config["mode"]},
		{"id": "model", "category": "model", "currentValue": h.config["model"]},
	})
	return raw
}

// Set implements session.Handle.
func (h *ScriptHandle) Set(ctx context.Context, _, option, value string) (session.Setup, error) {
	if option != "mode" && option != "model" {
		return session.Setup{}, session.Invalidf("unknown option %q", option)
	}
	h.mu.Lock()
	h.config[option] = value
	options := h.options()
	h.mu.Unlock()
	err := h.emit(ctx, `{"sessionUpdate":"config_option_update","configOptions":`+string(options)+`}`)
	return h.Setup(), err
}

// Steer implements session.Handle.
func (h *ScriptHandle) Steer(ctx context.Context, add session.Turn) error {
	if h.driver.SteerErr != nil {
		return h.driver.SteerErr
	}
	return h.say(ctx, "steered: "+Text(add.Content))
}

// Close implements session.Handle.
func (h *ScriptHandle) Close(context.Context) error {
	close(h.closed)
	return nil
}

// Prompt implements session.Handle.
func (h *ScriptHandle) Prompt(ctx context.Context, t session.Turn) (session.TurnEnd, error) {
	text := Text(t.Content)
	h.driver.mu.Lock()
	n := len(h.driver.seen)
	h.driver.seen = append(h.driver.seen, text)
	h.driver.mu.Unlock()
	h.driver.Go(seenGate(n))
	for line := range strings.Lines(text) {
		if ctx.Err() != nil {
			break // an answer may have come at the same time
		}
		end, err := h.run(ctx, strings.TrimSpace(line))
		switch {
		case errors.Is(err, context.Canceled):
			return session.TurnEnd{Stop: session.Cancelled}, nil
		case err != nil || end.Stop != "":
			return end, err
		}
	}
	if ctx.Err() != nil {
		return session.TurnEnd{Stop: session.Cancelled}, nil
	}
	return session.TurnEnd{Stop: session.EndTurn}, nil
}

func (h *ScriptHandle) run(ctx context.Context, line string) (session.TurnEnd, error) {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "say":
		return session.TurnEnd{}, h.say(ctx, rest)
	case "chunks":
		return session.TurnEnd{}, h.chunks(ctx, rest)
	case "think":
		return session.TurnEnd{}, h.emit(ctx, chunk("agent_thought_chunk", rest))
	case "warn":
		return session.TurnEnd{}, h.emit(ctx, fmt.Sprintf(`{"sessionUpdate":"notice","severity":"warning","title":%q}`, rest))
	case "leave":
		return session.TurnEnd{}, h.leave()
	case "askfor":
		return session.TurnEnd{}, h.askFor(ctx, rest)
	case "work":
		return session.TurnEnd{}, h.work(ctx, rest)
	case "tool", "open", "done", "frames":
		return session.TurnEnd{}, h.tool(ctx, verb, rest)
	case "ask", "elicit":
		return session.TurnEnd{}, h.ask(ctx, verb)
	case "private":
		raw, _ := json.Marshal(rest)
		return session.TurnEnd{}, h.Req.Sink.Emit(ctx, session.Draft{Kind: session.KindDriverPrivate, Retention: session.Private, Body: raw})
	case "recall":
		return session.TurnEnd{}, h.say(ctx, "past: "+strings.Join(h.past, " "))
	case "title":
		return session.TurnEnd{}, h.title(ctx, rest)
	case "where":
		h.mu.Lock()
		mode := h.config["mode"]
		h.mu.Unlock()
		return session.TurnEnd{}, h.say(ctx, h.Req.Info.Cwd+" "+mode)
	case "wait":
		return session.TurnEnd{}, h.wait(ctx, rest)
	case "deaf":
		<-h.driver.waitFor(rest)
		return session.TurnEnd{}, nil
	case "stop":
		return session.TurnEnd{Stop: session.StopReason(rest)}, nil
	case "fail":
		return session.TurnEnd{}, errors.New(rest)
	case "die":
		h.Kill()
		return session.TurnEnd{}, h.Err()
	case "panic":
		panic("script")
	}
	return session.TurnEnd{}, h.say(ctx, line)
}

func (h *ScriptHandle) wait(ctx context.Context, name string) error {
	select {
	case <-h.driver.waitFor(name):
		return nil
	case <-h.ended:
		return h.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave asks and does not wait for the answer.
func (h *ScriptHandle) leave() error {
	go func() { _ = h.ask(context.Background(), "ask") }()
	<-h.driver.waitFor("left")
	return nil
}

// askFor is a tool that asks before it runs.
func (h *ScriptHandle) askFor(ctx context.Context, id string) error {
	if err := h.tool(ctx, "open", id); err != nil {
		return err
	}
	err := h.ask(ctx, "ask")
	return errors.Join(err, h.tool(context.WithoutCancel(ctx), "done", id))
}

// work is a tool that notices when it is to stop.
func (h *ScriptHandle) work(ctx context.Context, id string) error {
	if err := h.tool(ctx, "open", id); err != nil {
		return err
	}
	<-ctx.Done()
	failed := fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"failed"}`, id)
	return errors.Join(ctx.Err(), h.emit(context.WithoutCancel(ctx), failed))
}

func (h *ScriptHandle) emit(ctx context.Context, updates ...string) error {
	drafts := make([]session.Draft, len(updates))
	for i, u := range updates {
		drafts[i] = session.Draft{Version: 1, Body: Params(h.Req.Info.ID, u)}
	}
	return h.Req.Sink.Emit(ctx, drafts...)
}

func (h *ScriptHandle) say(ctx context.Context, text string) error {
	return h.emit(ctx, chunk("agent_message_chunk", text))
}

func (h *ScriptHandle) chunks(ctx context.Context, count string) error {
	n, _ := strconv.Atoi(count)
	for i := range n {
		if err := h.say(ctx, strconv.Itoa(i)+" "); err != nil {
			return err
		}
	}
	return nil
}

func (h *ScriptHandle) title(ctx context.Context, title string) error {
	return h.Req.Sink.Change(ctx, session.InfoChange{Title: &title})
}

func (h *ScriptHandle) tool(ctx context.Context, verb, rest string) error {
	args := strings.Fields(rest)
	id := args[0]
	start := fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q,"title":"run","kind":"execute","status":"pending"}`, id)
	done := fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"completed","rawOutput":{}}`, id)
	switch verb {
	case "tool":
		return h.emit(ctx, start, done)
	case "open":
		return h.emit(ctx, start)
	case "done":
		return h.emit(ctx, done)
	}
	n, _ := strconv.Atoi(args[1])
	size, _ := strconv.Atoi(args[2])
	for i := range n {
		text := strings.Repeat("x", size*(i+1)/n)
		u := fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":"in_progress","content":[{"type":"content","content":{"type":"text","text":"%d %s"}}]}`, id, i, text)
		if err := h.emit(ctx, u); err != nil {
			return err
		}
	}
	return nil
}

func (h *ScriptHandle) ask(ctx context.Context, verb string) error {
	kind, body := session.KindPermission, `{"sessionId":"s","toolCall":{"toolCallId":"a"},"options":[`+
		`{"optionId":"yes","name":"Allow","kind":"allow_once"},{"optionId":"no","name":"Reject","kind":"reject_once"}]}`
	if verb == "elicit" {
		kind, body = session.KindElicitation, `{"sessionId":"s","message":"name?","mode":"form","requestedSchema":{}}`
	}
	v, err := h.Req.Sink.Ask(ctx, kind, jsontext.Value(body))
	if err != nil {
		return err
	}
	return h.say(ctx, fmt.Sprintf("%s %s%s %s", verb, v.Outcome, v.Option, v.Reason))
}

// Params makes the params of a session/update.
func Params(id, update string) jsontext.Value {
	return jsontext.Value(fmt.Sprintf(`{"sessionId":%q,"update":%s}`, id, update))
}

func chunk(kind, text string) string {
	raw, _ := json.Marshal(text)
	return fmt.Sprintf(`{"sessionUpdate":%q,"messageId":"m","content":{"type":"text","text":%s}}`, kind, raw)
}

// Blocks makes prompt content of text.
func Blocks(text string) []jsontext.Value {
	raw, _ := json.Marshal(map[string]string{"type": "text", "text": text}, json.Deterministic(true))
	return []jsontext.Value{raw}
}

// Text joins the text blocks of a prompt.
func Text(content []jsontext.Value) string {
	var out []string
	for _, raw := range content {
		var b struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(raw, &b)
		out = append(out, b.Text)
	}
	return strings.Join(out, "\n")
}

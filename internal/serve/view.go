package serve

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// view is one session as this connection sees it. Its pump writes what the
// attachment's cursor meets, responses included, in one order.
type view struct {
	id    string
	conn  *conn
	relay *relay               // nil when the session is run here
	pump  atomic.Pointer[pump] // nil when it is relayed; a new one with each load or resume

	// mu is held while a prompt is handed to the hub, so that the pump cannot
	// meet the turn's end before its request is known.
	mu      sync.Mutex
	met     session.Seq                 // the last turn end that the pump came by
	over    bool                        // the attachment has ended: nothing is pending any more
	pending map[string][]*pendingPrompt // by turn; several where a prompt steered
	offers  map[string]*offer           // requests to the client, by event id
}

// pendingPrompt is a session/prompt waiting for its turn's end.
type pendingPrompt struct {
	req    *acp.Request
	repeat bool   // of a prompt that came before: some was said before this one
	text   []byte // what the agent said in the turn, from then on
}

// open makes a view of an attachment, or gives the attachment to the view there
// is, whose prompts and requests stay open. It must be started.
func (c *conn) open(p *pump) *view {
	id := p.att.Info().ID
	p.prepare(c.context())
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.sessions[id]
	if v == nil || v.relay != nil {
		v = &view{
			id: id, conn: c,
			pending: make(map[string][]*pendingPrompt), offers: make(map[string]*offer),
		}
		c.sessions[id] = v
	}
	v.pump.Store(p)
	return v
}

// start runs the view's pump.
func (v *view) start() { go v.run(v.pump.Load()) }

// att is the view's attachment; the session is run here.
func (v *view) att() session.Attachment { return v.pump.Load().att }

func (c *conn) view(id string) (*view, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.sessions[id]
	return v, ok
}

// local is the view of a session that is run here.
func (c *conn) local(id string) (*view, bool) {
	v, ok := c.view(id)
	return v, ok && v.relay == nil
}

func (c *conn) views() []*view {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.sessions))
}

// forget drops a view, unless another took its place.
func (c *conn) forget(v *view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions[v.id] == v {
		delete(c.sessions, v.id)
	}
}

// end forgets the session, whose attachment ended with err, and answers what
// still waits for it.
func (v *view) end(err error) {
	v.conn.forget(v)
	v.att().Detach()
	v.withdraw(func(string, *offer) bool { return true })
	v.mu.Lock()
	defer v.mu.Unlock()
	v.over = true
	for _, waiting := range v.pending {
		for _, p := range waiting {
			v.conn.fail(p.req, newError(acp.CodeInternalError,
				"session "+v.id+" ended before this prompt was answered: load it again", errorData{v.id, "interrupted"}))
		}
	}
	clear(v.pending)
	if !errors.Is(err, io.EOF) {
		v.conn.server.opts.Logger.Warn("attachment ended", "session", v.id, "err", err)
	}
}

// prompt hands a prompt to the hub and registers its request under the turn.
func (v *view) prompt(ctx context.Context, req *acp.Request, p session.PromptRequest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	prompted, err := session.Prompted{}, session.ErrNotActive
	if !v.over {
		prompted, err = v.att().Prompt(v.conn.context(), p)
	}
	if err != nil {
		v.conn.fail(req, v.conn.wireError(err, v.id))
		return
	}
	pending := &pendingPrompt{req: req, repeat: prompted.Repeat}
	if prompted.Ended != nil && !v.endAhead(prompted.Turn) {
		v.answer(pending, *prompted.Ended)
		return
	}
	v.pending[prompted.Turn] = append(v.pending[prompted.Turn], pending)
	context.AfterFunc(ctx, func() {
		if cancelledByPeer(ctx) {
			v.cancelTurn(prompted.Turn)
		}
	})
}

// endAhead reports whether the pump has yet to meet the end of a turn that is
// over: the answer then follows the updates that precede it. mu is held.
func (v *view) endAhead(turn string) bool {
	ahead := false
	err := v.conn.hub().Read(v.conn.context(), v.id, max(v.met, v.att().Start()), func(e session.Event) error {
		ahead = ahead || e.Kind == session.KindTurnEnd && e.Turn == turn
		return nil
	})
	return err == nil && ahead
}

// cancelledByPeer tells a client's $/cancel_request from the loss of its
// connection, which cancels no turn.
func cancelledByPeer(ctx context.Context) bool {
	var e *acp.Error
	return errors.As(context.Cause(ctx), &e) && e.Code == acp.CodeRequestCancelled
}

// cancelTurn follows a $/cancel_request for a prompt: that prompt alone is
// cancelled, running or queued.
func (v *view) cancelTurn(turn string) {
	v.mu.Lock()
	_, waiting := v.pending[turn]
	v.mu.Unlock()
	if !waiting {
		return
	}
	if err := v.att().CancelTurn(v.conn.context(), turn); err != nil {
		v.conn.server.opts.Logger.Warn("cancel failed", "session", v.id, "err", err)
	}
}

// cancelOwn cancels the turns this connection waits for.
func (v *view) cancelOwn(ctx context.Context) {
	if v.relay != nil {
		v.relay.cancelOwn()
		return
	}
	v.mu.Lock()
	waits := len(v.pending) > 0
	v.mu.Unlock()
	if waits {
		_ = v.att().Cancel(ctx) // nothing more can be done about a failure
	}
}

// begin sends what a client needs besides the response: reports, what the session
// is, commands, what was used, and the requests still open.
func (v *view) begin(p *pump) {
	att := p.att
	for _, r := range p.reports {
		v.report(r)
	}
	if setup := att.Setup(); !v.conn.dialect.Load() {
		_ = v.conn.peer.Notify(v.conn.context(), "session/update", v.infoParams(nil)) // fails only with the connection
		if setup.Commands != nil {
			v.notify(commandsUpdate{string(session.KindCommands), setup.Commands})
		}
		if setup.Usage != nil {
			v.notify(setup.Usage)
		}
	}
	for _, r := range att.Open() {
		v.offer(r)
	}
}

// notify sends an update that is in no ledger.
func (v *view) notify(update any) {
	body, err := json.Marshal(struct {
		SessionID string `json:"sessionId"`
		Update    any    `json:"update"`
	}{v.id, update})
	if err == nil {
		_ = v.conn.peer.Notify(v.conn.context(), "session/update", raw(body)) // fails only with the connection
	}
}

// commandsUpdate is ACP AvailableCommandsUpdate (v1).
type commandsUpdate struct {
	Kind     string `json:"sessionUpdate"`
	Commands raw    `json:"availableCommands"`
}

// deliver shows one event as this client is to see it; updates wait in out until
// it is written. Replayed ones were collected when they happened.
func (v *view) deliver(out *frames, e *session.Event, replayed bool) error {
	switch e.Kind {
	case session.KindTurnEnd, session.KindPermission, session.KindElicitation, session.KindVerdict:
		if err := out.write(v.conn); err != nil {
			return err
		}
		return v.act(e)
	}
	if !replayed {
		v.collect(e)
	}
	out.add(v, e, replayed)
	if out.full() {
		return out.write(v.conn)
	}
	return nil
}

// act does what an event that is no update asks for.
func (v *view) act(e *session.Event) error {
	switch e.Kind {
	case session.KindTurnEnd:
		return v.turnEnded(e)
	case session.KindVerdict:
		v.settled(e)
	default:
		v.offer(session.Request{ID: e.ID, Kind: e.Kind, Turn: e.Turn, Body: e.Body})
	}
	return nil
}

// collect keeps what is shown as the agent's words for the prompt's own result:
// some clients compare the two.
func (v *view) collect(e *session.Event) {
	words := v.words(e.Kind)
	if words == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	waiting := v.pending[e.Turn]
	if len(waiting) == 0 {
		return
	}
	for _, p := range waiting {
		p.text = words(p.text, e.Body)
	}
}

// words returns what appends what events of a kind say to this client, nil when
// they say nothing.
func (v *view) words(kind session.Kind) func(dst []byte, body raw) []byte {
	switch {
	case kind == session.KindAgentMessage:
		return appendChunkText
	case kind == session.KindNotice && (v.conn.dialect.Load() || !v.conn.capabilities().notices):
		return func(dst []byte, body raw) []byte { return append(dst, noticeText(body)...) }
	}
	return nil
}

// retold is what was said in a turn from its beginning, for a prompt that came
// again: it is answered like the first.
func (v *view) retold(turn string) string {
	var text []byte
	err := v.conn.hub().Read(v.conn.context(), v.id, 0, func(e session.Event) error {
		if words := v.words(e.Kind); words != nil && e.Turn == turn {
			text = words(text, e.Body)
		}
		return nil
	})
	if err != nil {
		v.conn.server.opts.Logger.Warn("a turn could not be read again", "session", v.id, "err", err)
	}
	return string(text)
}

// appendChunkText appends the text of a message chunk, nothing for other content.
func appendChunkText(dst []byte, body raw) []byte {
	facts, err := ingest.Look(body)
	if err != nil {
		return dst
	}
	return ingest.AppendText(dst, body, facts.Text)
}

func (v *view) turnEnded(e *session.Event) error {
	var end session.TurnEnd
	if err := json.Unmarshal(e.Body, &end); err != nil {
		return err
	}
	v.withdraw(func(_ string, o *offer) bool { return o.turn == end.Turn })
	v.mu.Lock()
	defer v.mu.Unlock()
	v.met = max(v.met, e.Seq)
	for _, p := range v.pending[end.Turn] {
		v.answer(p, end)
	}
	delete(v.pending, end.Turn)
	return nil
}

// answer writes the response of a prompt whose turn is over.
func (v *view) answer(p *pendingPrompt, end session.TurnEnd) {
	if end.Error != nil {
		v.conn.fail(p.req, v.conn.failure(*end.Error))
		return
	}
	text := string(p.text)
	if p.repeat {
		text = v.retold(end.Turn)
	}
	if end.Stop == session.Cancelled && v.conn.dialect.Load() {
		text += cancelledMark
	}
	v.conn.reply(p.req, promptResult{end.Stop, v.id, text, end.Usage})
}

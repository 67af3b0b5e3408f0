package serve

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// view is one session as this connection sees it: an attachment and the pump
// that writes what its cursor meets, responses included, in one order.
type view struct {
	id    string
	conn  *conn
	att   session.Attachment // nil when relayed
	relay *relay             // nil when local
	ctx   context.Context    // the pump's; set from the start, since the connection may end before the pump begins
	stop  context.CancelFunc // ends the pump; nil when relayed
	done  chan struct{}      // closed when the pump has ended

	// mu is held while a prompt is handed to the hub, so that the pump cannot
	// meet the turn's end before its request is known.
	mu      sync.Mutex
	pending map[string][]*pendingPrompt   // by turn; several where a prompt steered
	offers  map[string]context.CancelFunc // open requests to the client, by event id
}

// pendingPrompt is a session/prompt waiting for its turn's end.
type pendingPrompt struct {
	req  *acp.Request
	text strings.Builder // what the agent said in the turn
}

// open makes a view, which must be started; the one it replaces hands over its
// pending prompts.
func (c *conn) open(att session.Attachment) *view {
	ctx, stop := context.WithCancel(c.context())
	v := &view{
		id: att.Info().ID, conn: c, att: att, ctx: ctx, stop: stop, done: make(chan struct{}),
		pending: make(map[string][]*pendingPrompt), offers: make(map[string]context.CancelFunc),
	}
	c.mu.Lock()
	old := c.sessions[v.id]
	c.sessions[v.id] = v
	c.mu.Unlock()
	if old != nil {
		old.shut()
		old.mu.Lock()
		v.pending = old.pending
		old.mu.Unlock()
	}
	return v
}

// start runs the pump. caughtUp, if not nil, is called once the past up to
// replay has been written.
func (c *conn) start(v *view, replay session.Seq, caughtUp func()) {
	go func() {
		defer close(v.done)
		err := v.pump(v.ctx, replay, caughtUp)
		v.withdrawOffers()
		if !errors.Is(err, io.EOF) && v.ctx.Err() == nil {
			c.server.opts.Logger.Warn("attachment ended", "session", v.id, "err", err)
		}
	}()
}

func (c *conn) view(id string) (*view, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.sessions[id]
	return v, ok
}

func (c *conn) views() []*view {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]*view, 0, len(c.sessions))
	for _, v := range c.sessions {
		if v.att != nil {
			list = append(list, v)
		}
	}
	return list
}

// finish lets a closed session's view write what is left, then forgets it.
func (c *conn) finish(id string) {
	c.mu.Lock()
	v, ok := c.sessions[id]
	delete(c.sessions, id)
	c.mu.Unlock()
	if ok && v.att != nil {
		<-v.done // ends by itself: the attachment of a closed session ends
		v.att.Detach()
	}
}

func (c *conn) detachAll() {
	for _, v := range c.views() {
		v.shut()
	}
}

// shut ends the pump and the attachment.
func (v *view) shut() {
	if v.stop != nil {
		v.stop()
		<-v.done
	}
	if v.att != nil {
		v.att.Detach()
	}
}

// prompt hands a prompt to the hub and registers its request under the turn.
func (v *view) prompt(ctx context.Context, req *acp.Request, p session.PromptRequest) {
	v.mu.Lock()
	defer v.mu.Unlock()
	prompted, err := v.att.Prompt(v.conn.context(), p)
	if err != nil {
		v.conn.fail(req, v.conn.wireError(err, v.id))
		return
	}
	pending := &pendingPrompt{req: req}
	if prompted.Ended != nil {
		v.answer(pending, *prompted.Ended)
		return
	}
	v.pending[prompted.Turn] = append(v.pending[prompted.Turn], pending)
	context.AfterFunc(ctx, func() { v.cancelTurn(prompted.Turn) })
}

// cancelTurn follows a $/cancel_request for a prompt: as session/cancel does.
func (v *view) cancelTurn(turn string) {
	v.mu.Lock()
	_, waiting := v.pending[turn]
	v.mu.Unlock()
	if waiting {
		v.conn.cancel(v.id)
	}
}

// pump writes the session's events until the attachment or ctx ends.
func (v *view) pump(ctx context.Context, replay session.Seq, caughtUp func()) error {
	begun := false
	reached := func(cursor session.Seq) {
		if begun || cursor < replay {
			return
		}
		begun = true
		if caughtUp != nil {
			caughtUp()
		}
		v.begin(ctx)
	}
	reached(0)
	for {
		events, cursor, err := v.att.Next(ctx)
		if err != nil {
			return err
		}
		for i := range events {
			if events[i].Seq > replay {
				reached(replay)
			}
			if err := v.deliver(ctx, &events[i]); err != nil {
				return err
			}
		}
		reached(cursor)
	}
}

// begin sends what a client needs besides the response: commands, and the
// requests still open.
func (v *view) begin(ctx context.Context) {
	if commands := v.att.Setup().Commands; commands != nil && !v.conn.dialect.Load() {
		body, err := json.Marshal(commandsUpdate(v.id, commands))
		if err == nil {
			_ = v.conn.peer.Notify(ctx, "session/update", raw(body)) // fails only with the connection
		}
	}
	for _, r := range v.att.Open() {
		v.offer(ctx, r.ID, r.Kind, r.Body)
	}
}

func commandsUpdate(id string, commands raw) any {
	type update struct {
		Kind     string `json:"sessionUpdate"`
		Commands raw    `json:"availableCommands"`
	}
	return struct {
		SessionID string `json:"sessionId"`
		Update    update `json:"update"`
	}{id, update{string(session.KindCommands), commands}}
}

// deliver writes one event as this client is to see it.
func (v *view) deliver(ctx context.Context, e *session.Event) error {
	switch e.Kind {
	case session.KindTurnEnd:
		return v.turnEnded(e)
	case session.KindPermission, session.KindElicitation:
		v.offer(ctx, e.ID, e.Kind, e.Body)
		return nil
	case session.KindVerdict:
		v.settled(e)
		return nil
	}
	if e.Kind == session.KindAgentMessage {
		v.collect(e)
	}
	msg := v.conn.frame(v, e)
	if msg == nil {
		return nil
	}
	return v.conn.write(ctx, msg)
}

// collect keeps what the agent says for the prompt's own result.
func (v *view) collect(e *session.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	waiting := v.pending[e.Turn]
	if len(waiting) == 0 {
		return
	}
	text := chunkText(e.Body)
	for _, p := range waiting {
		p.text.WriteString(text)
	}
}

// chunkText returns the text of a message chunk, "" for other content.
func chunkText(body raw) string {
	var p struct {
		Update struct {
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"update"`
	}
	_ = json.Unmarshal(body, &p) // content of another shape has no text
	return p.Update.Content.Text
}

func (v *view) turnEnded(e *session.Event) error {
	var end session.TurnEnd
	if err := json.Unmarshal(e.Body, &end); err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
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
	text := p.text.String()
	if end.Stop == session.Cancelled && v.conn.dialect.Load() {
		text += cancelledMark
	}
	v.conn.reply(p.req, promptResult{end.Stop, v.id, text, end.Usage})
}

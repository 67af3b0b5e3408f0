package actor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/attach"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// maxKey bounds an idempotency key, in bytes.
const maxKey = 1024

// codeInternal is JSON-RPC's internal error.
const codeInternal = -32603

// turn is a prompt that waits or runs.
type turn struct {
	id, key, by string
	role        session.Role // of who prompted
	owner       string       // who prompted; "" for the session's own
	content     []jsontext.Value
	said        []message // the content as what people see
	hands       session.Hands
	ctx         context.Context // the driver's
	cancel      context.CancelFunc

	driving    bool   // the driver has it
	cancelling bool   // it was told to stop
	reason     string // why, when it was no person
	settle     *timer // bounds how long the driver may take to stop
}

// message is a chunk of a person's message.
type message struct {
	body  jsontext.Value
	facts ingest.Facts
}

// newTurn makes a turn of a prompt, on the goroutine of whoever prompts: what
// was said may be large.
func (a *Actor) newTurn(c *attach.Cursor, req session.PromptRequest) (*turn, error) {
	if len(req.Key) > maxKey {
		return nil, session.Invalidf("idempotency key of %d bytes is longer than %d", len(req.Key), maxKey)
	}
	t := &turn{
		id: session.NewID("t"), key: req.Key, by: c.ID(), role: c.Request().Role, owner: c.Request().Owner,
		content: req.Content, hands: c.Request().Hands,
	}
	id := session.NewID("m")
	for i, block := range req.Content {
		if block.Kind() != jsontext.KindBeginObject || !block.IsValid() {
			return nil, session.Invalidf("prompt holds a content block that is no JSON object")
		}
		body := a.chunk(session.KindUserMessage, block, id)
		if i == 0 && req.Provenance != nil {
			body = append(body[:len(body)-1], `,"_meta":{"provenance":`...)
			body = append(append(body, req.Provenance...), `}}`...)
		}
		facts, err := ingest.Look(body)
		if err != nil {
			return nil, err
		}
		t.said = append(t.said, message{body, facts})
	}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	return t, nil
}

func (t *turn) stop() {
	t.cancel()
	t.settle.stop()
}

// Prompt takes a prompt: it runs, waits, joins the running turn or is known
// already. When Prompt returns it is committed, and a Cancel that comes after it
// was called finds it. It stands even if ctx ends while Prompt waits.
func (a *Actor) Prompt(ctx context.Context, c *attach.Cursor, req session.PromptRequest) (session.Prompted, error) {
	t, err := a.newTurn(c, req)
	if err != nil {
		return session.Prompted{}, err
	}
	return call(ctx, a, func(reply func(session.Prompted, error)) {
		a.prompt(t, req.Exclusive, reply)
	})
}

func (a *Actor) prompt(t *turn, exclusive bool, reply func(session.Prompted, error)) {
	if known, ok := a.known(t.key); ok {
		a.then(func(err error) { reply(known, err) })
		return
	}
	c, isCommand := a.command(t)
	switch {
	case a.closing != nil:
		reply(session.Prompted{}, a.closing.refuse())
	case !a.mayPrompt(t):
		reply(session.Prompted{}, session.ErrNotFound)
	case isCommand && c.Run != nil:
		a.aside(t, c, reply)
	case a.busy() && (exclusive || a.limits.Concurrent == Reject):
		reply(session.Prompted{}, session.ErrBusy)
	case a.busy() && a.limits.Concurrent == Steer && !isCommand:
		a.steer(t, func(how session.Steered, turn string, err error) {
			if how == session.Injected || err != nil {
				reply(session.Prompted{Turn: turn}, err)
				return
			}
			a.enqueue(t, reply)
		})
	case a.busy():
		a.enqueue(t, reply)
	default:
		a.begin(t)
		a.then(func(err error) { reply(session.Prompted{Turn: t.id}, err) })
	}
}

// known finds the turn of a prompt that is repeated.
func (a *Actor) known(key string) (session.Prompted, bool) {
	if joined, ok := a.steered[key]; ok {
		again := *joined
		again.Repeat = true
		return again, true
	}
	k, ok := a.next.Key(key)
	if !ok {
		return session.Prompted{}, false
	}
	queued := slices.ContainsFunc(a.next.Queue, queuedAs(k.Turn))
	return session.Prompted{Turn: k.Turn, Queued: queued, Repeat: true, Ended: k.End}, true
}

// busy reports whether a new prompt has to wait.
func (a *Actor) busy() bool { return a.turn != nil || len(a.next.Queue) > 0 }

func (a *Actor) enqueue(t *turn, reply func(session.Prompted, error)) {
	if len(a.next.Queue) >= a.limits.Queue {
		reply(session.Prompted{}, session.ErrBusy)
		return
	}
	e := a.own(session.KindQueued, session.Private, t.id, session.QueuedPrompt{
		Turn: t.id, Key: t.key, By: t.by, Content: t.content,
	})
	e.Origin, e.By = session.FromClient, t.by
	a.prompts[t.id] = t
	a.stage(e)
	a.then(func(err error) {
		if err != nil {
			delete(a.prompts, t.id)
		}
		reply(session.Prompted{Turn: t.id, Queued: true}, err)
		if err == nil {
			a.startNext() // the turn it waited for may be over by now
		}
	})
}

// begin starts a turn: what the person said is committed before the driver
// sees it.
func (a *Actor) begin(t *turn) {
	a.mend()
	a.turn = t
	start := a.own(session.KindTurnStart, session.Live, t.id, session.TurnStart{Turn: t.id, Key: t.key})
	start.By = t.by
	a.stage(start)
	a.stageUser(t.id, t)
	now := a.now()
	a.changeInfo(session.InfoChange{UpdatedAt: &now})
	a.then(func(err error) {
		switch {
		case err != nil && a.turn == t:
			a.turn = nil
			t.stop()
		case err == nil:
			a.launch(t)
		}
	})
}

// stageUser records what a person said, as part of a turn.
func (a *Actor) stageUser(turn string, t *turn) {
	for _, m := range t.said {
		e := a.own(session.KindUserMessage, session.History, turn, m.body)
		e.Origin, e.By, e.Version, e.Marks = session.FromClient, t.by, 1, m.facts.Marks
		a.fold.Chunk(e, m.facts, a.next.Seq+1)
		a.stage(e)
	}
}

// chunk puts a content block, as it came, into a session/update.
func (a *Actor) chunk(kind session.Kind, block jsontext.Value, message string) jsontext.Value {
	id, _ := jsontext.AppendQuote(nil, a.cfg.Info.ID)
	body := append(jsontext.Value(`{"sessionId":`), id...)
	body = append(body, `,"update":{"sessionUpdate":"`...)
	body = append(body, kind...)
	body = append(body, `","content":`...)
	body = append(body, block...)
	body = append(body, `,"messageId":"`...)
	body = append(body, message...)
	return append(body, `"}}`...)
}

// launch gives a committed turn to the driver, opening it first if need be.
func (a *Actor) launch(t *turn) {
	a.withHandle(func(h session.Handle, err error) {
		switch {
		case a.turn != t || t.driving:
		case err != nil:
			a.endTurn(t, failed(t.id, err))
		default:
			t.driving = true
			go a.drive(t, h, a.driver.epoch)
		}
	})
}

// forDriver is what a driver gets of it, as the turn of an id or as an addition
// to that.
func (t *turn) forDriver(id string) session.Turn {
	return session.Turn{ID: id, Content: t.content, Role: t.role, Owner: t.owner, Hands: t.hands}
}

// drive runs on a goroutine of its own for as long as the driver takes.
func (a *Actor) drive(t *turn, h session.Handle, epoch uint64) {
	end, err := promptSafely(t.ctx, h, t.forDriver(t.id))
	a.mail.finish(item{epoch: epoch, done: &finished{turn: t, end: end, err: err}})
}

var errPanic = errors.New("panic")

// promptSafely turns a driver's panic into its death: the session goes on.
func promptSafely(ctx context.Context, h session.Handle, t session.Turn) (end session.TurnEnd, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %w: %v\n%s", session.ErrDriverDied, errPanic, r, debug.Stack())
		}
	}()
	return h.Prompt(ctx, t)
}

// returned takes the driver's own end of a turn.
func (a *Actor) returned(f *finished) {
	t := f.turn
	if a.turn != t {
		return
	}
	died := errors.Is(f.err, session.ErrDriverDied) || hasDied(a.driver.handle)
	if died {
		a.cfg.Log.Error("agent ended unexpectedly", "session", a.info.ID, "agent", a.info.Agent, "err", f.err)
	}
	end := f.end
	switch {
	case t.cancelling:
		end = cancelled(t, end)
	case died && f.err != nil:
		end = failed(t.id, diedError(f.err))
	case f.err != nil:
		end = failed(t.id, f.err)
	case end.Stop == "" && end.Error == nil:
		end.Stop = session.EndTurn
	}
	a.endTurn(t, end)
	if died {
		a.abandon()
	}
}

// diedError leaves a panic's stack to the log.
func diedError(err error) error {
	var f *session.FailureError
	if errors.As(err, &f) || !errors.Is(err, errPanic) {
		return err
	}
	return session.ErrDriverDied
}

func failed(turn string, err error) session.TurnEnd {
	var f *session.FailureError
	if errors.As(err, &f) {
		return session.TurnEnd{Turn: turn, Error: &f.Failure}
	}
	return session.TurnEnd{Turn: turn, Error: &session.Failure{Code: codeInternal, Message: err.Error()}}
}

// cancelled keeps what the driver knows of a turn's cost.
func cancelled(t *turn, end session.TurnEnd) session.TurnEnd {
	return session.TurnEnd{Turn: t.id, Stop: session.Cancelled, Usage: end.Usage, Reason: t.reason}
}

// endTurn ends the running turn, once, and lets the next one start.
func (a *Actor) endTurn(t *turn, end session.TurnEnd) {
	if a.turn != t {
		return
	}
	a.turn = nil
	t.stop()
	end.Turn = t.id
	for _, joined := range a.steered {
		if joined.Turn == t.id {
			joined.Ended = &end
		}
	}
	a.endStaged(end)
	a.then(func(err error) {
		if err == nil {
			a.startNext()
		}
	})
}

// endStaged stages the end of a turn; before that of the running one, the ends
// of all it left open.
func (a *Actor) endStaged(end session.TurnEnd) {
	if a.next.Turn != nil && a.next.Turn.ID == end.Turn {
		a.flushCalls()
		a.withdrawAll(reasonOf(end))
		status := statusFailed
		if end.Stop == session.EndTurn {
			status = statusCompleted
		}
		a.closeCalls(status)
		a.batch.docs = append(a.batch.docs, a.fold.Take()...)
		a.stageHeld()
	}
	a.stage(a.own(session.KindTurnEnd, session.Live, end.Turn, end))
	a.batch.ends = true
}

func reasonOf(end session.TurnEnd) string {
	switch {
	case end.Reason == "interrupted":
		return ask.Interrupted
	case end.Stop == session.Cancelled:
		return ask.CancelledBy
	}
	return ask.TurnOver
}

// startNext begins the oldest queued prompt.
func (a *Actor) startNext() {
	if a.turn != nil || len(a.next.Queue) == 0 {
		return
	}
	q := a.next.Queue[0]
	t, ok := a.prompts[q.Turn]
	if !ok { // its content went with a process; it is never run
		a.endStaged(interrupted(q.Turn))
		a.then(func(err error) {
			if err == nil {
				a.startNext()
			}
		})
		return
	}
	if !a.mayPrompt(t) {
		a.cancelQueued(q.Turn, "share_revoked")
		a.then(func(err error) {
			if err == nil {
				a.startNext()
			}
		})
		return
	}
	delete(a.prompts, q.Turn)
	a.begin(t)
}

// mayPrompt reports whether who prompted still may: a share can be taken back
// while the prompt is on its way or waits.
func (a *Actor) mayPrompt(t *turn) bool {
	role, ok := a.cfg.Board.Info().RoleOf(t.owner)
	return t.owner == "" || ok && role >= session.Prompter
}

// Cancel cancels the running turn and every queued prompt.
func (a *Actor) Cancel(ctx context.Context) error {
	return a.cancelBy(ctx, func() { a.cancelAll("") })
}

// CancelTurn cancels one turn, which may still be queued.
func (a *Actor) CancelTurn(ctx context.Context, turn string) error {
	return a.cancelBy(ctx, func() {
		switch {
		case a.turn != nil && a.turn.id == turn:
			a.cancelTurn("")
		case slices.ContainsFunc(a.next.Queue, queuedAs(turn)):
			a.cancelQueued(turn, "")
		}
	})
}

func (a *Actor) cancelBy(ctx context.Context, cancel func()) error {
	_, err := call(ctx, a, func(reply func(struct{}, error)) {
		cancel()
		a.then(func(err error) { reply(struct{}{}, err) })
	})
	if errors.Is(err, session.ErrNotActive) {
		return nil
	}
	return err
}

func (a *Actor) cancelAll(reason string) {
	a.cancelQueue(reason)
	a.cancelTurn(reason)
}

func (a *Actor) cancelQueue(reason string) {
	for len(a.next.Queue) > 0 {
		a.cancelQueued(a.next.Queue[0].Turn, reason)
	}
}

func (a *Actor) cancelQueued(id, reason string) {
	if t, ok := a.prompts[id]; ok {
		t.stop()
		delete(a.prompts, id)
	}
	a.endStaged(session.TurnEnd{Turn: id, Stop: session.Cancelled, Reason: reason})
}

// cancelTurn tells the driver to stop. If it does not within the bound, its
// epoch is over and what it says later is dropped.
func (a *Actor) cancelTurn(reason string) {
	t := a.turn
	if t == nil || t.cancelling {
		return
	}
	t.cancelling, t.reason = true, reason
	t.cancel()
	if !t.driving {
		a.endTurn(t, cancelled(t, session.TurnEnd{}))
		return
	}
	a.withdrawAll(ask.CancelledBy)
	t.settle = a.after(a.limits.Settle, func() {
		if a.turn == t {
			a.cfg.Log.Warn("agent did not stop when told to", "session", a.info.ID, "agent", a.info.Agent)
			a.endTurn(t, cancelled(t, session.TurnEnd{}))
			a.abandon()
		}
	})
}

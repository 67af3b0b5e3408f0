package actor

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// asideBound is how long a command that runs beside a turn may take.
const asideBound = 10 * time.Second

// command returns the command of the open driver that a prompt means. Only what
// comes while the session is busy is looked at: what finds it idle gets a turn.
func (a *Actor) command(t *turn) (session.Command, bool) {
	c, ok := a.driver.handle.(session.Commander)
	if !ok || !a.busy() {
		return session.Command{}, false
	}
	return c.Command(t.content)
}

// steerCommand takes a command that came as an addition to the running turn. One
// that needs a turn of its own is no addition to another.
func (a *Actor) steerCommand(t *turn, c session.Command, done func(session.Steered, error)) {
	if c.Run == nil {
		done(session.SteerFailed, nil)
		return
	}
	a.aside(t, c, func(_ session.Prompted, err error) { done(session.StartedNewTurn, err) })
}

// aside runs a command beside the turn that runs. In the ledger it is a prompt
// with an answer and an end like any other, but never the session's turn.
func (a *Actor) aside(t *turn, c session.Command, reply func(session.Prompted, error)) {
	known := a.keepJoined(t.key, t.id)
	a.stageUser(t.id, t)
	a.asides++
	a.then(func(err error) {
		if err != nil {
			a.asides--
			delete(a.steered, t.key)
			t.stop()
		}
		reply(session.Prompted{Turn: t.id}, err)
		if err == nil {
			by := session.Commanding{Role: t.role, Owner: t.owner, Status: a.status()}
			go a.runAside(t, c, by, known)
		}
	})
}

func (a *Actor) runAside(t *turn, c session.Command, by session.Commanding, known *session.Prompted) {
	ctx, cancel := context.WithTimeout(t.ctx, asideBound)
	defer cancel()
	done, err := runSafely(ctx, c, by)
	a.mail.post(func() { a.endAside(t, done, err, known) })
}

func runSafely(ctx context.Context, c session.Command, by session.Commanding) (done session.CommandDone, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, r, debug.Stack())
		}
	}()
	return c.Run(ctx, by)
}

// endAside shows what a command answered. What it stops is stopped first, so
// that the answer is true when it is read.
func (a *Actor) endAside(t *turn, done session.CommandDone, err error, known *session.Prompted) {
	a.asides--
	t.stop()
	end := session.TurnEnd{Turn: t.id, Stop: session.EndTurn}
	if err != nil {
		a.cfg.Log.Warn("command failed", "session", a.info.ID, "err", err)
		end = failed(t.id, diedError(err))
	}
	if done.Stop {
		a.cancelAll("")
	}
	if done.Text != "" {
		a.stageWords(t.id, done.Text)
	}
	if known != nil {
		known.Ended = &end
	}
	a.endStaged(end)
	if a.turn == nil { // it ended meanwhile
		a.batch.docs = append(a.batch.docs, a.fold.Take()...)
	}
	a.then(func(err error) {
		if err != nil {
			f := storeFailure(err)
			a.cfg.Board.Tell(a.own(session.KindTurnEnd, session.Live, t.id, session.TurnEnd{Turn: t.id, Error: &f, Reason: ask.StoreFailed}))
		}
	})
}

// stageWords records words that answer a command.
func (a *Actor) stageWords(turn, text string) {
	block, _ := json.Marshal(map[string]string{"type": "text", "text": text}, jsontext.AllowInvalidUTF8(true))
	body := a.chunk(session.KindAgentMessage, block, session.NewID("m"))
	facts, _ := ingest.Look(body) // our own
	e := a.own(session.KindAgentMessage, session.History, turn, body)
	e.Version, e.Marks = 1, facts.Marks
	a.fold.Chunk(e, facts, a.next.Seq+1)
	a.stage(e)
}

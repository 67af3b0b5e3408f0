package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

const (
	// stopBound is how long a subagent that is cancelled may take to end its turn,
	// less than its parent has itself.
	stopBound = time.Second
	// freeBound is how long the end of its session may take, beside its parent.
	freeBound = 15 * time.Second
)

// spawner starts the subagent of one call.
type spawner struct{ *running }

// spawner returns what the call may start subagents with, nil for none.
func (r *running) spawner() tool.Spawner {
	if !r.maySpawn() {
		return nil
	}
	return spawner{r}
}

// Spawn implements tool.Spawner.
func (s spawner) Spawn(ctx context.Context, t tool.Task, out tool.Sink) tool.Result {
	if err := s.checkTools(t.Tools); err != nil {
		return failed(err)
	}
	select {
	case s.beside <- struct{}{}:
	case <-ctx.Done():
		return notRun(ctx, ctx.Err()).result()
	}
	id := session.NewID("s")
	k := &kin{parent: s.handle, depth: s.depth() + 1, mode: t.Mode, only: t.Tools, bound: s.bound}
	s.driver.adopt(id, k)
	defer s.free(ctx, id)
	c, err := s.start(ctx, id, t)
	if err != nil {
		return failed(fmt.Errorf("the subagent could not be started: %w", err))
	}
	c.out = out
	res := c.follow(ctx)
	s.spent = k.total()
	return res
}

func failed(err error) tool.Result { return tool.Result{Text: err.Error(), IsError: true} }

// checkTools refuses names of tools that are not there.
func (s spawner) checkTools(names []string) error {
	for _, name := range names {
		if _, err := s.sets.step.Lookup(name); err != nil {
			return err
		}
	}
	return nil
}

// start makes the subagent's session and gives it the task.
func (s spawner) start(ctx context.Context, id string, t tool.Task) (*child, error) {
	answers := []session.Kind{session.KindPermission}
	if s.sink.CanAsk(session.KindElicitation) {
		answers = append(answers, session.KindElicitation)
	}
	att, err := s.driver.opts.Sessions.Spawn(ctx, session.Info{
		ID: id, Parent: s.id, Owner: s.info.Owner, Agent: s.info.Agent, Cwd: s.info.Cwd, Roots: s.info.Roots, Title: t.Title,
	}, session.AttachRequest{Role: session.Approver, Hands: s.Hands, Answers: answers})
	if err != nil {
		return nil, err
	}
	c := &child{running: s.running, att: att, id: id, title: t.Title, asked: make(map[string]context.CancelFunc)}
	if t.Mode != "" && slices.Contains(s.policy.Modes(), t.Mode) {
		// Kept, so that it holds when a person opens the session later.
		if _, err := att.Set(ctx, session.OptionMode, string(t.Mode)); err != nil {
			return nil, err
		}
	}
	block, err := json.Marshal(textBlock{"text", t.Text})
	if err != nil {
		return nil, err
	}
	p, err := att.Prompt(ctx, session.PromptRequest{Content: []jsontext.Value{block}})
	c.turn = p.Turn
	return c, err
}

// free ends the subagent's session beside its parent, which does not wait for
// what is slow to end.
func (s spawner) free(ctx context.Context, id string) {
	s.freeing.Go(func() {
		ctx, cancel := context.WithTimeout(detached(ctx), freeBound)
		defer cancel()
		err := s.driver.opts.Sessions.Close(ctx, id)
		if err != nil && !errors.Is(err, session.ErrNotActive) && !errors.Is(err, session.ErrNotFound) {
			_ = s.sink.Emit(ctx, notice(s.handle.id, "warning", "A subagent did not end", err.Error())) // nothing hangs on it
		}
		s.driver.release(id)
		<-s.beside
	})
}

// child is a subagent at work, as its parent's call sees it.
type child struct {
	*running
	att   session.Attachment
	id    string // of its session
	turn  string
	title string
	out   tool.Sink

	relays sync.WaitGroup
	asked  map[string]context.CancelFunc // what is being put to people, by request

	message string // id of the message in text
	text    strings.Builder
	steps   steps
}

// follow waits for the end of the subagent's turn, and meanwhile shows what it
// does and asks what it wants to know. When ctx ends, the subagent is stopped.
func (c *child) follow(ctx context.Context) tool.Result {
	end, err := c.untilEnd(ctx)
	for _, stop := range c.asked {
		stop()
	}
	c.relays.Wait()
	if err != nil {
		return c.result(tool.Result{Text: "the subagent was lost: " + err.Error(), IsError: true}, "")
	}
	return c.conclude(end)
}

func (c *child) untilEnd(ctx context.Context) (session.TurnEnd, error) {
	end, err := c.watch(ctx, ctx)
	if ctx.Err() == nil {
		return end, err
	}
	stopping, cancel := context.WithTimeout(detached(ctx), stopBound)
	defer cancel()
	if err := c.att.Cancel(stopping); err != nil {
		return session.TurnEnd{}, err
	}
	return c.watch(stopping, ctx)
}

// watch reads the subagent's events until its turn ends or reading does. What it
// asks is put to people in the context asking.
func (c *child) watch(reading, asking context.Context) (session.TurnEnd, error) {
	for {
		events, _, err := c.att.Next(reading)
		if err != nil {
			return session.TurnEnd{}, err
		}
		for i := range events {
			if end, over := c.event(asking, &events[i]); over {
				return end, nil
			}
		}
	}
}

// event takes one event of the subagent's session.
func (c *child) event(ctx context.Context, e *session.Event) (end session.TurnEnd, over bool) {
	switch e.Kind {
	case session.KindAgentMessage:
		c.heard(e.Body)
	case session.KindToolCall:
		c.did(e.Body)
	case session.KindNotice:
		c.relayNotice(ctx, e.Body)
	case session.KindPermission, session.KindElicitation:
		c.relay(ctx, session.Request{ID: e.ID, Kind: e.Kind, Body: e.Body})
	case session.KindVerdict:
		c.stopAsking(e.Body)
	case session.KindTurnEnd:
		if json.Unmarshal(e.Body, &end) == nil && end.Turn == c.turn {
			return end, true
		}
	}
	return session.TurnEnd{}, false
}

// conclude is what came of a turn that ended.
func (c *child) conclude(end session.TurnEnd) tool.Result {
	text := strings.TrimSpace(c.text.String())
	res := tool.Result{Text: text}
	switch {
	case end.Error != nil:
		res = tool.Result{Text: "the subagent failed: " + end.Error.Message, IsError: true}
	case end.Stop == session.Cancelled:
		res = tool.Result{Text: "the subagent was cancelled", IsError: true}
	case end.Stop != session.EndTurn:
		res.Text = strings.TrimSpace(fmt.Sprintf("%s\n\n[the subagent stopped before its end: %s]", text, end.Stop))
	case text == "":
		res.Text = "The subagent ended without a word."
	}
	if res.IsError && text != "" {
		res.Text += "\n\nWhat it said last: " + text
	}
	return c.result(res, end.Stop)
}

// result adds the subagent's session to a result, for clients.
func (c *child) result(res tool.Result, stop session.StopReason) tool.Result {
	res.RawOutput = encode(struct {
		SessionID string             `json:"sessionId"`
		Stop      session.StopReason `json:"stopReason,omitzero"`
		Steps     int                `json:"toolCalls"`
		Error     string             `json:"error,omitzero"`
	}{c.id, stop, c.steps.count, errorText(res)})
	return res
}

func errorText(res tool.Result) string {
	if res.IsError {
		return res.Text
	}
	return ""
}

// subagentWords tell a subagent what it is.
const subagentWords = `You are a subagent: another agent gave you the task below and sees nothing but your final message. Do the task, then report in that message what was asked for, with paths and facts, in as few words as serve. Nobody answers questions of detail; decide them yourself and say how.`

// subagentWords are for subagents only.
func (h *handle) subagentWords() string {
	if h.kin == nil {
		return ""
	}
	return subagentWords
}

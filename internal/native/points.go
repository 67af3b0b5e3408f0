package native

import (
	"context"
	"errors"
	"time"

	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// points are those of the agent.
func (h *handle) points() hook.Points {
	if h.agent.Points == nil {
		return hook.None{}
	}
	return h.agent.Points
}

// hookCall is the call as the points are told of it.
func (r *running) hookCall() hook.Call {
	c := hook.Call{
		Session: r.id, Turn: r.ID, Agent: r.agent.Alias, Owner: r.info.Owner, Cwd: r.info.Cwd, Mode: r.handle.choice().Mode,
		ID: r.shown, Tool: r.wish.Name, Kind: tool.KindOther, Title: r.wish.Name, Input: r.wish.Input,
	}
	if r.call != nil {
		c.Kind, c.Title = r.call.Kind, r.call.Title
	}
	return c
}

// passBefore asks the first point. What it refuses, and what it cannot say, is
// not run.
func (r *running) passBefore(ctx context.Context, d policy.Decision) (hook.Settled, *refusal) {
	block, err := r.points().BeforeTool(ctx, r.hookCall(), d)
	if err != nil {
		block = err.Error()
	}
	if block == "" {
		return hook.Settled{}, nil
	}
	s := hook.Settled{Verdict: policy.Deny, Rule: "before_tool_call", Reason: block, By: hook.ByHook}
	if err != nil {
		return s, &refusal{shown: "not run: " + block, advice: "This was not a person's decision; tell the user."}
	}
	return s, &refusal{shown: "blocked by a hook: " + block, advice: "Do not try to get around this; tell the user if it is needed."}
}

// errHookOutside is what becomes of a hook's yes to a call that only a person may
// let run.
var errHookOutside = errors.New("a hook allowed a command to run outside the sandbox, which only a person can; people are asked instead")

// hookAnswers asks the point that may answer in a person's place.
func (r *running) hookAnswers(ctx context.Context, d policy.Decision) (s hook.Settled, no *refusal, answered bool) {
	a, err := r.points().Permission(ctx, r.hookCall(), d)
	if err != nil {
		r.tellHook(ctx, err)
		return s, nil, false
	}
	if a.Verdict == policy.Allow && d.Outside {
		r.tellHook(ctx, errHookOutside)
		return s, nil, false
	}
	s = hook.Settled{Verdict: a.Verdict, Rule: "permission_request", Reason: a.Reason, By: hook.ByHook}
	switch a.Verdict {
	case policy.Allow:
		return s, nil, true
	case policy.Deny:
		return s, &refusal{shown: "a hook said no to this call: " + a.Reason, advice: "Do not try it another way."}, true
	}
	return s, nil, false
}

// reportSettled tells the points what became of a call. What cannot be told is
// not run.
func (r *running) reportSettled(ctx context.Context, s hook.Settled) *refusal {
	err := r.recordCall(ctx, s)
	if err == nil {
		err = r.points().Settled(detached(ctx), r.hookCall(), s)
	}
	if err != nil {
		return &refusal{shown: "not run: " + err.Error(), advice: "This was not a person's decision; tell the user."}
	}
	return nil
}

// passAfter tells the last point how a call ended.
func (r *running) passAfter(ctx context.Context, res tool.Result, took time.Duration) {
	err := r.points().AfterTool(ctx, r.hookCall(), hook.Result{IsError: res.IsError, Text: res.Text, Took: took})
	if err != nil && ctx.Err() == nil {
		r.tellHook(ctx, err)
	}
}

// tellHook tells the people that a hook did not work. It changes nothing, so a
// notice that cannot be shown is no failure.
func (t *turn) tellHook(ctx context.Context, err error) {
	_ = t.sink.Emit(ctx, notice(t.id, "warning", "A hook failed", err.Error()))
}

// onceMore asks, once a turn, whether the model is to go on, and gives it the
// reason as one more message.
func (t *turn) onceMore(ctx context.Context, resp *model.Response) (bool, error) {
	if t.finalized {
		return false, nil
	}
	t.finalized = true
	again, err := t.points().BeforeFinalize(ctx, hook.Final{
		Session: t.id, Turn: t.ID, Agent: t.agent.Alias, Owner: t.info.Owner, Cwd: t.info.Cwd, Mode: t.choice.Mode,
		Text: resp.Message.Text(),
	})
	if err != nil && ctx.Err() == nil {
		t.tellHook(ctx, err)
	}
	if again == "" || ctx.Err() != nil {
		return false, nil
	}
	if err := t.sink.Emit(ctx, notice(t.id, "info", "A hook asks for one more pass", again)); err != nil {
		return false, err
	}
	m := model.UserText("[A hook of the user's asks for one more pass before the turn ends]\n" + again)
	return true, t.keep(ctx, record{Message: &m})
}

// byPerson is what a person's verdict settles.
func byPerson(v session.Verdict, d policy.Decision) hook.Settled {
	s := hook.Settled{Verdict: policy.Deny, Rule: d.Rule, Reason: "the user said no", By: v.By, Person: v.Owner}
	switch {
	case v.Outcome == session.Selected:
		s.Verdict, s.Reason = policy.Allow, "the user said yes"
		if v.Option == optionAllowAlways {
			s.Grant = d.Grant
		}
	case v.Outcome != session.Declined:
		s.Reason, s.By, s.Person = v.Reason, hook.ByNobody, ""
	}
	return s
}

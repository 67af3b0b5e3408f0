package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// Option ids and kinds of a permission request (ACP v1 PermissionOption).
const (
	optionAllowOnce   = "allow-once"
	optionAllowAlways = "allow-always"
	optionRejectOnce  = "reject-once"
)

type permissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type permissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  toolUpdate         `json:"toolCall"`
	Options   []permissionOption `json:"options"`
}

// decide asks the policy, with the session's mode and grants.
func (r *running) decide(s policy.Subject) policy.Decision {
	c := r.choiceNow()
	d := r.policyOf(s).Decide(s, r.grantsNow(), c.Mode)
	if d.Verdict == policy.Deny && r.policy.Within(r.bound).Level() != r.policy.Level() {
		d.Reason += "; a turn may do no more than who prompts it may"
	}
	if d.Verdict == policy.Ask && c.Elevated == elevatedOff {
		d.Verdict, d.Rule = policy.Deny, session.OptionElevated
		d.Reason = "it would need a person's approval, and this session refuses such actions (option elevated is off)"
	}
	return d
}

// forbids returns why policy refuses a subject outright, or nil.
func (r *running) forbids(s policy.Subject) error {
	if d := r.decide(s); d.Verdict == policy.Deny {
		r.denied = d
		return fmt.Errorf("%s. %s", byPolicy(d).shown, byPolicy(d).advice)
	}
	return nil
}

// RefusedByPolicy begins the result of a call that policy did not let run.
const RefusedByPolicy = "not allowed by policy"

func byPolicy(d policy.Decision) *refusal {
	return &refusal{
		shown:  fmt.Sprintf("%s (%s): %s", RefusedByPolicy, d.Rule, d.Reason),
		advice: "Do not try to get around this; tell the user if it is needed.",
	}
}

// leave finds out whether a call may run: by policy alone, by a hook, or by
// asking. Whatever comes of it is told to the points.
func (r *running) leave(ctx context.Context, acts bool) (*refusal, error) {
	r.judged = questionDecision()
	if r.call.Question == nil {
		r.judged = r.decide(r.call.Subject)
	}
	s, no, err := r.review(ctx, acts, r.judged)
	if err != nil {
		return nil, errors.Join(err, r.reportStopped(ctx, r.judged, err))
	}
	r.byHook = s.By == hook.ByHook
	if untold := r.reportSettled(ctx, s); no == nil {
		no = untold
	}
	if no == nil && r.call.Decided != nil {
		r.call.Decided(r.judged)
	}
	return no, nil
}

// questionDecision is what holds for a tool that asks people itself.
func questionDecision() policy.Decision {
	return policy.Decision{Rule: "question", Reason: "nobody is asked for leave to ask"}
}

// reportStopped tells the points of a call that was stopped before or while it
// was decided. d is what policy had to say of it, if anything.
func (r *running) reportStopped(ctx context.Context, d policy.Decision, cause error) error {
	s := hook.Settled{Verdict: policy.Deny, Rule: d.Rule, Reason: cause.Error(), By: hook.ByNobody}
	if d.Verdict == policy.Deny {
		s.By = hook.ByPolicy
	}
	r.recordBroken(ctx, s, cause)
	return r.points().Settled(detached(ctx), r.hookCall(), s)
}

// review goes through all that may refuse or allow a call. The refusal is nil
// when it may run.
func (r *running) review(ctx context.Context, acts bool, d policy.Decision) (hook.Settled, *refusal, error) {
	s := hook.Settled{Verdict: d.Verdict, Rule: d.Rule, Reason: d.Reason, By: hook.ByPolicy}
	if d.Verdict == policy.Deny {
		return s, byPolicy(d), nil
	}
	if blocked, no := r.passBefore(ctx, d); no != nil {
		return blocked, no, ctx.Err()
	}
	if acts && r.call.Question == nil && !r.budget.take(r.now(), r.agent.MaxActionsPerHour) {
		s.Verdict, s.Rule = policy.Deny, "max_actions_per_hour"
		s.Reason = fmt.Sprintf("this session has used its %d actions of this hour (autonomy.max_actions_per_hour)", r.agent.MaxActionsPerHour)
		return s, &refusal{shown: "not run: " + s.Reason, advice: "Say so to the user and go on without acting."}, nil
	}
	if d.Verdict == policy.Allow {
		return s, nil, nil
	}
	if answer, no, answered := r.hookAnswers(ctx, d); answered {
		return answer, no, nil
	}
	return r.ask(ctx, d)
}

// ask puts the call to the people attached.
func (r *running) ask(ctx context.Context, d policy.Decision) (hook.Settled, *refusal, error) {
	body, err := json.Marshal(permissionParams{r.id, r.permissionCall(d), options(d)})
	if err != nil {
		return hook.Settled{}, nil, err
	}
	asking, stop := r.whileItAsks(ctx)
	v, err := r.sink.Ask(asking, session.KindPermission, jsontext.Value(body))
	stop()
	if err != nil && errors.Is(context.Cause(asking), session.ErrSuperseded) && ctx.Err() == nil {
		return r.judgeAgain(ctx)
	}
	if err != nil {
		return hook.Settled{}, nil, err
	}
	s := byPerson(v, d)
	switch {
	case v.Outcome == session.Selected && r.decide(r.call.Subject).Verdict == policy.Deny:
		return r.judgeAgain(ctx) // the mode was changed in the same moment
	case v.Outcome == session.Declined:
		return s, &refusal{
			shown:  "the user said no to this call",
			advice: "Do not try it another way; ask what to do instead if it matters.",
		}, nil
	case v.Outcome != session.Selected:
		return s, &refusal{
			shown:  fmt.Sprintf("not run: permission was needed and nobody gave it (%s)", whyUnanswered(v.Reason)),
			advice: "This was not a person's decision.",
		}, nil
	case v.Option == optionAllowAlways:
		return s, nil, r.remember(ctx, d.Grant)
	}
	return s, nil, nil
}

// permissionCall is the announced call as the request shows it: what will run,
// word for word, and why that is asked about.
func (r *running) permissionCall(d policy.Decision) toolUpdate {
	u := toolUpdate{
		ID: r.shown, Title: visibleTitle(r.call.Title), Name: r.wish.Name, ToolKind: r.call.Kind,
		Status: statusPending, RawInput: r.wish.Input, Locations: locations(r.call.Locations),
	}
	switch {
	case r.call.Diff != nil:
		u.Content = []toolContent{diffContent(r.call.Diff)}
	case r.call.Subject.Command != "":
		u.Content = []toolContent{{Type: "content", Content: &textBlock{"text", printable.Visible(r.call.Subject.Command)}}}
	}
	if why := r.why(d); why != "" {
		u.Content = append(u.Content, contents([]tool.Content{{Text: printable.Visible(why)}})...)
	}
	return u
}

// maxTold bounds the parts of a command that a question names.
const maxTold = 20

// why says why a call asks. Of a command it says where that starts, if not where
// the session is, and names each part that asks: a long text may hide it.
func (r *running) why(d policy.Decision) string {
	var lines []string
	if s := r.call.Subject; (s.Command != "" || len(s.Argv) > 0) && s.Cwd != r.openTo()[0].Path {
		lines = append(lines, "It starts in "+s.Cwd+".")
	}
	if d.Reason != "" {
		lines = append(lines, "Why it asks: "+d.Reason)
	}
	for i, s := range d.Steps {
		also := fmt.Sprintf("`%s`: %s", s.Text, s.Reason)
		switch {
		case i >= maxTold:
			return strings.Join(append(lines, "There is more."), "\n")
		case s.Verdict == policy.Ask && len(d.Steps) > 1 && also != d.Reason:
			lines = append(lines, "Also: "+also)
		}
	}
	return strings.Join(lines, "\n")
}

// visibleTitle is a title on one line, with all that is in it to be seen.
func visibleTitle(s string) string {
	return strings.ReplaceAll(printable.Visible(s), "\n", "<U+000A>")
}

func options(d policy.Decision) []permissionOption {
	list := []permissionOption{{optionAllowOnce, "Allow once", "allow_once"}}
	if d.Grant != nil {
		list = append(list, permissionOption{optionAllowAlways, printable.Visible(d.Grant.Label), "allow_always"})
	}
	return append(list, permissionOption{optionRejectOnce, "Reject", "reject_once"})
}

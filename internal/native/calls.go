package native

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// Statuses of a tool call (ACP v1 ToolCallStatus).
const (
	statusPending    = "pending"
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusFailed     = "failed"
)

// runCalls runs the calls of one model message, in order; neighbours that only
// read run beside each other. Calls not reached because the turn was cancelled
// have no result.
func (t *turn) runCalls(ctx context.Context, calls []*model.ToolCall) map[string]model.ToolResult {
	results := make(map[string]model.ToolResult, len(calls))
	for len(calls) > 0 && ctx.Err() == nil {
		group := calls[:t.readsAhead(calls)]
		calls = calls[len(group):]
		for id, r := range t.runGroup(ctx, group) {
			results[id] = r
		}
	}
	return results
}

// readsAhead counts the calls at the front that may run together, at least one.
func (t *turn) readsAhead(calls []*model.ToolCall) int {
	n := 0
	for n < len(calls) {
		tl, err := t.sets.step.Lookup(calls[n].Name)
		if err != nil || !tl.Spec().ReadOnly {
			break
		}
		n++
	}
	return max(n, 1)
}

// runGroup announces and judges the calls one after the other and then runs
// those that may, together.
func (t *turn) runGroup(ctx context.Context, group []*model.ToolCall) map[string]model.ToolResult {
	started := make([]*running, 0, len(group))
	for _, c := range group {
		if ctx.Err() != nil {
			break
		}
		started = append(started, t.begin(ctx, c))
	}
	var wg sync.WaitGroup
	for _, r := range started {
		wg.Go(func() { r.finish(ctx) })
	}
	wg.Wait()
	results := make(map[string]model.ToolResult, len(started))
	for _, r := range started {
		results[r.wish.ID] = r.result
		t.keepSpent(detached(ctx), r.spent)
	}
	return results
}

// running is one tool call on its way.
type running struct {
	*turn
	wish   *model.ToolCall
	shown  string // toolCallId, ours and unique
	call   *tool.Call
	refuse *refusal        // why it is not run; nil when it may be
	denied policy.Decision // what policy refused before the call was prepared
	judged policy.Decision // what policy says of the call, in the mode that holds
	acts   bool
	byHook bool // a hook answered in a person's place
	result model.ToolResult
	spent  spent // by its subagent

	confined bool                 // it runs in the sandbox, if it runs
	rung     string               // what confines it
	settings *sandbox.GitSettings // before it ran; nil where it may change them
	lacking  string               // why there is no sandbox that it could run in; "" when none was wanted
}

// begin announces a call and finds out whether it may run.
func (t *turn) begin(ctx context.Context, wish *model.ToolCall) *running {
	r := &running{turn: t, wish: wish, shown: session.NewID("c")}
	tl, err := r.prepare(ctx)
	if err != nil {
		r.refuse = &refusal{shown: err.Error()}
		_ = r.reportStopped(ctx, r.denied, err) // it does not run in any case
		err = r.announceBroken(ctx, tl)
	} else {
		r.acts = tl.Spec().Acts
		r.refuse, err = r.admit(ctx)
	}
	if err != nil {
		r.refuse = notRun(ctx, err)
	}
	return r
}

// admit announces a call that could be prepared and finds out whether it may
// run. However it ends, the points are told, once.
func (r *running) admit(ctx context.Context) (*refusal, error) {
	if err := r.announce(ctx); err != nil {
		return nil, errors.Join(err, r.reportStopped(ctx, policy.Decision{}, err))
	}
	if lost := r.wouldLose(); lost != nil {
		s := hook.Settled{Verdict: policy.Deny, Rule: "redacted", Reason: lost.shown, By: hook.ByPolicy}
		_ = r.reportSettled(ctx, s) // it does not run in any case
		return lost, nil
	}
	return r.leave(ctx, r.acts)
}

// prepare finds the tool and has it prepare the call, which changes nothing. The
// tool is nil when there is none of that name.
func (r *running) prepare(ctx context.Context) (tool.Tool, error) {
	tl, err := r.sets.step.Lookup(r.wish.Name)
	if err == nil && r.wish.Malformed != "" {
		err = fmt.Errorf("the input of %s is not a JSON object: send the call again", r.wish.Name)
	}
	if err != nil {
		return tl, err
	}
	env := r.env()
	if tl.Spec().Kind == tool.KindExecute {
		if err := r.confine(ctx, env); err != nil {
			return tl, err
		}
	}
	r.call, err = tl.Prepare(ctx, env, r.wish.Input)
	return tl, err
}

// refusal is why a call is not run: as people read it, and what the model is
// told besides.
type refusal struct{ shown, advice string }

func (r *refusal) result() tool.Result {
	text := r.shown
	if r.advice != "" {
		text += ". " + r.advice
	}
	return tool.Result{Text: text, Content: []tool.Content{{Text: r.shown}}, IsError: true}
}

// notRun says why a call was stopped on its way.
func notRun(ctx context.Context, err error) *refusal {
	if ctx.Err() != nil {
		return &refusal{shown: "not run: the user cancelled the turn"}
	}
	return &refusal{shown: "not run: " + err.Error()}
}

// env is what this call may use; questions it asks appear under its own id.
func (r *running) env() *tool.Env {
	return &tool.Env{
		Away:  r.away(),
		Roots: r.roots, Cwd: r.info.Cwd, Hands: r.Hands, Limits: r.agent.Limits, Reads: r.reads,
		Asker: asker{r}, Spawner: r.spawner(), Judge: r.forbids, Skills: r.skills.catalogue(), Procs: r.procs,
	}
}

func (r *running) announce(ctx context.Context) error {
	u := toolUpdate{
		Kind: session.KindToolCall, ID: r.shown, Title: visibleTitle(r.call.Title), Name: r.wish.Name,
		ToolKind: r.call.Kind, Status: statusPending, RawInput: r.wish.Input,
		Locations: locations(r.call.Locations),
	}
	if r.call.Diff != nil {
		u.Content = []toolContent{diffContent(r.call.Diff)}
	}
	return r.emit(ctx, session.KindToolCall, session.History, u)
}

// announceBroken announces a call that could not be prepared, so that its
// failure has something to stand on. tl is nil where there is no such tool.
func (r *running) announceBroken(ctx context.Context, tl tool.Tool) error {
	u := toolUpdate{
		Kind: session.KindToolCall, ID: r.shown, Title: r.wish.Name, Name: r.wish.Name,
		ToolKind: tool.KindOther, Status: statusPending, RawInput: r.wish.Input,
	}
	if tl != nil {
		u.ToolKind = tl.Spec().Kind
		if path := pathIn(r.wish.Input); path != "" {
			u.Title += " " + path
		}
	}
	return r.emit(ctx, session.KindToolCall, session.History, u)
}

// maxTitlePath is the longest path, in bytes, that a title still shows.
const maxTitlePath = 200

// pathIn is the path that the input of a call names, "" where there is none to
// show: most calls that cannot be prepared name one that does not exist or is
// out of bounds.
func pathIn(input jsontext.Value) string {
	var named struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(input, &named); err != nil || len(named.Path) > maxTitlePath {
		return ""
	}
	return printable.Line(named.Path)
}

// finish runs the call if it may and shows how it ended, whatever happened.
func (r *running) finish(ctx context.Context) {
	var res tool.Result
	if r.refuse != nil {
		res = r.refuse.result()
	} else {
		start := r.now()
		res = r.tellBare(ctx, r.run(ctx))
		took := r.now().Sub(start)
		if r.acts {
			r.recordEnd(ctx, res.IsError)
		}
		defer func() { r.passAfter(ctx, res, took) }()
	}
	if r.call != nil && r.call.Close != nil {
		r.call.Close()
	}
	r.result = model.ToolResult{CallID: r.wish.ID, IsError: res.IsError, Parts: r.cleanParts(resultParts(res, r.agent.Info(r.choice.Model)))}
	if err := r.showEnd(detached(ctx), res); err != nil && !errors.Is(err, context.Canceled) {
		r.result.Parts = append(r.result.Parts, model.Text("(the result could not be recorded: "+err.Error()+")"))
	}
}

func (r *running) run(ctx context.Context) tool.Result {
	err := r.emit(ctx, session.KindToolUpdate, session.History, toolUpdate{
		Kind: session.KindToolUpdate, ID: r.shown, Status: statusInProgress,
	})
	if err != nil {
		return notRun(ctx, err).result()
	}
	res := r.call.Run(ctx, tool.SinkFunc(func(content []tool.Content) {
		if content = shown(content, r.handle.choice().Output); len(content) == 0 {
			return
		}
		// Progress that cannot be shown any more is no reason to stop the tool.
		_ = r.emit(ctx, session.KindToolUpdate, session.History, toolUpdate{
			Kind: session.KindToolUpdate, ID: r.shown, Status: statusInProgress, Content: contents(content),
		})
	}))
	res = r.putBack(res)
	if res.Plan != nil {
		if err := r.showPlan(ctx, res.Plan); err != nil && ctx.Err() == nil {
			return tool.Result{Text: "the plan could not be shown: " + err.Error(), IsError: true}
		}
	}
	return res
}

func (r *running) showEnd(ctx context.Context, res tool.Result) error {
	u := toolUpdate{Kind: session.KindToolUpdate, ID: r.shown, Title: res.Title, Status: statusCompleted, RawOutput: res.RawOutput}
	output := r.handle.choice().Output
	if res.IsError {
		u.Status = statusFailed
		output = failureOutput(output)
	}
	if u.RawOutput == nil {
		u.RawOutput = outputJSON(res)
	}
	u.Content = contents(shown(res.Shown(), output))
	u.RawOutput = shownRaw(u.RawOutput, output)
	return r.emit(ctx, session.KindToolUpdate, session.History, u)
}

// outputJSON is the raw output of tools that have no structure of their own:
// whether it failed, and nothing that the content already holds.
func outputJSON(res tool.Result) jsontext.Value {
	if !res.IsError {
		return nil
	}
	b, err := json.Marshal(struct {
		Error string `json:"error"`
	}{res.Text})
	if err != nil {
		return nil
	}
	return b
}

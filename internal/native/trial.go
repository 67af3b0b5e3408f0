package native

import (
	"context"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Trial judges calls as a session would that is not there: by the tools, the
// roots, the sandbox and the policy the session would have. Nobody is asked and
// nothing is run. It is for one goroutine.
type Trial struct{ turn *turn }

// TrialRequest says what kind of session is tried.
type TrialRequest struct {
	Info session.Info // Agent, Owner, Cwd, Roots and Grants are looked at
	Mode policy.Mode  // "" for the mode a session begins in
}

// Judgement is what would become of a call.
type Judgement struct {
	Title    string // as people would see the call; "" when it cannot be prepared
	Decision policy.Decision
	Confined bool // a sandbox would confine the command
	// Err is why the call could not even be prepared, which no permission would
	// change; Decision is then meaningless.
	Err error
}

// Try begins a trial. A mode that such a session does not have is a
// *session.InvalidError. It must be closed.
func (d *Driver) Try(ctx context.Context, req TrialRequest) (*Trial, error) {
	quiet := New(d.opts)
	quiet.opts.Audit = nil
	quiet.opts.Sessions = unused{}
	quiet.opts.Agent = func(alias string) (*Agent, error) {
		agent, err := d.opts.Agent(alias)
		if err != nil {
			return nil, err
		}
		bare := *agent
		bare.Servers, bare.Points = nil, nil
		return &bare, nil
	}
	req.Info.ID = session.NewID("s")
	opened, err := quiet.Open(ctx, session.OpenRequest{Info: req.Info, Config: map[string]string{session.OptionMode: string(req.Mode)}})
	if err != nil {
		return nil, err
	}
	h := opened.(*handle)
	h.reads = nil // nothing was read before
	h.tools()
	t := &Trial{&turn{handle: h}}
	if req.Mode != "" && h.choices.now().Mode != req.Mode {
		return nil, errors.Join(session.Invalidf("a session of agent %s has no mode %s; it has %s", h.agent.Alias, req.Mode, modeNames(h.policy)), t.Close(ctx))
	}
	return t, nil
}

// unused lets a trial have the tool for subagents, which it never runs.
type unused struct{ Sessions }

func modeNames(p *policy.Policy) string {
	var names []string
	for _, m := range p.Modes() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// Mode is the mode the trial is in.
func (t *Trial) Mode() policy.Mode { return t.turn.choices.now().Mode }

// Tools are the names of the tools there are, without those of MCP servers,
// which are not connected.
func (t *Trial) Tools() []string {
	var names []string
	for _, s := range t.turn.sets.step.Specs() {
		names = append(names, s.Name)
	}
	return names
}

// Judge says what would become of a call. A tool of an MCP server is judged by
// its name and as one that acts.
func (t *Trial) Judge(ctx context.Context, name string, input jsontext.Value) Judgement {
	r := &running{turn: t.turn, wish: &model.ToolCall{ID: "trial", Name: name, Input: input}}
	if server, _, ok := strings.Cut(name, "__"); ok {
		s := policy.Subject{Tool: name, Server: server, Acts: true, Cwd: r.info.Cwd}
		return Judgement{Title: name, Decision: r.decide(s)}
	}
	_, err := r.prepare(ctx)
	if r.call != nil && r.call.Close != nil {
		defer r.call.Close()
	}
	switch {
	case err == nil && r.call.Question != nil:
		return Judgement{Title: r.call.Title, Decision: questionDecision()}
	case err == nil:
		return Judgement{Title: r.call.Title, Decision: r.decide(r.call.Subject), Confined: r.confined && !r.call.Subject.Outside}
	case r.denied.Verdict == policy.Deny:
		return Judgement{Decision: r.denied, Confined: r.confined}
	case errors.Is(err, fsroot.ErrForbidden):
		return Judgement{Decision: policy.Decision{Verdict: policy.Deny, Rule: "forbidden_paths", Reason: err.Error(), Risk: policy.High}}
	case errors.Is(err, fsroot.ErrOutside):
		return Judgement{Decision: policy.Decision{Verdict: policy.Deny, Rule: "workspace_only", Reason: err.Error(), Risk: policy.High}}
	}
	return Judgement{Err: err}
}

// Close frees what the trial opened.
func (t *Trial) Close(ctx context.Context) error { return t.turn.Close(ctx) }

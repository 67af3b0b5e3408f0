package cli

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/transcript"
)

// replayed is one call of a session, judged anew.
type replayed struct {
	Call  string         `json:"call"`
	Turn  string         `json:"turn"`
	Then  string         `json:"then"` // allow, ask, deny or failed
	How   string         `json:"how"`
	Now   string         `json:"now"` // allow, ask, deny or failed
	Why   string         `json:"why,omitzero"`
	Input jsontext.Value `json:"input,omitzero"`
	judged
}

// replaySummary counts the calls by what would become of them now.
type replaySummary struct {
	Session string         `json:"session"`
	Agent   string         `json:"agent"`
	Mode    string         `json:"mode"`
	Calls   []replayed     `json:"calls"`
	Now     map[string]int `json:"now"`
	Changed int            `json:"changed"`
}

func (i *invocation) replaySession(cmd *cobra.Command, t *policyTest, args []string) error {
	if len(args) > 0 || t.commandSet || t.readSet || t.writeSet || t.tool != "" {
		return usagef("--session judges the calls of a session; name nothing else to test")
	}
	return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
		info, err := s.Find(ctx, t.session)
		if err != nil {
			return err
		}
		calls, err := s.Calls(ctx, info.ID)
		if err != nil {
			return err
		}
		summary, err := i.judgeAnew(ctx, t, info, calls)
		if err != nil {
			return err
		}
		if t.asJSON {
			return printJSON(i.env.Stdout, summary)
		}
		return i.printReplay(summary)
	})
}

// judgeAnew judges each call of a session by the present policy.
func (i *invocation) judgeAnew(ctx context.Context, t *policyTest, info session.Info, calls []transcript.Call) (sum replaySummary, err error) {
	home, err := i.home()
	if err != nil {
		return sum, err
	}
	trial, err := app.OpenTrial(ctx, app.TrialOptions{
		Home: home, Environ: i.env.Environ, Agent: t.agent, Mode: t.mode, Cwd: t.cwd, Session: &info,
	})
	if err != nil {
		return sum, err
	}
	defer func() {
		if closeErr := trial.Close(ctx); err == nil {
			err = closeErr
		}
	}()
	sum = replaySummary{Session: info.ID, Agent: trial.Agent, Mode: string(trial.Mode()), Calls: []replayed{}, Now: map[string]int{}}
	for _, c := range calls {
		r := replayed{Call: c.ID, Turn: c.Turn, Input: c.Input}
		r.Then, r.How = app.Past(c)
		j := trial.Judge(ctx, c.Tool, c.Input)
		r.judged = judgedOf(c.Tool, j)
		r.Now = r.Verdict
		if r.Title == "" {
			r.Title = c.Title
		}
		if j.Err != nil {
			r.Now, r.Verdict, r.Why = "failed", "", j.Err.Error()
		}
		sum.Now[r.Now]++
		if r.Now != r.Then {
			sum.Changed++
		}
		sum.Calls = append(sum.Calls, r)
	}
	return sum, nil
}

func (i *invocation) printReplay(s replaySummary) error {
	w := tabwriter.NewWriter(i.env.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "THEN\tNOW\tRULE\tCALL")
	for _, c := range s.Calls {
		rule := c.Rule
		if c.Now == "failed" {
			rule = c.Why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.How, c.Now, cell(rule), cell(c.Title))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(i.env.Stdout, "\n%d calls by agent %s in mode %s: %d allowed, %d asked about, %d refused, %d that cannot be made; %d differ from then\n",
		len(s.Calls), s.Agent, s.Mode, s.Now["allow"], s.Now["ask"], s.Now["deny"], s.Now["failed"], s.Changed)
	return err
}

package native_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// asking is a sink that only answers permissions.
type asking struct {
	ask func(ctx context.Context) (session.Verdict, error)
}

func (asking) Emit(context.Context, ...session.Draft) error { return nil }
func (a asking) Ask(ctx context.Context, _ session.Kind, _ jsontext.Value) (session.Verdict, error) {
	return a.ask(ctx)
}
func (asking) CanAsk(session.Kind) bool                         { return true }
func (asking) Change(context.Context, session.InfoChange) error { return nil }

// The mode that holds when a call could begin decides, whatever was answered,
// and the other way round a person's no is not overruled by a mode.
func TestModeAndAnswerAtOnce(t *testing.T) {
	yes := session.Verdict{Outcome: session.Selected, Option: "allow-once"}
	no := session.Verdict{Outcome: session.Declined, Option: "reject-once"}
	for name, tc := range map[string]struct {
		modes   []string // set while the request is open
		verdict session.Verdict
		waits   bool // the sink hears of the withdrawal first
		writes  bool
	}{
		"a yes as plan is set":                 {[]string{"plan"}, yes, false, false},
		"a no as accept-edits is set":          {[]string{"accept-edits"}, no, false, false},
		"a yes as accept-edits is set":         {[]string{"accept-edits"}, yes, false, true},
		"a yes after plan and back":            {[]string{"plan", "ask"}, yes, false, true},
		"withdrawn by plan":                    {[]string{"plan"}, session.Verdict{}, true, false},
		"withdrawn by accept-edits":            {[]string{"accept-edits"}, session.Verdict{}, true, true},
		"withdrawn by accept-edits, then plan": {[]string{"accept-edits", "plan"}, session.Verdict{}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var h session.Handle
			sink := asking{func(ctx context.Context) (session.Verdict, error) {
				for _, mode := range tc.modes {
					if _, err := h.Set(t.Context(), "", "mode", mode); err != nil {
						t.Error(err)
					}
				}
				if !tc.waits {
					return tc.verdict, nil
				}
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), session.ErrSuperseded) {
					t.Errorf("the request is withdrawn because %v", context.Cause(ctx))
				}
				return session.Verdict{Outcome: session.Withdrawn}, ctx.Err()
			}}
			d := native.New(native.Options{Agent: func(string) (*native.Agent, error) { a := w.agent; return &a, nil }})
			h, err := d.Open(t.Context(), session.OpenRequest{Info: session.Info{ID: "s_1", Agent: "main", Cwd: w.cwd}, Sink: sink})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = h.Close(context.Background()) }()
			prompt := []jsontext.Value{jsontext.Value(`{"type":"text","text":"D:TOOL write x.txt x"}`)}
			if _, err := h.Prompt(t.Context(), session.Turn{ID: "t_1", Content: prompt}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(w.cwd, "x.txt")); (err == nil) != tc.writes {
				t.Errorf("written: %v, want %v", err == nil, tc.writes)
			}
		})
	}
}

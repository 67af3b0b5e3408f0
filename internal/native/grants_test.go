package native

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// fullSink is one that stores nothing.
type fullSink struct{ session.Sink }

func (fullSink) Change(context.Context, session.InfoChange) error {
	return errors.New("the disk is full")
}

// A grant that is not stored does not hold, and one that was taken back does not
// either.
func TestGrantsThatAreNotStored(t *testing.T) {
	one, two := policy.Grant{Label: "one"}, policy.Grant{Label: "two"}
	h := &handle{agent: &Agent{}, sink: fullSink{}}
	for name, c := range map[string]struct{ change, want []policy.Grant }{
		"given":      {[]policy.Grant{one, two}, []policy.Grant{one}},
		"taken back": {nil, nil},
	} {
		h.grants.set([]policy.Grant{one})
		err := h.setGrants(t.Context(), func([]policy.Grant) ([]policy.Grant, error) { return c.change, nil })
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := h.grants.now(); len(got) != len(c.want) || len(got) > 0 && !cmp.Equal(got, c.want) {
			t.Errorf("%s: it holds %v", name, got)
		}
	}
}

// Only people stand for what a command does to git's settings.
func TestVouched(t *testing.T) {
	steps := func(rules ...string) (d policy.Decision) {
		for _, r := range rules {
			d.Steps = append(d.Steps, policy.Step{Rule: r})
		}
		return d
	}
	asked := steps("git")
	asked.Verdict = policy.Ask
	for _, c := range []struct {
		name   string
		d      policy.Decision
		byHook bool
		want   bool
	}{
		{"a person said yes", asked, false, true},
		{"a hook said yes", asked, true, false},
		{"granted before", steps("grant", "auto_approve shell"), false, true},
		{"only in part", steps("grant", "allowed"), false, false},
		{"nobody knows of it", steps(), false, false},
	} {
		if got := vouched(c.d, c.byHook); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

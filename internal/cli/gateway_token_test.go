package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/door"
)

func TestParseLife(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"12h": 12 * time.Hour, "90m": 90 * time.Minute, "30d": 720 * time.Hour, "1d": 24 * time.Hour, "99999999d": maxLifeDays * 24 * time.Hour,
	} {
		if got, err := parseLife(text); got != want || err != nil {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"d", "0d", "0", "-1d", "-1h", "1.5d", "soon", "1w", "1d2h", " 1d"} {
		if got, err := parseLife(text); err == nil {
			t.Errorf("%q is %v; want an error", text, got)
		}
	}
}

func TestPrintTokens(t *testing.T) {
	at := time.Date(2030, 5, 1, 12, 0, 0, 0, time.Local)
	var b strings.Builder
	err := printTokens(&b, []door.Token{
		{Name: "ci", Owner: "ci", Role: "prompter", Scope: []string{"main", "other"}, Created: at, Expires: at.Add(time.Hour), Used: at},
		{Name: "old", Owner: "local", Role: "approver", Created: at, Expires: at},
		{Name: "laptop", Owner: "local", Role: "approver", Created: at},
	}, at)
	want := `NAME    OWNER  ROLE      AGENTS      CREATED     EXPIRES           LAST USED
ci      ci     prompter  main,other  2030-05-01  2030-05-01 13:00  2030-05-01
old     local  approver  all         2030-05-01  expired           never
laptop  local  approver  all         2030-05-01  never             never
`
	if diff := cmp.Diff(want, b.String()); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

package fieldtest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/audit"
)

// Two processes on one home act at the same time, and one is killed in the
// middle: everything that was done is on record, in one whole chain.
func TestAuditOfTwoProcesses(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `auto_approve = ["file_write"]`)
	a, s := w.Opened()
	b, s2 := w.Opened()
	for i := range 5 {
		first := a.BeginPrompt(s, fmt.Sprintf("D:TOOL write a%d.txt x ; D:SAY done", i))
		second := b.BeginPrompt(s2, fmt.Sprintf("D:TOOL write b%d.txt x ; D:SAY done", i))
		for who, id := range map[*Agent]string{a: first, b: second} {
			if got := who.Response(id).StopReason(); got != "end_turn" {
				t.Fatal(got)
			}
		}
	}
	b.BeginPrompt(s2, "D:LOOP")
	b.Crash()
	a.Prompt(s, "D:TOOL write last.txt x ; D:SAY done")
	a.Quit()
	written := map[string]int{}
	err := audit.Read(filepath.Join(w.Home, "data"), func(l audit.Line) error {
		if e := l.Entry; e.Tool == "file_write" && e.Owner == "local" && e.Agent == "main" && e.Turn != "" {
			written[filepath.Base(e.What)+" "+string(e.Event)+" "+e.Verdict+e.Outcome]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a0", "a4", "b0", "b4", "last"} {
		if written[name+".txt call allow"] != 1 || written[name+".txt result completed"] != 1 {
			t.Errorf("%s is not on record: %v", name, written)
		}
	}
	if out := w.grapnel("", "audit", "verify"); !strings.HasPrefix(out, "intact: ") {
		t.Error(out)
	}
	if out := w.grapnel("", "audit", "export", "--session", s); strings.Contains(out, s2) || strings.Count(out, "\n") < 13 {
		t.Errorf("exported:\n%s", out)
	}
}

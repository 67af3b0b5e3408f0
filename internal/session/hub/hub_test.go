package hub_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

func TestOnePromptEndToEnd(t *testing.T) {
	script := &sessiontest.Script{}
	h := hub.New(hub.Options{
		Ledger:  memory.New(),
		Drivers: func(string) (session.Driver, error) { return script, nil },
	})
	a, err := h.Create(t.Context(), hub.NewSession{Owner: "local", Agent: "main", Cwd: "/w", Attach: session.AttachRequest{Role: session.Approver}})
	if err != nil {
		t.Fatal(err)
	}
	c := sessiontest.Pump(t, a)
	if end := c.Say("say hello\ntool t1\nopen t2"); end.Stop != session.EndTurn {
		t.Fatalf("turn ended %+v", end)
	}
	want := "turn_start\nagent: hello\ntool_call: t1 pending\ntool_call_update: t1 completed\n" +
		"tool_call: t2 pending\ntool_call_update: t2 completed\nend: end_turn\n"
	if d := cmp.Diff(want, c.Transcript()); d != "" {
		t.Error(d)
	}
	if err := h.Close(t.Context(), a.Info().ID); err != nil {
		t.Fatal(err)
	}
	c.Drain()
}

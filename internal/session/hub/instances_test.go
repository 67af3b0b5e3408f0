package hub_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/sqlite"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// process is one of several on a store.
type process struct {
	*sessiontest.Env
	inst *instance.Instance
}

func startProcess(t *testing.T, dir string) *process {
	t.Helper()
	in, err := instance.Open(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	l, err := sqlite.Open(t.Context(), filepath.Join(dir, "sessions.db"), in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return &process{Env: sessiontest.NewEnv(t, l, hub.Limits{}), inst: in}
}

func TestTwoProcessesOnOneStore(t *testing.T) {
	dir := t.TempDir()
	a, b := startProcess(t, dir), startProcess(t, dir)
	c := a.New()
	id := c.Info().ID
	running := c.Send("say from a\nwait never")
	c.UntilText("from a")

	var elsewhere *session.ActiveElsewhereError
	if _, err := b.Hub.Attach(t.Context(), id, sessiontest.Approver(session.ReplayHistory)); !errors.As(err, &elsewhere) {
		t.Fatalf("attach while it is active in a: %v", err)
	}
	if elsewhere.Session != id || elsewhere.Instance != a.inst.ID() || elsewhere.Socket == "" {
		t.Errorf("got %+v", elsewhere)
	}
	if b.Hub.Active() != 0 {
		t.Error("the refused session counts")
	}
	if s, err := b.Hub.Status(t.Context(), id); err != nil || !s.Active {
		t.Errorf("status in b: %+v, %v", s, err)
	}
	if err := b.Hub.Close(t.Context(), id); !errors.Is(err, session.ErrNotActive) {
		t.Errorf("close in b: %v", err)
	}
	f, err := b.Hub.Fork(t.Context(), id, hub.NewSession{Attach: sessiontest.Approver(session.ReplayHistory)})
	if err != nil {
		t.Errorf("fork in b: %v", err)
	} else {
		f.Detach()
	}

	// The process of a dies: its lock is free, though it still thinks it runs.
	if err := a.inst.Close(); err != nil {
		t.Fatal(err)
	}
	d := b.Join(id, session.AttachRequest{Owner: "local", Role: session.Approver, Replay: session.ReplayAfter})
	if end := d.End(running.Turn); end.Error == nil || end.Reason != "interrupted" {
		t.Errorf("in b its turn ended %+v", end)
	}
	_ = c.Cancel(context.Background()) // what a does now comes too late
	if end := d.Say("say from b"); end.Stop != session.EndTurn {
		t.Errorf("got %+v", end)
	}
	if got := d.Transcript(); !strings.Contains(got, "agent: from a") || !strings.Contains(got, "agent: from b") {
		t.Errorf("b shows\n%s", got)
	}
	b.CheckLedger(id)
}

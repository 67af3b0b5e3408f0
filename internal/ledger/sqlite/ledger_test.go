package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/ledgertest"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func openInstance(t testing.TB, dir string) *instance.Instance {
	t.Helper()
	in, err := instance.Open(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// openIn opens a ledger in dir as an instance of its own.
func openIn(t testing.TB, dir string) *Ledger {
	t.Helper()
	l, err := Open(t.Context(), filepath.Join(dir, "data", "sessions.db"), openInstance(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return l
}

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T) session.Ledger { return openIn(t, t.TempDir()) })
}

func TestLedgersOnOneStore(t *testing.T) {
	ledgertest.RunShared(t, func(t *testing.T) (a, b session.Ledger, stop func()) {
		dir := t.TempDir()
		other := openIn(t, dir)
		return openIn(t, dir), other, func() { other.inst.Close() }
	})
}

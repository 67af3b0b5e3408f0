package hub_test

import (
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/ledger/sqlite"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHubOnMemory(t *testing.T) {
	sessiontest.RunHub(t, func(*testing.T) session.Ledger { return memory.New() })
}

func TestHubOnSQLite(t *testing.T) {
	sessiontest.RunHub(t, func(t *testing.T) session.Ledger { return openSQLite(t) })
}

func openSQLite(t testing.TB) session.Ledger {
	t.Helper()
	dir := t.TempDir()
	in, err := instance.Open(filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := sqlite.Open(t.Context(), filepath.Join(dir, "sessions.db"), in)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

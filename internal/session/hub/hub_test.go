package hub_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

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

func TestScriptIsADriver(t *testing.T) {
	sessiontest.RunDriver(t, func(*testing.T) sessiontest.Subject {
		return sessiontest.Subject{
			Driver: &sessiontest.Script{}, Cwd: "/w",
			Say: "say hello", Tool: "tool a", Stall: "wait never", Work: "work a", Ask: "askfor a", Fail: "fail no",
		}
	})
}

func TestRandomInterleavings(t *testing.T) {
	seed, rounds := uint64(time.Now().UnixNano()), 30
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			sessiontest.RunRandom(t, func(*testing.T) session.Ledger { return memory.New() }, seed+uint64(i), 120)
		})
	}
	t.Run("SQLite", func(t *testing.T) {
		sessiontest.RunRandom(t, func(t *testing.T) session.Ledger { return openSQLite(t) }, seed, 200)
	})
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

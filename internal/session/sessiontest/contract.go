package sessiontest

import (
	"context"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// contract is one thing that holds of every session.
type contract struct {
	name   string
	limits hub.Limits
	test   func(*Env)
}

// RunHub tests sessions on a ledger: newLedger returns an empty one, which it
// closes when the test ends.
func RunHub(t *testing.T, newLedger func(t *testing.T) session.Ledger) {
	for _, list := range [][]contract{turnContracts(), queueContracts(), commandContracts(), callContracts(), peopleContracts(), viewContracts(), lifeContracts(), storeContracts()} {
		for _, c := range list {
			t.Run(c.name, func(t *testing.T) {
				c.test(NewEnv(t, newLedger(t), c.limits))
			})
		}
	}
}

// background is for what must happen after the test's context has ended.
func background() context.Context { return context.Background() }

package memory_test

import (
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/ledgertest"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(*testing.T) session.Ledger { return memory.New() })
}

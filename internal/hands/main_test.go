package hands

import (
	"testing"

	"go.uber.org/goleak"

	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // guards children, as in the program
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

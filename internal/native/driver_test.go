package native_test

import (
	"testing"

	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// TestDriverContract holds the native driver to what every driver owes the hub.
func TestDriverContract(t *testing.T) {
	sessiontest.RunDriver(t, func(t *testing.T) sessiontest.Subject {
		w := newWorld(t)
		w.agent.Policy.AllowedCommands = []string{"echo", "sleep"}
		return sessiontest.Subject{
			Driver: native.New(native.Options{
				Agent: func(string) (*native.Agent, error) { a := w.agent; return &a, nil },
			}),
			Cwd:   w.cwd,
			Say:   "D:SAY hello",
			Tool:  "D:PAR 3 echo x",
			Stall: "D:STALL",
			Work:  "D:TOOL shell sleep 600",
			Ask:   "D:TOOL write asked.txt x",
			Fail:  "D:HTTP 400",
		}
	})
}

//go:build interop

package conformance

import (
	"os"
	"slices"
	"testing"

	"github.com/grapnel-ai/grapnel/interop/peer"
	"github.com/grapnel-ai/grapnel/interop/schema"
	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// official is the schema that every message of every test is held against.
var official *schema.Schema

func TestMain(m *testing.M) {
	var err error
	if official, err = schema.Open("../.."); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	testbed.Main(m)
}

func checker(*testing.T) peer.Checker { return official }

func TestSchema(t *testing.T) {
	verify(t, []requirement{
		{"ACP-SCHEMA-001", func(_ *testing.T, c *client) {
			session := c.setup().ID
			c.prompt(session, text("D:THINK hm ; D:SAY look ; D:TOOL read README.md"))
			c.prompt(session, text("D:TOOL write new.txt some text"))
			c.prompt(session, text("D:TOOL shell touch made"))
			c.load(session)
			c.list(object{})
			c.end() // fails on a message that does not fit
		}},
		{"ACP-SCHEMA-002", rootsAreLeftAlone},
	})
}

// deliberate are the members at the root of results that ACP does not have and
// that we send all the same: older clients read models, and the dialect the rest.
var deliberate = []string{"content", "models", "sessionId", "workspaceDir"}

// rootsAreLeftAlone looks for other members of that kind.
func rootsAreLeftAlone(t *testing.T, c *client) {
	session := c.newSession()
	calls := []struct {
		method string
		params any
	}{
		{"initialize", initializeParams(1)},
		{"session/new", object{"cwd": c.bed.Work, "mcpServers": []any{}}},
		{"session/prompt", promptParams(session, text("D:SAY hello"))},
		{"session/load", object{"sessionId": session, "cwd": c.bed.Work, "mcpServers": []any{}}},
		{"session/resume", object{"sessionId": session, "cwd": c.bed.Work}},
		{"session/list", object{}},
		{"session/close", object{"sessionId": session}},
	}
	for _, call := range calls {
		m := c.Must(call.method, call.params, nil)
		for _, name := range official.Strangers(call.method, "Response", m.Result) {
			if !slices.Contains(deliberate, name) {
				t.Errorf("the result of %s has %s", call.method, name)
			}
		}
	}
}

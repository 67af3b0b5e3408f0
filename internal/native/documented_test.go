package native

import (
	"os"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// The page about commands and options names all of them.
func TestCommandsAndOptionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/commands-in-sessions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range builtIns() {
		row := "| `/" + c.Name
		waits := strings.Contains(lineWith(string(page), row), "waits for the turn")
		if !strings.Contains(string(page), row) || waits != (c.Run.beside == nil) {
			t.Errorf("/%s is not in the table of commands, or not as it is", c.Name)
		}
	}
	for _, option := range []string{
		session.OptionMode, session.OptionModel, session.OptionThought, session.OptionOutput,
		session.OptionReasoning, session.OptionUsage, session.OptionElevated,
	} {
		if !strings.Contains(string(page), "| `"+option+"` |") {
			t.Errorf("%s is not in the table of options", option)
		}
	}
}

func lineWith(text, start string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, start) {
			return line
		}
	}
	return ""
}

package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/tool"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

// TestAttachmentFacts holds what the page on attachments says against the code.
func TestAttachmentFacts(t *testing.T) {
	limit := fmt.Sprintf("%d MiB", upload.MaxBytes>>20)
	for _, part := range []string{"In a prompt", "Files for you"} {
		if !strings.Contains(section(t, "docs/attachments.md", part), limit) {
			t.Errorf("%q does not name the limit of %s", part, limit)
		}
	}
	if !strings.Contains(section(t, "docs/attachments.md", "Uploads"), "`"+upload.Dir+"/<sha256>.<ext>`") {
		t.Error("the place of uploads is not named")
	}
	if _, err := tool.NewSet(tool.Default()...).Lookup("deliver_file"); err != nil {
		t.Error(err)
	}
	off := strings.Contains(section(t, "docs/attachments.md", "Pages of the web"), "The tool `web_fetch` is off.")
	if off == config.Default().Tools.WebFetch.Enabled {
		t.Error("whether web_fetch is on by default is told wrong")
	}
}

package serve_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Lists of a client's that cost much more than the bytes they come in are
// bounded, and refused as a whole.
func TestListsAreBounded(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	dir, err := json.Marshal(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	many := func(item string, n int) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }
	block := `{"type":"text","text":"x"}`
	server := `{"type":"http","name":"x","url":"http://127.0.0.1:1","headers":[]}`
	for _, tt := range []struct{ method, params string }{
		{"session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":%s}`, id, many(block, 4097))},
		{"_session/steering", fmt.Sprintf(`{"sessionId":%q,"prompt":%s}`, id, many(block, 4097))},
		{"session/new", fmt.Sprintf(`{"cwd":%s,"mcpServers":%s}`, dir, many(server, 101))},
		{"session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%s,"mcpServers":%s}`, id, dir, many(server, 101))},
		{"session/new", fmt.Sprintf(`{"cwd":%s,"mcpServers":[],"additionalDirectories":%s}`, dir, many(string(dir), 257))},
		{"session/resume", fmt.Sprintf(`{"sessionId":%q,"cwd":%s,"mcpServers":[],"additionalDirectories":%s}`, id, dir, many(string(dir), 257))},
	} {
		if _, err := a.call(tt.method, tt.params); err == nil || !strings.Contains(err.Error(), "at most") {
			t.Errorf("%s: %v", tt.method, err)
		}
	}
	empty := strings.Repeat(`{"type":"text","text":""},`, 4095)
	a.must("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[%s{"type":"text","text":"say x"}]}`, id, empty))
}

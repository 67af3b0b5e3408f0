package docs

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

// TestMessagesDecode reads the messages shown as the protocol's own types.
func TestMessagesDecode(t *testing.T) {
	for _, b := range blocksIn(t, "jsonl") {
		for line := range strings.Lines(b.text) {
			if err := decodeMessage(line); err != nil {
				t.Errorf("%s:%d: %v: %s", b.page, b.line, err, line)
			}
		}
	}
}

func decodeMessage(line string) error {
	var m struct {
		Version string         `json:"jsonrpc"`
		ID      int            `json:"id"`
		Method  string         `json:"method"`
		Params  jsontext.Value `json:"params"`
	}
	if err := json.Unmarshal([]byte(line), &m, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	into := map[string]any{
		v1.MethodSessionNew: new(v1.NewSessionRequest), v1.MethodSessionResume: new(v1.ResumeSessionRequest),
		"session/update": new(v1.SessionNotification),
	}[m.Method]
	return json.Unmarshal(m.Params, into)
}

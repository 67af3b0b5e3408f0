package v1_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

func TestChunkRoundTrip(t *testing.T) {
	var n v1.SessionNotification
	if err := json.Unmarshal([]byte(chunk), &n); err != nil {
		t.Fatal(err)
	}
	if got := n.Update.Kind(); got != v1.SessionUpdateKindAgentMessageChunk {
		t.Errorf("kind = %q", got)
	}
	out, err := json.Marshal(&n)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"sessionId":"s_4k7c2m5v3q6x","update":{"sessionUpdate":"agent_message_chunk",` +
		`"content":{"type":"text","text":"The parser keeps what it does not know, so that a proxy loses nothing."},"messageId":"m_1"}}`
	if string(out) != want {
		t.Errorf("encoded as\n%s\nwant\n%s", out, want)
	}
}

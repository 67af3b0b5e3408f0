package v1_test

import (
	"math"
	"testing"

	"github.com/go-json-experiment/json"

	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

// chunk is a usual session/update: 186 bytes, text and a message id.
const chunk = `{"sessionId":"s_4k7c2m5v3q6x","update":{"sessionUpdate":"agent_message_chunk",` +
	`"messageId":"m_1","content":{"type":"text","text":"The parser keeps what it does not know, so that a proxy loses nothing."}}}`

func BenchmarkDecodeChunk(b *testing.B) {
	data := []byte(chunk)
	b.ReportAllocs()
	for b.Loop() {
		var n v1.SessionNotification
		if err := json.Unmarshal(data, &n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeChunk(b *testing.B) {
	id := "m_1"
	n := v1.SessionNotification{SessionID: "s_4k7c2m5v3q6x", Update: v1.SessionUpdate{AgentMessageChunk: &v1.ContentChunk{
		MessageID: &id,
		Content:   v1.ContentBlock{Text: &v1.TextContent{Text: "The parser keeps what it does not know, so that a proxy loses nothing."}},
	}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(&n); err != nil {
			b.Fatal(err)
		}
	}
}

// The budget of a chunk on the path of a native session.
func TestDecodeChunkAllocations(t *testing.T) {
	const most = 12
	data := []byte(chunk)
	got := math.Inf(1)
	for range 50 { // the least counts: the race detector empties pools at random
		got = min(got, testing.AllocsPerRun(1, func() {
			if err := json.Unmarshal(data, new(v1.SessionNotification)); err != nil {
				t.Fatal(err)
			}
		}))
	}
	if got > most {
		t.Errorf("a chunk takes %v allocations to decode, want at most %d", got, most)
	}
}

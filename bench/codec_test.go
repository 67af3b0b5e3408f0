package bench

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp/v1"
)

// chunk is the params of a usual session/update.
const chunk = `{"sessionId":"s_4k7c2m5v3q6x4k7c2m5v3q6xab","update":{"sessionUpdate":"agent_message_chunk",` +
	`"messageId":"m_1","content":{"type":"text","text":"The parser keeps what it does not know, so a proxy loses nothing."}}}`

// rounds are measured together, since one takes too little time to measure.
const rounds = 64

// BenchmarkDecodeChunk decodes an agent_message_chunk into its type.
func BenchmarkDecodeChunk(b *testing.B) {
	benchRounds(b, func() error { return json.Unmarshal([]byte(chunk), new(v1.SessionNotification)) })
}

// BenchmarkEncodeChunk encodes it again.
func BenchmarkEncodeChunk(b *testing.B) {
	var n v1.SessionNotification
	if err := json.Unmarshal([]byte(chunk), &n); err != nil {
		b.Fatal(err)
	}
	benchRounds(b, func() error {
		_, err := json.Marshal(&n)
		return err
	})
}

func benchRounds(b *testing.B, f func() error) {
	b.Helper()
	var s sample
	for b.Loop() {
		s.add(func() {
			for range rounds {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.ReportMetric(float64(s.p50())/rounds, "ns-p50")
	b.ReportMetric(testing.AllocsPerRun(100, func() { _ = f() }), "allocs")
}

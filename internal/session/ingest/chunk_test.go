package ingest

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

const usualChunk = `{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a \"word\"\nhé \\"},"messageId":"m1"}}`

func TestUsualSeesWhatTheDecoderSees(t *testing.T) {
	tests := []struct {
		name, body string
		ok         bool
	}{
		{"usual", usualChunk, true},
		{"thought without a message", `{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":""}}}`, true},
		{"user", `{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"x"}}}`, true},
		{"no chunk", `{"sessionId":"s","update":{"sessionUpdate":"plan","content":{"type":"text","text":"x"}}}`, false},
		{"escape by number", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\u00e9"}}}`, false},
		{"meta", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}},"_meta":{}}`, false},
		{"white space", chunk, false},
		{"bad UTF-8", "{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"\xff\"}}}", false},
		{"control character", "{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"\n\"}}}", false},
		{"bad escape", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\x"}}}`, false},
		{"something behind it", usualChunk + `1`, false},
		{"cut in an escape", `{"sessionId":"\`, false},
		{"number for an id", `{"sessionId":1,"update":{}}`, false},
		{"empty", ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := usual(jsontext.Value(tt.body))
			if ok != tt.ok {
				t.Fatalf("it was taken: %v, want %v", ok, tt.ok)
			}
			if !ok {
				return
			}
			want, err := decode(jsontext.Value(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzUsual(f *testing.F) {
	f.Add([]byte(usualChunk))
	f.Add([]byte(chunk))
	f.Add([]byte(`{"sessionId":"s","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"\\\"é"}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		got, ok := usual(in)
		if !ok {
			return
		}
		want, err := decode(in)
		if err != nil {
			t.Fatalf("took invalid %q: %v", in, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q: %s", in, d)
		}
	})
}

func BenchmarkLookUsualChunk(b *testing.B) {
	body := jsontext.Value(usualChunk)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Look(body); err != nil {
			b.Fatal(err)
		}
	}
}

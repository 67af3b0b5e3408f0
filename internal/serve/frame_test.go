package serve

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

func marked(t testing.TB, body string) *session.Event {
	t.Helper()
	facts, err := ingest.Look(jsontext.Value(body))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return &session.Event{Seq: 7, Version: protocolVersion, Marks: facts.Marks, Body: jsontext.Value(body)}
}

func TestSplicedKeepsEveryOtherByte(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{
			"plain", `{"sessionId":"x","update":{"a": 1}}`,
			`{"sessionId":"s_1","update":{"a": 1},"_meta":{"grapnel":{"seq":7}}}`,
		},
		{
			"meta after", `{"sessionId":"x","_meta":{"k":"v"},"update":{}}`,
			`{"sessionId":"s_1","_meta":{"grapnel":{"seq":7},"k":"v"},"update":{}}`,
		},
		{
			"meta before", `{"_meta": { "k" : 1.0 } ,"update":{},"sessionId":"a longer id than ours"}`,
			`{"_meta": {"grapnel":{"seq":7}, "k" : 1.0 } ,"update":{},"sessionId":"s_1"}`,
		},
		{
			"meta empty", `{"sessionId":"x","_meta":{},"update":{}}`,
			`{"sessionId":"s_1","_meta":{"grapnel":{"seq":7}},"update":{}}`,
		},
		{
			"meta null", `{"sessionId":"x","_meta":null,"update":{}}`,
			`{"sessionId":"s_1","_meta":{"grapnel":{"seq":7}},"update":{}}`,
		},
		{
			"braces in strings", `{"sessionId":"x","update":{"text":"}{\"}"}} `,
			`{"sessionId":"s_1","update":{"text":"}{\"}"},"_meta":{"grapnel":{"seq":7}}}`,
		},
	} {
		if got := string(appendSpliced(nil, marked(t, c.body), "s_1")); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestSplicedWithoutANumber(t *testing.T) {
	e := marked(t, `{"sessionId":"x","_meta":{"k":1},"update":{}}`)
	e.Seq = 0
	if got, want := string(appendSpliced(nil, e, "s_1")), `{"sessionId":"s_1","_meta":{"k":1},"update":{}}`; got != want {
		t.Errorf("got %s", got)
	}
}

// FuzzSpliced: whatever a driver emits, what leaves is one JSON object with our
// session id and number.
func FuzzSpliced(f *testing.F) {
	for _, seed := range []string{
		`{"sessionId":"x","update":{}}`, `{"_meta":{"a":[1,{}]},"sessionId":"x"}`, `{"_meta":null,"sessionId":"\u00e9"}`,
		`{"sessionId":"x","update":{"_meta":{"b":1},"sessionId":"inner"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		facts, err := ingest.Look(jsontext.Value(body))
		if err != nil || facts.Marks.SessionID.IsZero() {
			return // the hub takes no such event
		}
		e := &session.Event{Seq: 7, Marks: facts.Marks, Body: jsontext.Value(body)}
		out := jsontext.Value(appendSpliced(nil, e, "s_1"))
		if !out.IsValid() {
			t.Fatalf("%s became %s", body, out)
		}
		if got := string(lookup(out, "sessionId")); got != `"s_1"` {
			t.Errorf("session id %s in %s", got, out)
		}
		if got := string(lookup(out, "_meta", "grapnel", "seq")); got != "7" {
			t.Errorf("seq %s in %s", got, out)
		}
	})
}

func TestNoticeForClientsWithoutNotices(t *testing.T) {
	body := raw(`{"sessionId":"x","update":{"sessionUpdate":"notice","severity":"warning","title":"T","description":"D"}}`)
	want := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s_1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"T: D\n"}}}}`
	if got := string(noticeAsText("s_1", body)); got != want {
		t.Errorf("got %s", got)
	}
	if got := noticeAsText("s_1", raw(`{"update":{"severity":"info","title":"T"}}`)); got != nil {
		t.Errorf("news of no weight became %s", got)
	}
}

func BenchmarkFrame(b *testing.B) {
	e := marked(b, `{"sessionId":"s_zpuhbwfhqjucf77njueknxlsr4","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words of an answer, as a model streams them"},"messageId":"m_zpuhbwfhqjucf77njueknxlsr4"}}`)
	c := newConn(New(Options{}), ConnOptions{})
	v := &view{id: "s_zpuhbwfhqjucf77njueknxlsr4", conn: c}
	b.ReportAllocs()
	var out []byte
	for b.Loop() {
		if out = v.appendFrame(out[:0], e, false); len(out) == 0 {
			b.Fatal("no frame")
		}
	}
}

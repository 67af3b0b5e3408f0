package bridge

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestScan(t *testing.T) {
	tests := []struct{ name, msg, id, method, session string }{
		{"plain", `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s_1"}}`, "7", "session/prompt", "s_1"},
		{"any order and space", " { \"params\" : { \"x\" : [1,{\"sessionId\":\"no\"}], \"sessionId\" : \"s\" } ,\n\"method\":\"m\" , \"id\" : \"a\\\"b\" } ", `"a\"b"`, "m", "s"},
		{"braces and escapes in strings", `{"params":{"a":"}\\\"{","sessionId":"s"},"method":"m","id":-1}`, "-1", "m", "s"},
		{"escaped names", `{"\u0069d":1,"meth\u006fd":"m","params":{"session\u0049d":"s"}}`, "1", "m", "s"},
		{"big number", `{"id":123456789012345678901234567890,"method":"m"}`, "123456789012345678901234567890", "m", ""},
		{"null id", `{"id":null,"method":"m"}`, "null", "m", ""},
		{"no object", `[{"id":1}]`, "", "", ""},
		{"cut short", `{"id":1,"method":"m"`, "", "", ""},
		{"empty", ``, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := []byte(tt.msg)
			m := scan(b)
			if got := string(m.id.of(b)); got != tt.id {
				t.Errorf("id %s, want %s", got, tt.id)
			}
			if got := text(b, m.method); got != tt.method {
				t.Errorf("method %q, want %q", got, tt.method)
			}
			if got := text(b, find(b, m.params, "sessionId")); got != tt.session {
				t.Errorf("session %q, want %q", got, tt.session)
			}
		})
	}
}

func TestSet(t *testing.T) {
	tests := []struct{ name, in, path, want string }{
		{"new member", `{"a":1}`, "b", `{"a":1,"b":X}`},
		{"into nothing", `{ }`, "b", `{ "b":X}`},
		{"objects on the way", `{"id":1}`, "params/_meta/grapnel/key", `{"id":1,"params":{"_meta":{"grapnel":{"key":X}}}}`},
		{"beside others", `{"_meta":{"a":[1, 2]},"z":0}`, "_meta/grapnel/key", `{"_meta":{"a":[1, 2],"grapnel":{"key":X}},"z":0}`},
		{"instead of the old", `{"a":{"b":"}"},"c":3}`, "a/b", `{"a":{"b":X},"c":3}`},
		{"null is no object", `{"_meta":null}`, "_meta/k", `{"_meta":{"k":X}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := set([]byte(tt.in), "X", strings.Split(tt.path, "/")...)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrepend(t *testing.T) {
	for in, want := range map[string]string{`[]`: `[X]`, `[ ]`: `[X ]`, `[1]`: `[X,1]`, `"text"`: `"text"`} {
		if got := string(prepend([]byte(in), "X")); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// FuzzScan holds the scanner to a decoder, on everything that is JSON, and keeps
// it from panics on the rest.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"session/update","params":{"sessionId":"s","_meta":{"grapnel":{"seq":3}}}}`,
		`{"id":"\\\"","method":"a\u0062","params":[1,"]",{"x":"}"}]}`, `{"a":{}}`, `{`, `{"a":"\`, `{"params":{"a":`, `[]`, ` `,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m := scan(b)
		for range members(b, m.params) {
		}
		out := set(b, `"v"`, "params", "_meta", "grapnel", "key")
		for item := range items(b, m.params) {
			_ = item.of(b)
		}
		v := jsontext.Value(b)
		if !v.IsValid() || v.Kind() != '{' {
			return
		}
		var want map[string]jsontext.Value
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		for name, at := range map[string]span{"id": m.id, "method": m.method, "params": m.params, "result": m.result, "error": m.failed} {
			if got := string(at.of(b)); got != string(want[name]) {
				t.Errorf("%s is %q, want %q in %s", name, got, want[name], b)
			}
		}
		if !jsontext.Value(out).IsValid() {
			t.Fatalf("no JSON after set: %s from %s", out, b)
		}
		if got := text(out, find(out, object(out), "params", "_meta", "grapnel", "key")); got != "v" {
			t.Errorf("set, but found %q in %s", got, out)
		}
	})
}

func BenchmarkScan(b *testing.B) {
	msg := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s_jkqr4y7pnfhebjg6yisrdryuse","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"some words of an answer"}},"_meta":{"grapnel":{"seq":4711}}}}`)
	b.ReportAllocs()
	for b.Loop() {
		m := scan(msg)
		if number(msg, find(msg, m.params, "_meta", "grapnel", "seq")) != 4711 {
			b.Fatal("not found")
		}
	}
}

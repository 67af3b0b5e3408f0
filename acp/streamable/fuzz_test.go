package streamable

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzScan holds the head of a message against a decoder that takes it all.
func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a\u0062","result":{"sessionId":"s2"}}`))
	f.Add([]byte(`{"params":{"sessionId":null},"id":null,"error":{},"\u0069d":7}`))
	f.Add([]byte(`{"params":[{"sessionId":"x"}],"method":3}`))
	f.Add([]byte(` [1,{}] `))
	f.Add([]byte("{} {}"))
	var s scanner
	f.Fuzz(func(t *testing.T, in []byte) {
		h, err := s.scan(in)
		if err != nil {
			return
		}
		if !utf8.Valid(in) || !jsontext.Value(in).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			t.Fatalf("%q was taken for JSON", in)
		}
		if jsontext.Value(in).IsValid() && h.object {
			compare(t, h, in)
		}
	})
}

// compare checks a head that is not ambiguous.
func compare(t *testing.T, h head, in []byte) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(in, &members); err != nil {
		t.Fatalf("%q: %v", in, err)
	}
	var method, session string
	_ = json.Unmarshal(members["method"], &method)
	var params map[string]json.RawMessage
	_ = json.Unmarshal(members["params"], &params)
	named := json.Unmarshal(params["sessionId"], &session) == nil && params["sessionId"][0] == '"'
	_, result := members["result"]
	_, failed := members["error"]
	response := method == "" && (result || failed)
	if h.method != method || h.session != session || h.named != named || h.response != response {
		t.Errorf("%q has the head %+v, want %q %q %v %v", in, h, method, session, named, response)
	}
}

// TestScanKeys shows which ids are the same.
func TestScanKeys(t *testing.T) {
	var s scanner
	key := func(id string) string {
		h, err := s.scan([]byte(`{"id":` + id + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return h.id
	}
	if key(`"a"`) != key(`"\u0061"`) {
		t.Error("two spellings of an id are two ids")
	}
	if key(`1`) == key(`"1"`) {
		t.Error("a number and a string are one id")
	}
	for _, none := range []string{`null`, `true`, `{}`, `[]`} {
		if key(none) != "" {
			t.Errorf("%s is taken for an id", none)
		}
	}
}

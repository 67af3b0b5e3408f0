package acp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// FuzzReadLine compares the line reader, fed whole and byte by byte, with the
// plain meaning of its contract.
func FuzzReadLine(f *testing.F) {
	f.Add([]byte("{1}\n{2}\r\n\r\n{3}"), int64(5))
	f.Add([]byte("\xef\xbb\xbf{1}\n1234567\n \t \n"), int64(6))
	f.Add([]byte("\xef\xbb\xbf"), int64(1))
	f.Add(append(bytes.Repeat([]byte("x"), 100), "\r\n\r"...), int64(100))
	f.Fuzz(func(t *testing.T, in []byte, limit int64) {
		limit = 1 + limit&0xff
		want := splitLines(in, limit)
		if diff := cmp.Diff(want, readAll(t, NewStdio(bytes.NewReader(in), io.Discard, limit))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, readAll(t, NewStdio(iotest.OneByteReader(bytes.NewReader(in)), io.Discard, limit))); diff != "" {
			t.Errorf("byte by byte (-want +got):\n%s", diff)
		}
	})
}

// splitLines is what readAll must see of in.
func splitLines(in []byte, limit int64) []string {
	var want []string
	for line := range bytes.SplitSeq(bytes.TrimPrefix(in, byteOrderMark), []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		trimmed := bytes.Trim(line, space)
		switch {
		case int64(len(line)) > limit:
			want = append(want, fmt.Sprintf("over %d: %.8s", limit, trimmed))
		case len(trimmed) > 0:
			want = append(want, string(trimmed))
		}
	}
	return want
}

// FuzzEnvelope checks what must hold for any message: that it is taken apart
// without harm, that what is refused can be answered, and that a message cut at
// any point is never answered under an id that is not its own.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		chunk,
		`{"jsonrpc":"2.0","id":"ü/1","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":12345,"result":{"a":[1,2,{"id":9}]}}`,
		`{"result":null,"id":-1,"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`,
		`{"\u0069d":7,"method":"\u0065","jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"x"}`,
		`[{}]`, `{"a":1,"a":2}`, `null`, `{"id":0,"level":"info"}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(seed), 20)
	}
	f.Fuzz(func(t *testing.T, raw []byte, cut int) {
		var p parser
		m := p.parse(bytes.Clone(raw))
		checkMessage(t, raw, m)
		if cut < 0 || cut > len(raw) {
			return
		}
		short := p.truncated(&MessageTooLargeError{Limit: 1, Head: bytes.Clone(raw[:cut])})
		if short.id.IsValid() && jsontext.Value(raw).IsValid() && short.id != m.id {
			t.Errorf("cut at %d the id is %s, whole it is %q", cut, short.id, m.id)
		}
		if short.kind == kindInvalid && m.kind == kindResponse && short.id.IsValid() {
			t.Errorf("cut at %d a response would be answered", cut)
		}
	})
}

// checkMessage checks that m, parsed from raw, is consistent in itself.
func checkMessage(t *testing.T, raw []byte, m message) {
	valid := jsontext.Value(raw).IsValid()
	switch m.kind {
	case kindRequest, kindNotification, kindResponse:
		if !valid {
			t.Errorf("accepted what is not JSON")
		}
		if m.id.IsValid() != (m.kind != kindNotification) {
			t.Errorf("kind %d with id %q", m.kind, m.id)
		}
	case kindInvalid:
		var fault *Error
		if !errors.As(m.fault, &fault) || (fault.Code == CodeParseError) == valid {
			t.Errorf("valid JSON: %t, fault: %v", valid, m.fault)
			return
		}
		var e encoder
		if msg, err := e.failure(m.id, fault); err != nil || !msg.IsValid() {
			t.Errorf("the answer %q is not JSON: %v", msg, err)
		}
	}
	if m.id.IsValid() {
		if id, err := ParseID(m.id.Raw()); err != nil || id != m.id || id.key() != id.key().key() {
			t.Errorf("the id %s does not parse as itself: %v", m.id, err)
		}
	}
}

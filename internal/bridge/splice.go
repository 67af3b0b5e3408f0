package bridge

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// set returns the object b with the value at a path of member names, and every
// other byte as it was. Objects on the way that are missing, or are none, are
// made.
func set(b []byte, value string, path ...string) []byte {
	if len(path) == 0 {
		return []byte(value)
	}
	at := object(b)
	if at.isZero() {
		b, at = []byte("{}"), span{0, 2}
	}
	old := find(b, at, path[0])
	if old.isZero() {
		return insert(b, at, path[0], set(nil, value, path[1:]...))
	}
	return replace(b, old, set(old.of(b), value, path[1:]...))
}

// replace returns b with other bytes at a span.
func replace(b []byte, at span, with []byte) []byte {
	out := make([]byte, 0, len(b)+len(with))
	return append(append(append(out, b[:at.from]...), with...), b[at.to:]...)
}

// insert returns b with one more member at the end of the object at a span: it
// is cheaper to find there for who reads from the start.
func insert(b []byte, at span, name string, value []byte) []byte {
	member := make([]byte, 0, len(name)+len(value)+4)
	if skipSpace(b, at.from+1) != at.to-1 {
		member = append(member, ',')
	}
	member = append(append(append(member, quote(name)...), ':'), value...)
	return replace(b, span{at.to - 1, at.to - 1}, member)
}

// prepend returns the array b with one more item at its start.
func prepend(b []byte, item string) []byte {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return b
	}
	if j := skipSpace(b, i+1); j < len(b) && b[j] != ']' {
		item += ","
	}
	return replace(b, span{i + 1, i + 1}, []byte(item))
}

func quote(s string) string {
	q, _ := jsontext.AppendQuote(nil, s) // the error is about bytes that are not UTF-8; they are in it, replaced
	return string(q)
}

// request makes a request of the bridge's own or anew.
func request(id, method string, params []byte) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":` + quote(method) + `,"params":` + string(params) + `}`)
}

func notification(method, params string) []byte {
	return []byte(`{"jsonrpc":"2.0","method":` + quote(method) + `,"params":` + params + `}`)
}

func response(id, result string) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)
}

// failure is an error response. data may be empty.
func failure(id string, code int, text, data string) []byte {
	if data != "" {
		data = `,"data":` + data
	}
	return []byte(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + strconv.Itoa(code) + `,"message":` + quote(text) + data + `}}`)
}

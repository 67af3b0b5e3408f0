package stdio

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		name, in string
		want     []string // a long line as head…tail
	}{
		{"none", "", nil},
		{"plain", "a\nb\n", []string{"a", "b"}},
		{"no last end", "a\nb", []string{"a", "b"}},
		{"carriage returns", "a\r\n\r\nb\r\n", []string{"a", "", "b"}},
		{"at the bound", long[:20] + "\nb\n", []string{long[:20], "b"}},
		{"one over the bound", long[:21] + "\nb", []string{long[:21] + "…" + long[:21], "b"}},
		{"over the bound", "<" + long + ">\nb\n", []string{"<" + long + ">…<" + long + ">", "b"}},
		{"over at the end", "a\n<" + long + ">", []string{"a", "<" + long + ">…<" + long + ">"}},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			var got []string
			for l := newLines(r, 20); ; {
				line, err := l.next()
				if err != nil {
					break
				}
				if line.long {
					got = append(got, string(line.head)+"…"+string(line.tail))
					continue
				}
				got = append(got, string(line.text))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s: %s", c.name, d)
			}
		}
	}
}

// TestLinesBound reads a line far longer than its bound in bounded memory.
func TestLinesBound(t *testing.T) {
	in := io.MultiReader(strings.NewReader(`{"id":7,`), io.LimitReader(endless{}, 100<<20), strings.NewReader("\nnext\n"))
	l := newLines(in, 1<<20)
	line, err := l.next()
	if err != nil || !line.long || !bytes.HasPrefix(line.head, []byte(`{"id":7,`)) || len(line.head) > edgeSize || len(line.tail) > edgeSize {
		t.Errorf("%v %+v", err, line)
	}
	if cap(l.buf) > 1<<20 {
		t.Errorf("a buffer of %d bytes is kept", cap(l.buf))
	}
	if line, err := l.next(); err != nil || string(line.text) != "next" {
		t.Errorf("%v %q", err, line.text)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestLinesError(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "part", strings.Repeat("x", 200)} {
		l := newLines(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), 20)
		if _, err := l.next(); !errors.Is(err, broken) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestIDOf(t *testing.T) {
	for _, c := range []struct {
		head, tail string
		want       int64 // 0 for none
	}{
		{`{"jsonrpc":"2.0","id":3,"result":{"x`, `"}}`, 3},
		{` { "id" : 4 , "result":{"x`, `"}}`, 4},
		{`{"result":{"x`, `"},"jsonrpc":"2.0","id":5}`, 5},
		{`{"result":{"x`, `"},"id":6,"jsonrpc":"2.0"}`, 6},
		{`{"result":{"id":7,`, `"}}`, 0},
		{`{"result":{"x`, `"id":8}}`, 0},
		{`{"jsonrpc":"2.0","id":"nine","result":`, `}`, 0},
		{"", "", 0},
	} {
		id, ok := idOf([]byte(c.head), []byte(c.tail))
		if ok != (c.want != 0) || ok && id != mustID(t, c.want) {
			t.Errorf("%s … %s: %v %v", c.head, c.tail, id.Raw(), ok)
		}
	}
}

func mustID(t *testing.T, n int64) jsonrpc.ID {
	t.Helper()
	id, err := jsonrpc.MakeID(float64(n))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestDecode(t *testing.T) {
	const request, response = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, c := range []struct {
		in     string
		want   int
		broken bool
	}{
		{request, 1, false},
		{"\ufeff " + response + " ", 1, false},
		{"[" + request + "," + response + "]", 2, false},
		{"[" + request + ",7,{}]", 1, false},
		{"[]", 0, false},
		{"", 0, false},
		{"Listening on port 7", 0, true},
		{"{", 0, true},
		{request + request, 0, true},
		{`{"jsonrpc":"1.0","id":1,"result":{}}`, 0, true},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, 0, true},
		{`{"jsonrpc":"2.0","id":{},"result":{}}`, 0, true},
		{"null", 0, true},
		{"[" + strings.Repeat(request+",", 1001) + request + "]", 0, true},
		{strings.Repeat("[", 5000), 0, true},
	} {
		list, err := decode([]byte(c.in))
		if len(list) != c.want || (err != nil) != c.broken {
			t.Errorf("%.60q: %d messages, %v", c.in, len(list), err)
		}
	}
}

// FuzzRead reads whatever a server may print: every message that comes out is
// one, and lines stay within their bound.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}}` + "\r\n"))
	f.Add([]byte("[{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}]\nlog line\n\x00\xff\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":3,"result":{"content":"` + strings.Repeat("x", 300)))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1e400,"method":7,"error":{}}` + "\n{\"id\":5," + strings.Repeat(" ", 300) + "}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const bound = 200
		l := newLines(bytes.NewReader(in), bound)
		for {
			line, err := l.next()
			if err != nil {
				return
			}
			if len(line.text) > bound || len(line.head) > edgeSize || len(line.tail) > edgeSize {
				t.Fatalf("a line of %d, %d and %d bytes", len(line.text), len(line.head), len(line.tail))
			}
			if line.long {
				idOf(line.head, line.tail)
				continue
			}
			list, _ := decode(line.text)
			for _, m := range list {
				if _, err := jsonrpc.EncodeMessage(m); err != nil {
					t.Fatalf("%q became a message that is none: %v", line.text, err)
				}
			}
		}
	})
}

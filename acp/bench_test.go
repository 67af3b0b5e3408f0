package acp

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// chunk is an agent_message_chunk of some 200 bytes, as they stream.
const chunk = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef",` +
	`"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"the quick brown fox jumps"}}}}`

type (
	benchParams struct {
		SessionID string      `json:"sessionId"`
		Update    benchUpdate `json:"update"`
	}
	benchUpdate struct {
		Kind    string       `json:"sessionUpdate"`
		Content benchContent `json:"content"`
	}
	benchContent struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
)

var benchNotification = &benchParams{"sess_0123456789abcdef", benchUpdate{
	"agent_message_chunk", benchContent{"text", "the quick brown fox jumps"},
}}

func BenchmarkNotify(b *testing.B) {
	c := NewConn(NewStdio(strings.NewReader(""), io.Discard, 0), nil, nil)
	raw := jsontext.Value(`{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk"}}`)
	b.Run("typed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := c.Notify(b.Context(), "session/update", benchNotification); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("raw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := c.Notify(b.Context(), "session/update", raw); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoded", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := c.WriteRaw(b.Context(), jsontext.Value(chunk)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// repeated reads as the same line n times.
type repeated struct {
	line string
	n    int
	rest string
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		if r.n == 0 {
			return 0, io.EOF
		}
		r.n--
		r.rest = r.line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// BenchmarkDispatch is the way of a notification from the stream to the handler.
func BenchmarkDispatch(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(chunk)))
	seen := 0
	in := &repeated{line: strings.Repeat(chunk+"\n", 100), n: b.N/100 + 1}
	c := NewConn(NewStdio(in, io.Discard, 0), HandlerFuncs{
		Notification: func(context.Context, *Notification) { seen++ },
	}, nil)
	if err := c.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	if seen < b.N {
		b.Fatalf("saw %d notifications of %d", seen, b.N)
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(chunk)))
	var p parser
	for b.Loop() {
		if m := p.parse(jsontext.Value(chunk)); m.kind != kindNotification {
			b.Fatal(m.fault)
		}
	}
}

// osPipes returns two connected pairs of operating system pipes.
func osPipes(b *testing.B) (nearIn, nearOut, farIn, farOut *os.File) {
	b.Helper()
	farIn, nearOut, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	nearIn, farOut, err = os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, f := range []*os.File{nearIn, nearOut, farIn, farOut} {
			f.Close()
		}
	})
	return nearIn, nearOut, farIn, farOut
}

// BenchmarkEcho is a request and its answer over two pipes, against the same
// bytes without any protocol.
func BenchmarkEcho(b *testing.B) {
	b.Run("pipe", func(b *testing.B) {
		nearIn, nearOut, farIn, farOut := osPipes(b)
		go func() {
			in := bufio.NewReader(farIn)
			for {
				line, err := in.ReadSlice('\n')
				if err != nil {
					return
				}
				if _, err := farOut.Write(line); err != nil {
					return
				}
			}
		}()
		in := bufio.NewReader(nearIn)
		line := []byte(chunk + "\n")
		for b.Loop() {
			if _, err := nearOut.Write(line); err != nil {
				b.Fatal(err)
			}
			if _, err := in.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("acp", func(b *testing.B) {
		b.ReportAllocs()
		nearIn, nearOut, farIn, farOut := osPipes(b)
		client := startConn(b, NewStdio(nearIn, nearOut, 0), nil, nil)
		startConn(b, NewStdio(farIn, farOut, 0), HandlerFuncs{
			Request: func(_ context.Context, r *Request) { _ = r.ReplyRaw(r.Params) },
		}, nil)
		for b.Loop() {
			if _, err := client.Call(b.Context(), "echo", benchNotification); err != nil {
				b.Fatal(err)
			}
		}
	})
}

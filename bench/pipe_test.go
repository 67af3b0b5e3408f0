package bench

import (
	"bufio"
	"context"
	"io"
	"os"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// pipes are two ends of a pair of operating system pipes.
type pipes struct {
	nearIn, nearOut, farIn, farOut *os.File
}

func newPipes(b *testing.B) pipes {
	b.Helper()
	var p pipes
	var err error
	if p.farIn, p.nearOut, err = os.Pipe(); err != nil {
		b.Fatal(err)
	}
	if p.nearIn, p.farOut, err = os.Pipe(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, f := range []io.Closer{p.nearOut, p.farOut, p.nearIn, p.farIn} {
			_ = f.Close()
		}
	})
	return p
}

// BenchmarkEcho is a request and its answer through the engine on both sides of
// a pipe, against the same bytes with no protocol at all.
func BenchmarkEcho(b *testing.B) {
	raw, engine := newPipes(b), newPipes(b)
	go func() {
		in := bufio.NewReader(raw.farIn)
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			if _, err := raw.farOut.Write(line); err != nil {
				return
			}
		}
	}()
	client := acp.NewConn(acp.NewStdio(engine.nearIn, engine.nearOut, 0), nil, nil)
	far := acp.NewConn(acp.NewStdio(engine.farIn, engine.farOut, 0), acp.HandlerFuncs{
		Request: func(_ context.Context, r *acp.Request) { _ = r.ReplyRaw(r.Params) },
	}, nil)
	for _, c := range []*acp.Conn{client, far} {
		go func() { _ = c.Run(b.Context()) }()
	}
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"echo","params":` + chunk + "}\n")
	back := bufio.NewReader(raw.nearIn)
	var ours, base sample
	for b.Loop() {
		ours.add(func() {
			if _, err := client.Call(b.Context(), "echo", jsontext.Value(chunk)); err != nil {
				b.Fatal(err)
			}
		})
		base.add(func() {
			if _, err := raw.nearOut.Write(line); err != nil {
				b.Fatal(err)
			}
			if _, err := back.ReadSlice('\n'); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(us(ours.p50()), "us-p50")
	b.ReportMetric(us(base.p50()), "base-us-p50")
	b.ReportMetric(float64(ours.p50())/float64(base.p50()), "x-base")
}

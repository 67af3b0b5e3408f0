package acp

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the recv sections of testdata/*.txtar with what is received")

// TestConformance plays the scripts in testdata against a small agent on the
// stdio transport. A script is a txtar archive. Its sections are taken in order:
//
//	send    lines written to the agent, as they are
//	quoted  Go string literals, one a line, whose values are written
//	eof     closes the agent's input
//	recv    the lines the agent has written since the last recv
//
// Its comment may set the line limit: "max: 200". The agent's methods:
//
//	echo    answers with its params
//	hold    is answered by nothing but its cancellation
//	crash   panics
//	stream  sends its params as three notifications, then answers
//	ask     calls client/ask and answers with the answer or the error
//
// A notification is reported back as heard, with its method.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			script, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { play(t, script) })
			if *update {
				if err := os.WriteFile(file, txtar.Format(script), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// play runs a script, and under -update fills in what was received.
func play(t *testing.T, script *txtar.Archive) {
	var limit int64
	for line := range strings.Lines(string(script.Comment)) {
		if value, ok := strings.CutPrefix(line, "max: "); ok {
			limit, _ = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	in, feed := io.Pipe()
	var out lockedBuffer
	agent := &scriptAgent{}
	agent.conn = NewConn(NewStdio(in, &out, limit), agent, nil)
	ran := make(chan error, 1)
	go func() { ran <- agent.conn.Run(t.Context()) }()
	for i := range script.Files {
		section := &script.Files[i]
		switch section.Name {
		case "send":
			_, _ = feed.Write(section.Data)
		case "quoted":
			for line := range strings.Lines(string(section.Data)) {
				text, err := strconv.Unquote(strings.TrimSpace(line))
				if err != nil {
					t.Fatalf("%s is not a Go string", line)
				}
				_, _ = io.WriteString(feed, text)
			}
		case "eof":
			_ = feed.Close()
		case "recv":
			synctest.Wait()
			received := out.take()
			if *update {
				section.Data = received
			} else if diff := cmp.Diff(string(section.Data), string(received)); diff != "" {
				t.Errorf("section %d (-want +got):\n%s", i, diff)
			}
		default:
			t.Fatalf("unknown section %q", section.Name)
		}
	}
	synctest.Wait()
	if rest := out.take(); len(rest) > 0 {
		t.Errorf("received after the script:\n%s", rest)
	}
	_ = agent.conn.Close()
	if err := <-ran; err != nil {
		t.Errorf("Run: %v", err)
	}
}

// scriptAgent is the agent of the conformance scripts.
type scriptAgent struct{ conn *Conn }

func (a *scriptAgent) HandleRequest(ctx context.Context, r *Request) {
	switch r.Method {
	case "echo":
		_ = r.ReplyRaw(r.Params)
	case "hold":
		r.Go(ctx, func(ctx context.Context) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	case "crash":
		panic("out of cheese")
	case "stream":
		for range 3 {
			_ = a.conn.Notify(ctx, "update", r.Params)
		}
		_ = r.Reply(nil)
	case "ask":
		r.Go(ctx, func(ctx context.Context) (any, error) {
			answer, err := a.conn.Call(ctx, "client/ask", r.Params)
			var tooLarge *MessageTooLargeError
			if errors.As(err, &tooLarge) {
				err = fmt.Errorf("the answer is too large: %w", err)
			}
			return answer, err
		})
	default:
		_ = r.Fail(MethodNotFound(r.Method))
	}
}

func (a *scriptAgent) HandleNotification(ctx context.Context, n *Notification) {
	if n.Method == "crash" {
		panic("out of cheese")
	}
	_ = a.conn.Notify(ctx, "heard", map[string]string{"method": n.Method})
}

// lockedBuffer is a buffer one goroutine writes and another one takes from.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) take() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := bytes.Clone(b.buf.Bytes())
	b.buf.Reset()
	return p
}

package streamable

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// BenchmarkUpdate sends updates of 200 bytes to a session's stream, whose client
// takes the bytes and does nothing with them.
func BenchmarkUpdate(b *testing.B) {
	const inBatch = 64
	conns := make(chan acp.MessageConn, 1)
	s := NewServer(Options{Open: func(_ *http.Request, c acp.MessageConn, _ string) {
		go func() {
			_, _ = c.ReadMessage(context.Background())
			_ = c.WriteMessage(context.Background(), jsontext.Value(initAnswer))
			conns <- c
		}()
	}})
	host := httptest.NewServer(s)
	defer host.Close()
	defer s.Close()
	opened, err := http.Post(host.URL, "application/json", strings.NewReader(initRequest))
	if err != nil {
		b.Fatal(err)
	}
	opened.Body.Close()
	req, _ := http.NewRequest("GET", host.URL, nil)
	req.Header = http.Header{
		HeaderConnectionID: {opened.Header.Get(HeaderConnectionID)},
		HeaderSessionID:    {"s"}, "Accept": {"text/event-stream"},
	}
	stream, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer stream.Body.Close()
	go func() { _, _ = io.Copy(io.Discard, stream.Body) }()
	c := (<-conns).(acp.BatchWriter)
	msg := jsontext.Value(update("s", 1, strings.Repeat("x", 110)))
	var batch []jsontext.Value
	for range inBatch {
		batch = append(batch, msg)
	}
	for name, msgs := range map[string][]jsontext.Value{"single": batch[:1], "batch": batch} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(msg)))
			for i := 0; i < b.N; i += len(msgs) {
				if err := c.WriteMessages(context.Background(), msgs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

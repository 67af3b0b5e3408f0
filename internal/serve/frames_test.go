package serve

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// counted counts writes and keeps what was written.
type counted struct {
	bytes.Buffer
	writes int
}

func (c *counted) Write(p []byte) (int, error) {
	c.writes++
	return c.Buffer.Write(p)
}

func TestAPageIsWrittenInFewWrites(t *testing.T) {
	var out counted
	c := newConn(New(Options{}), ConnOptions{})
	c.peer = acp.NewConn(acp.NewStdio(strings.NewReader(""), &out, 0), c, nil)
	c.ctx = t.Context()
	v := &view{id: "s_1", conn: c, pending: make(map[string][]*pendingPrompt)}
	var page []session.Event
	for i := range 1000 {
		e := *marked(t, `{"sessionId":"x","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"some words"}}}`)
		e.Seq, e.Kind = session.Seq(i+1), session.KindAgentMessage
		page = append(page, e)
	}
	if err := v.show(&pump{begun: true}, page, everything); err != nil {
		t.Fatal(err)
	}
	if most := out.Len()/frameBytes + 1; out.writes > most {
		t.Errorf("%d writes for %d bytes, want at most %d", out.writes, out.Len(), most)
	}
	in := acp.NewStdio(&out.Buffer, io.Discard, 0)
	for i := range page {
		msg, err := in.ReadMessage(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if want := appendUpdate(nil, "s_1", &page[i]); !bytes.Equal(msg, want) {
			t.Fatalf("update %d is\n%s, want\n%s", i, msg, want)
		}
	}
}

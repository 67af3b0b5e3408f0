package bridge_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/bridge"
)

// again takes the next connection of a bridge, answers its handshake, and returns
// it with the resume that follows.
func (l *line) again() (acp.MessageConn, string) {
	l.t.Helper()
	g := <-l.gateway
	hello := read(l.t, g)
	write(l.t, g, `{"jsonrpc":"2.0","id":`+id(l.t, hello)+`,"result":{"protocolVersion":1}}`)
	resume := read(l.t, g)
	if at(l.t, resume, "method") != `"session/resume"` {
		l.t.Fatalf("the bridge says %s, want session/resume", resume)
	}
	return g, resume
}

// withSession opens a session and cuts the connection.
func (l *line) withSession() {
	l.t.Helper()
	g, _ := l.greet(`{"protocolVersion":1}`)
	write(l.t, l.editor, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	write(l.t, g, `{"jsonrpc":"2.0","id":`+id(l.t, read(l.t, g))+`,"result":{"sessionId":"s_a"}}`)
	read(l.t, l.editor)
	_ = g.Close()
}

// TestGatewayThatResumesNothing is left for another connection: it shakes hands,
// and then says nothing.
func TestGatewayThatResumesNothing(t *testing.T) {
	l := newLine(t, bridge.Options{Silence: 20 * time.Millisecond, Drain: time.Millisecond}, false)
	l.withSession()
	silent, _ := l.again()
	write(t, l.editor, `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`)
	if msg := read(t, silent); !strings.HasPrefix(msg, "error: ") {
		t.Fatalf("the bridge goes on with %s", msg)
	}
	g, resume := l.again()
	write(t, g, `{"jsonrpc":"2.0","id":`+id(t, resume)+`,"result":{}}`)
	if msg := read(t, g); at(t, msg, "method") != `"session/list"` {
		t.Errorf("the bridge says %s, want session/list", msg)
	}
}

// TestGatewayThatResumesSlowly is waited for as long as it sends updates.
func TestGatewayThatResumesSlowly(t *testing.T) {
	const silence = 400 * time.Millisecond
	l := newLine(t, bridge.Options{Silence: silence, Drain: time.Millisecond}, false)
	l.withSession()
	g, resume := l.again()
	for begun, n := time.Now(), 1; time.Since(begun) < 2*silence; n++ {
		write(t, g, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s_a","update":{}}}`)
		if msg := read(t, l.editor); at(t, msg, "method") != `"session/update"` {
			t.Fatalf("the editor hears %s", msg)
		}
	}
	write(t, g, `{"jsonrpc":"2.0","id":`+id(t, resume)+`,"result":{}}`)
	write(t, l.editor, `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`)
	if msg := read(t, g); at(t, msg, "method") != `"session/list"` {
		t.Errorf("the bridge says %s, want session/list", msg)
	}
}

// TestGatewayThatResumesNothingIsGivenUp after the bound, like one that is not
// there.
func TestGatewayThatResumesNothingIsGivenUp(t *testing.T) {
	l := newLine(t, bridge.Options{Silence: 10 * time.Millisecond, Bound: 100 * time.Millisecond}, false)
	l.withSession()
	var answering sync.WaitGroup
	stop := make(chan struct{})
	defer func() { close(stop); answering.Wait() }()
	answering.Go(func() {
		for {
			select {
			case g := <-l.gateway:
				if msg, err := g.ReadMessage(t.Context()); err == nil {
					_ = g.WriteMessage(t.Context(), []byte(`{"jsonrpc":"2.0","id":`+id(t, string(msg))+`,"result":{"protocolVersion":1}}`))
				}
			case <-stop:
				return
			}
		}
	})
	write(t, l.editor, `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`)
	for {
		msg := read(t, l.editor)
		if at(t, msg, "id") != "2" {
			continue // the notice
		}
		if !strings.Contains(msg, "gateway_unreachable") || !strings.Contains(msg, "takes the connection and does not go on") {
			t.Errorf("the request is answered %s", msg)
		}
		break
	}
	_ = l.editor.Close()
	<-l.ended
}

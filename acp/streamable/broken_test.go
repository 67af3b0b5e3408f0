package streamable

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// rawRequest writes the beginning of a request on a socket of its own.
func (h *host) rawRequest(text string) *net.TCPConn {
	h.t.Helper()
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		h.t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// TestStreamBreaks shows that a stream that broke, by a reset or an end, can be
// opened again, and then gets what comes from then on.
func TestStreamBreaks(t *testing.T) {
	for _, reset := range []bool{true, false} {
		t.Run(fmt.Sprintf("reset=%v", reset), func(t *testing.T) {
			h := serve(t, wires[0], Options{})
			agent, id := h.open()
			raw := h.rawRequest("GET / HTTP/1.1\r\nHost: x\r\nOwner: me\r\nAccept: text/event-stream\r\n" +
				HeaderConnectionID + ": " + id + "\r\n" + HeaderSessionID + ": s\r\n\r\n")
			resp, err := http.ReadResponse(bufio.NewReader(raw), nil)
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("%v, %v", resp, err)
			}
			h.send(agent, update("s", 1, ""))
			if got := (&reader{t: t, lines: bufio.NewReader(resp.Body)}).next(); got != update("s", 1, "") {
				t.Errorf("the stream begins with %s", got)
			}
			if reset {
				_ = raw.SetLinger(0)
			}
			raw.Close()
			h.gone(agent.(*conn), "s")
			h.send(agent, update("s", 2, ""))
			if got := h.events(id, "s").next(); got != update("s", 2, "") {
				t.Errorf("the new stream begins with %s", got)
			}
		})
	}
}

// TestBodyBreaks shows that half a message, whose sender is slow or gone, holds up
// nobody, reaches nobody and ends no connection.
func TestBodyBreaks(t *testing.T) {
	h := serve(t, wires[0], Options{})
	agent, id := h.open()
	head := "POST / HTTP/1.1\r\nHost: x\r\nOwner: me\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n" +
		HeaderConnectionID + ": " + id + "\r\n\r\n"
	h.rawRequest(head + `{"jsonrpc":"2.0",`) // goes on for the whole test
	gone := h.rawRequest(head + `{"jsonrpc":"2.0",`)
	if err := gone.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(gone), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body := h.want(400, resp); !strings.Contains(body, "ended early") {
		t.Errorf("the answer is %q", body)
	}
	h.post(agent, `{"jsonrpc":"2.0","method":"_x"}`, HeaderConnectionID, id)
}

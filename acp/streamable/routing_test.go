package streamable

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// TestStatus is the routing table: what each request is answered with.
func TestStatus(t *testing.T) {
	const (
		prompt   = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1"}}`
		unscoped = `{"jsonrpc":"2.0","id":1,"method":"session/list"}`
		array    = `[` + prompt + `]`
	)
	long := strings.Repeat("x", maxIDBytes+1)
	tests := []struct {
		name, method, body string
		header             []string // %id stands for the connection
		status             int
		text               string // in the answer
	}{
		{"no credentials", "POST", initRequest, []string{"Owner", ""}, 401, "no credentials"},
		{"not JSON by its type", "POST", initRequest, []string{"Content-Type", "text/plain"}, 415, "application/json"},
		{"no type", "POST", initRequest, []string{"Content-Type", ""}, 415, ""},
		{"invalid JSON", "POST", `{"jsonrpc"`, nil, 400, "Invalid JSON"},
		{"nothing", "POST", ``, nil, 400, "Invalid JSON"},
		{"two values", "POST", `{} {}`, nil, 400, "Invalid JSON"},
		{"not UTF-8", "POST", "{\"a\":\"\xff\"}", nil, 400, "Invalid JSON"},
		{"a string", "POST", `"x"`, nil, 400, "Invalid JSON-RPC message"},
		{"array", "POST", array, nil, 400, batchRefused},
		{"array on a connection", "POST", array, []string{HeaderConnectionID, "%id"}, 400, batchRefused},
		{"too large", "POST", `{"a":"` + strings.Repeat("x", 5000) + `"}`, nil, 413, "5000 bytes (acp.max_message_bytes)"},
		{"no connection", "POST", prompt, nil, 400, "Missing Acp-Connection-Id"},
		{"unknown connection", "POST", prompt, []string{HeaderConnectionID, "nobody"}, 404, "Unknown Acp-Connection-Id"},
		{"another's connection", "POST", prompt, []string{HeaderConnectionID, "%id", "Owner", "you"}, 404, "Unknown Acp-Connection-Id"},
		{"a long connection id", "POST", prompt, []string{HeaderConnectionID, long}, 400, "too long"},
		{"a long session id", "POST", prompt, []string{HeaderConnectionID, "%id", HeaderSessionID, long}, 400, "too long"},
		{"a long request id", "POST", `{"jsonrpc":"2.0","id":"` + long + `","method":"x"}`, []string{HeaderConnectionID, "%id"}, 400, "too long"},
		{"initialize again", "POST", initRequest, []string{HeaderConnectionID, "%id"}, 400, "Initialize not allowed on existing connection"},
		{"initialize without an id", "POST", `{"jsonrpc":"2.0","method":"initialize"}`, nil, 400, "id"},
		{"initialize with id null", "POST", `{"jsonrpc":"2.0","id":null,"method":"initialize"}`, nil, 400, "id"},
		{"no session", "POST", prompt, []string{HeaderConnectionID, "%id"}, 400, "Missing Acp-Session-Id"},
		{"another session", "POST", prompt, []string{HeaderConnectionID, "%id", HeaderSessionID, "s2"}, 400, "Mismatched Acp-Session-Id"},
		{"a session method without params", "POST", `{"jsonrpc":"2.0","method":"session/cancel"}`, []string{HeaderConnectionID, "%id"}, 400, "Missing Acp-Session-Id"},
		{"any method with params.sessionId", "POST", `{"jsonrpc":"2.0","method":"_x","params":{"sessionId":"s1"}}`, []string{HeaderConnectionID, "%id"}, 400, "Missing Acp-Session-Id"},
		{"stream that is not wanted as one", "GET", "", []string{HeaderConnectionID, "%id", "Accept", "application/json"}, 406, "text/event-stream"},
		{"stream without a connection", "GET", "", nil, 400, "Missing Acp-Connection-Id"},
		{"stream of an unknown connection", "GET", "", []string{HeaderConnectionID, "nobody"}, 404, "Unknown"},
		{"stream of another's connection", "GET", "", []string{HeaderConnectionID, "%id", "Owner", "you"}, 404, "Unknown"},
		{"end without a connection", "DELETE", "", nil, 400, "Missing Acp-Connection-Id"},
		{"end of an unknown connection", "DELETE", "", []string{HeaderConnectionID, "nobody"}, 404, "Unknown"},
		{"end of another's connection", "DELETE", "", []string{HeaderConnectionID, "%id", "Owner", "you"}, 404, "Unknown"},
		{"put", "PUT", unscoped, nil, 405, "Method Not Allowed"},
		{"options", "OPTIONS", "", nil, 405, ""},
		{"patch", "PATCH", unscoped, nil, 405, ""},
	}
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			h := serve(t, wire, Options{MaxBytes: 5000})
			_, id := h.open()
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					h := *h
					h.t = t
					var header []string
					for _, v := range tt.header {
						header = append(header, strings.ReplaceAll(v, "%id", id))
					}
					resp := h.do(tt.method, tt.body, header...)
					if body := h.want(tt.status, resp); !strings.Contains(body, tt.text) {
						t.Errorf("the answer is %q, want %q in it", body, tt.text)
					}
					if allow := resp.Header.Get("Allow"); (tt.status == 405) != (allow == "DELETE, GET, POST") {
						t.Errorf("Allow is %q", allow)
					}
				})
			}
		})
	}
}

// TestRouting shows which stream answers and the agent's own messages come on.
func TestRouting(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire, func(t *testing.T) {
			h := serve(t, wire, Options{})
			agent, id := h.open()
			on := func(session string) []string { return []string{HeaderConnectionID, id, HeaderSessionID, session} }
			streams := map[string]*reader{"": h.events(id, ""), "s1": h.events(id, "s1"), "s2": h.events(id, "s2")}
			expect := func(stream, msg string) {
				t.Helper()
				h.send(agent, msg)
				if got := streams[stream].next(); got != msg {
					t.Errorf("stream %q got %s, want %s", stream, got, msg)
				}
			}
			h.post(agent, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}`, HeaderConnectionID, id)
			expect("", `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`)
			h.post(agent, `{"jsonrpc":"2.0","id":"p\u0061","method":"session/prompt","params":{"sessionId":"s1"}}`, on("s1")...)
			h.post(agent, `{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"s2"}}`, on("s2")...)
			h.post(agent, `{"jsonrpc":"2.0","id":3,"method":"session/resume","params":{"sessionId":"s2"}}`, on("s2")...)
			h.post(agent, `{"jsonrpc":"2.0","id":4,"method":"_of/session"}`, on("s2")...)
			h.post(agent, `{"jsonrpc":"2.0","method":"session/cancel"}`, on("s2")...)
			expect("s2", `{"jsonrpc":"2.0","method":"session/update","params":{"update":{},"sessionId":"s2"}}`)
			expect("", `{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s2"}}`)
			expect("s2", `{"jsonrpc":"2.0","id":4,"result":{}}`)
			expect("s2", `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}`)
			expect("s1", `{"jsonrpc":"2.0","id":"pa","result":{}}`)
			expect("", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"x"}}`)
			expect("", `{"jsonrpc":"2.0","method":"_note","params":{"a":{"sessionId":"s1"}}}`)
			expect("", `{"jsonrpc":"2.0","id":7,"method":"_ask"}`)
			expect("s1", `{"jsonrpc":"2.0","id":8,"method":"session/request_permission","params":{"sessionId":"s1"}}`)

			h.want(400, h.do("POST", `{"jsonrpc":"2.0","id":8,"result":{}}`, HeaderConnectionID, id))
			h.want(400, h.do("POST", `{"jsonrpc":"2.0","id":8,"result":{}}`, on("s2")...))
			h.post(agent, `{"jsonrpc":"2.0","id":8,"result":{}}`, on("s1")...)
			h.post(agent, `{"jsonrpc":"2.0","id":7,"result":{}}`, HeaderConnectionID, id)
		})
	}
}

// TestDuplicateID shows that both answers of an id used twice find their stream.
func TestDuplicateID(t *testing.T) {
	h := serve(t, wires[0], Options{})
	agent, id := h.open()
	msg := `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1"}}`
	h.post(agent, msg, HeaderConnectionID, id, HeaderSessionID, "s1")
	h.post(agent, msg, HeaderConnectionID, id, HeaderSessionID, "s1")
	stream := h.events(id, "s1")
	for _, answer := range []string{`{"jsonrpc":"2.0","id":1,"error":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		h.send(agent, answer)
		if got := stream.next(); got != answer {
			t.Errorf("got %s, want %s", got, answer)
		}
	}
}

// TestLineBreaks shows that a message is one line of data whatever its space is.
func TestLineBreaks(t *testing.T) {
	h := serve(t, wires[0], Options{})
	agent, id := h.open()
	stream := h.events(id, "")
	h.send(agent, "{\r\n\"jsonrpc\":\"2.0\",\n\"method\":\"_a\\nb\"}")
	if got, want := stream.next(), `{"jsonrpc":"2.0","method":"_a\nb"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if err := agent.WriteMessage(t.Context(), jsontext.Value("{\n")); err != acp.ErrInvalidMessage {
		t.Errorf("half a message: %v", err)
	}
}

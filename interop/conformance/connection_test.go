package conformance

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/interop/peer"
	"github.com/grapnel-ai/grapnel/interop/testbed"
)

func TestTransport(t *testing.T) {
	verify(t, []requirement{
		{"ACP-TRANSPORT-001", func(_ *testing.T, c *client) {
			c.prompt(c.newSession(), text("D:SAY lines\nD:SAY of\nD:TOOL read README.md"))
			c.end() // fails on a line that is not one message
		}},
		{"ACP-TRANSPORT-002", func(t *testing.T, c *client) {
			c.prompt(c.newSession(), text("D:SPLITEMOJI grüße 🎉 漢字"))
			c.end()
			for _, m := range c.all {
				if !utf8.Valid(m.Line) {
					t.Errorf("not UTF-8: %q", m.Line)
				}
			}
		}},
	})
}

func TestJSONRPC(t *testing.T) {
	verify(t, []requirement{
		{"ACP-JSONRPC-001", idsAreEchoed},
		{"ACP-JSONRPC-002", func(t *testing.T, c *client) {
			c.Must("session/list", object{}, nil)
			err := c.Call("session/load", object{"sessionId": 1}).Failure()
			if err == nil || err.Code == 0 || err.Message == "" {
				t.Errorf("not an error object: %v", err)
			}
		}},
		{"ACP-JSONRPC-003", notificationsAreNotAnswered},
		{"ACP-JSONRPC-004", func(_ *testing.T, c *client) {
			c.wantCode(c.Call("session/no_such_method", object{}), -32601)
		}},
		{"ACP-JSONRPC-005", func(_ *testing.T, c *client) {
			c.wantCode(c.Call("session/new", object{"cwd": 5}), -32602)
			c.newSession()
		}},
	})
}

func idsAreEchoed(_ *testing.T, c *client) {
	for _, id := range []string{`7001`, `0`, `-12`, `9007199254740993`, `"text"`, `""`, `"7001"`, `"\u00fc and \"quotes\""`} {
		c.Send(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/list","params":{}}`)
		c.Wait("a response to "+id, func(m *peer.Message) bool { return m.IsResponse() && string(m.ID) == id })
	}
}

func notificationsAreNotAnswered(t *testing.T, c *client) {
	session := c.newSession()
	c.Notify("session/cancel", object{"sessionId": session})
	c.Notify("session/cancel", object{"sessionId": "unknown"})
	c.Notify("session/cancel", object{"sessionId": 17})
	c.Notify("_unknown/notification", object{})
	c.Notify("session/no_such_notification", nil)
	c.end()
	if n := countResponses(c.all); n != 2 {
		t.Errorf("2 requests had %d responses", n)
	}
}

func countResponses(all []peer.Message) (n int) {
	for _, m := range all {
		if m.IsResponse() {
			n++
		}
	}
	return n
}

func TestInitialize(t *testing.T) {
	verify(t, []requirement{
		{"ACP-INIT-001", func(t *testing.T, c *client) {
			if c.can.ProtocolVersion < 1 {
				t.Errorf("protocolVersion is %d", c.can.ProtocolVersion)
			}
		}},
		{"ACP-INIT-002", func(t *testing.T, c *client) {
			if c.can.ProtocolVersion != 1 {
				t.Errorf("asked for 1, got %d", c.can.ProtocolVersion)
			}
		}},
		{"ACP-INIT-004", func(t *testing.T, c *client) {
			if c.can.AgentInfo.Name == "" || c.can.AgentInfo.Version == "" {
				t.Errorf("agentInfo is %+v", c.can.AgentInfo)
			}
		}},
	})
	t.Run("ACP-INIT-003", func(t *testing.T) {
		t.Parallel()
		c := start(t, testbed.New(t, testbed.Anthropic))
		c.Must("initialize", initializeParams(65535), &c.can)
		if v := c.can.ProtocolVersion; v < 1 || v == 65535 {
			t.Errorf("asked for 65535, got %d", v)
		}
		c.end()
	})
}

func TestExtensibility(t *testing.T) {
	verify(t, []requirement{
		{"ACP-EXT-001", func(_ *testing.T, c *client) {
			c.wantCode(c.Call("_vendor/unknown", object{"any": "thing"}), -32601)
		}},
		{"ACP-META-001", func(_ *testing.T, c *client) {
			p := promptParams(c.newSession(), text("D:SAY traced"))
			p["_meta"] = object{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "odd": []any{nil, 1}}
			c.wantStop(c.Call("session/prompt", p))
		}},
		{"ACP-ERROR-001", errorsAreSentences},
	})
}

func errorsAreSentences(t *testing.T, c *client) {
	session := c.newSession()
	calls := []struct {
		method string
		params any
	}{
		{"session/no_such_method", object{}},
		{"_vendor/unknown", nil},
		{"session/new", object{"cwd": "relative", "mcpServers": []any{}}},
		{"session/new", "not an object"},
		{"session/load", object{"sessionId": "line\nbreak", "cwd": "/", "mcpServers": []any{}}},
		{"session/prompt", promptParams("unknown", text("hi"))},
		{"session/prompt", object{"sessionId": session, "prompt": []any{object{"type": "image"}}}},
		{"session/set_mode", object{"sessionId": session, "modeId": "unknown"}},
		{"authenticate", object{"methodId": "unknown"}},
		{"session/prompt", promptParams(session, text("D:HTTP 400"))},
	}
	for _, call := range calls {
		err := c.Call(call.method, call.params).Failure()
		switch {
		case err == nil:
			t.Errorf("%s %v does not fail", call.method, call.params)
		case err.Message == "":
			t.Errorf("%s %v fails without a word", call.method, call.params)
		default:
			for _, r := range err.Message {
				if r == '\n' || r == '\r' {
					t.Errorf("%s: more than a line: %q", call.method, err.Message)
				}
			}
		}
	}
}

func TestDiagnostics(t *testing.T) {
	verify(t, []requirement{
		{"ACP-SHUTDOWN-001", func(_ *testing.T, c *client) {
			c.begin(c.newSession())
			c.end() // fails if the agent does not end by itself
		}},
		{"ACP-STDERR-001", func(t *testing.T, c *client) {
			c.prompt(c.newSession(), text("D:TOOL read README.md"))
			c.end()
			if c.Stderr() != "" {
				t.Errorf("nothing went wrong, but stderr has: %s", c.Stderr())
			}
		}},
		{"ACP-INFO-PARSE-001", func(_ *testing.T, c *client) {
			c.Send(`{"jsonrpc":"2.0","id":5,`)
			c.wantStrayError(-32700)
			c.newSession()
		}},
		{"ACP-INFO-INVALIDREQ-001", func(_ *testing.T, c *client) {
			c.Send(`{"foo":"bar"}`)
			c.wantStrayError(-32600)
			c.newSession()
		}},
		{"ACP-INFO-UNKNOWNSESSION-001", func(t *testing.T, c *client) {
			m := c.Call("session/prompt", promptParams("unknown", text("hi")))
			c.wantCode(m, -32002)
			if got := string(m.Failure().Data); got != `{"sessionId":"unknown"}` {
				t.Errorf("data is %s", got)
			}
		}},
	})
}

// wantStrayError waits for an error that answers no request in particular.
func (c *client) wantStrayError(code int) {
	c.t.Helper()
	c.Wait(fmt.Sprintf("error %d without an id", code), func(m *peer.Message) bool {
		err := m.Failure()
		return string(m.ID) == "null" && err != nil && err.Code == code
	})
}

package conformance

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func TestPrompt(t *testing.T) {
	verify(t, []requirement{
		{"ACP-PROMPT-001", func(_ *testing.T, c *client) { c.prompt(c.newSession(), text("hello")) }},
		{"ACP-PROMPT-002", func(t *testing.T, c *client) {
			session, other := c.newSession(), c.newSession()
			m := c.prompt(session, text("D:SAY one ; D:TOOL read README.md"))
			before, after := c.updates(session, m.N)
			if kinds(before)["agent_message_chunk"] == 0 {
				t.Error("the turn shows nothing")
			}
			if n := history(after); n != 0 {
				t.Errorf("%d updates of the turn come after its response", n)
			}
			if _, strays := c.updates(other, 0); history(strays) != 0 {
				t.Errorf("the other session has %v", kinds(strays))
			}
		}},
		{"ACP-PROMPT-003", func(_ *testing.T, c *client) {
			link := object{"type": "resource_link", "name": "README", "uri": "file://" + c.bed.Work + "/README.md"}
			c.prompt(c.newSession(), text("Look at this:"), link)
		}},
	})
}

func TestCancel(t *testing.T) {
	verify(t, []requirement{
		{"ACP-CANCEL-001", func(t *testing.T, c *client) {
			session := c.newSession()
			id := c.begin(session)
			c.Notify("session/cancel", object{"sessionId": session})
			if stop := stopReason(c.Response(id)); stop != "cancelled" {
				t.Errorf("the turn ends with %q", stop)
			}
		}},
		{"ACP-CANCEL-002", func(t *testing.T, c *client) {
			session := c.newSession()
			id := c.begin(session)
			c.Notify("session/cancel", object{"sessionId": session})
			_, after := c.updates(session, c.Response(id).N)
			if len(after) != 0 {
				t.Errorf("after the response come %v", kinds(after))
			}
		}},
	})
}

// pixel is a PNG of one pixel, silence a WAV without samples.
const (
	pixel   = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	silence = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
)

func TestPromptCapabilities(t *testing.T) {
	embedded := object{"type": "resource", "resource": object{"uri": "file:///notes.txt", "text": "take note"}}
	verify(t, []requirement{
		{"ACP-PROMPTCAP-001", block("image", object{"type": "image", "mimeType": "image/png", "data": pixel})},
		{"ACP-PROMPTCAP-002", block("audio", object{"type": "audio", "mimeType": "audio/wav", "data": silence})},
		{"ACP-PROMPTCAP-003", block("embeddedContext", embedded)},
	})
}

// block tests that a kind of content is taken when its capability says so, and
// refused in so many words when not.
func block(capability string, b object) func(*testing.T, *client) {
	return func(_ *testing.T, c *client) {
		session := c.newSession()
		if c.can.Agent.Prompt[capability] {
			c.prompt(session, text("Look:"), b)
			return
		}
		c.wantCode(c.Call("session/prompt", promptParams(session, text("Look:"), b)), -32602)
	}
}

// TestClientCapabilities has tools run that would use a client's files,
// terminal and forms, had it offered them.
func TestClientCapabilities(t *testing.T) {
	never := func(prefix, prompt string) func(*testing.T, *client) {
		return func(t *testing.T, c *client) {
			c.prompt(c.newSession(), text(prompt))
			c.end()
			for _, m := range c.all {
				if strings.HasPrefix(m.Method, prefix) {
					t.Errorf("the agent asks for %s", m.Method)
				}
			}
		}
	}
	verify(t, []requirement{
		{"ACP-CLIENTCAP-001", never("fs/", "D:TOOL read README.md ; D:TOOL write new.txt text")},
		{"ACP-CLIENTCAP-002", never("terminal/", "D:TOOL shell echo hello")},
		{"ACP-CLIENTCAP-003", never("elicitation/", `D:TOOL ask_user {"question":"Which?","choices":["a","b"]}`)},
	})
}

// member returns a member of an object as JSON.
func member(v jsontext.Value, name string) string {
	var members map[string]jsontext.Value
	_ = json.Unmarshal(v, &members)
	return string(members[name])
}

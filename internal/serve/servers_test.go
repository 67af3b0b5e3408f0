package serve_test

import (
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const twoServers = `[{"name":"files","command":"/bin/files","args":[],"env":[]},{"type":"http","name":"web","url":"http://127.0.0.1:1/","headers":[]}]`

// TestServersOfRemoteClients: commands are started only for clients on this
// machine, or where the configuration lets others; the rest is reported.
func TestServersOfRemoteClients(t *testing.T) {
	for _, c := range []struct {
		name                   string
		o                      serve.ConnOptions
		caps                   string
		let                    bool
		reported, web, inWords bool
	}{
		{name: "local", o: serve.ConnOptions{Local: true}},
		{name: "remote", reported: true},
		{name: "remote, in words", caps: `{}`, reported: true, inWords: true},
		{name: "remote, allowed", let: true},
		{name: "all hands on the client", caps: `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"session":{"notices":{}},"_meta":{"grapnel":{"tools":"client"}}}`, reported: true, web: true},
	} {
		h := newHouse(t)
		h.on(memory.New(), serve.Options{Persistent: true, RemoteStdio: func() bool { return c.let }})
		c.o.Owner, c.o.Role = "local", session.Approver
		if c.caps == "" {
			c.caps = `{"session":{"notices":{}}}`
		}
		a := h.connectAs(c.o, c.caps)
		a.must("session/new", `{"cwd":"`+h.dir+`","mcpServers":`+twoServers+`}`)
		a.until("session_info_update") // which comes after the reports
		kind := `"sessionUpdate":"notice","severity":"warning","title":"MCP server files is not used"`
		if c.inWords {
			kind = `"agent_message_chunk","content":{"type":"text","text":"MCP server files is not used: `
		}
		if got := a.saw(kind); got != c.reported {
			t.Errorf("%s: reported %t", c.name, got)
		}
		if got := a.saw("MCP server web"); got != c.web {
			t.Errorf("%s: the one over HTTP is reported %t", c.name, got)
		}
	}
}

// TestHandsOfRemoteClients: a client's files are used where they are the
// session's.
func TestHandsOfRemoteClients(t *testing.T) {
	const both = `"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true`
	for _, c := range []struct {
		name, caps string
		local      bool
		used       bool
		code       acp.ErrorCode
	}{
		{"local", `{` + both + `}`, true, true, 0},
		{"remote", `{` + both + `}`, false, false, 0},
		{"shared paths", `{` + both + `,"_meta":{"grapnel":{"clientFs":true}}}`, false, true, 0},
		{"all hands", `{` + both + `,"_meta":{"grapnel":{"tools":"client"}}}`, false, true, 0},
		{"hands of the gateway", `{` + both + `,"_meta":{"grapnel":{"tools":"gateway"}}}`, false, false, 0},
		{"all hands, and none", `{"_meta":{"grapnel":{"tools":"client"}}}`, false, false, acp.CodeInvalidParams},
		{"all hands without terminals", `{"fs":{"readTextFile":true,"writeTextFile":true},"_meta":{"grapnel":{"tools":"client"}}}`, true, false, acp.CodeInvalidParams},
	} {
		h := newHouse(t)
		h.driver = reader{}
		h.on(memory.New(), serve.Options{Persistent: true})
		a := h.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver, Local: c.local}, c.caps)
		if c.code != 0 {
			if code := a.code("session/new", `{"cwd":"`+h.dir+`","mcpServers":[]}`); code != c.code {
				t.Errorf("%s: %d", c.name, code)
			}
			continue
		}
		id := a.open()
		done := a.begin("session/prompt", prompt(id, "read"))
		if c.used {
			q := a.request(0)
			if q.Method != "fs/read_text_file" {
				t.Errorf("%s: asked for %s", c.name, q.Method)
			}
			_ = q.Fail(acp.Errorf(acp.CodeInternalError, "no"))
		}
		r := <-done
		a.mu.Lock()
		if len(a.asked) > 0 != c.used {
			t.Errorf("%s: asked %d times (%v)", c.name, len(a.asked), r.err)
		}
		a.mu.Unlock()
	}
}

// TestDirectoryOfTheClient: where all hands are on the client, so is the
// directory.
func TestDirectoryOfTheClient(t *testing.T) {
	h := newHouse(t)
	caps := `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"_meta":{"grapnel":{"tools":"client"}}}`
	a := h.connectAs(serve.ConnOptions{Owner: "local", Role: session.Approver}, caps)
	got := string(a.must("session/new", `{"cwd":"/Users/me/x/../project","mcpServers":[]}`))
	if !strings.Contains(got, `"/Users/me/project"`) {
		t.Errorf("the session is in %s", got)
	}
	for _, cwd := range []string{"", ".", "project"} {
		if code := a.code("session/new", `{"cwd":"`+cwd+`","mcpServers":[]}`); code != acp.CodeInvalidParams {
			t.Errorf("in %q: %d", cwd, code)
		}
	}
}

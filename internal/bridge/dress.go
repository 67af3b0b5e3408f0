package bridge

import (
	"strconv"
	"strings"
)

// introduce is the client's initialize as the gateway gets it.
func (o Options) introduce(params []byte, from origin) []byte {
	tools := "gateway"
	if o.ToolsClient {
		tools = "client"
	}
	says := `{"bridge":` + quote(from.bridge) + `,"clientFs":` + strconv.FormatBool(o.ClientFs) + `,"tools":` + quote(tools) + `}`
	return set(params, says, "clientCapabilities", "_meta", "grapnel")
}

// withoutHands takes back that the client can read and write files and run
// commands: its paths are not those of the gateway's host.
func withoutHands(params []byte) []byte {
	for name, no := range map[string]string{
		"fs": `{"readTextFile":false,"writeTextFile":false}`, "terminal": "false",
	} {
		if !find(params, object(params), "clientCapabilities", name).isZero() {
			params = set(params, no, "clientCapabilities", name)
		}
	}
	return params
}

// initializeResult is the answer to initialize while there is no gateway to ask:
// what Grapnel can do.
func (o Options) initializeResult() string {
	return `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,` +
		`"promptCapabilities":{"image":true,"audio":false,"embeddedContext":true},` +
		`"mcpCapabilities":{"http":true,"sse":true},` +
		`"sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{},"additionalDirectories":{},"fork":{},"archive":{},"status":{},"title":{}},` +
		`"auth":{"logout":{}},"_meta":{"grapnel":{"seq":true,"after":true,"promptKeys":true,` +
		`"roles":["observer","prompter","approver"],"sessionKeys":true,"listPageSize":100,` +
		`"methods":["_grapnel/session/search","_grapnel/session/label","_grapnel/session/share","_grapnel/session/revoke"]}}},"agentInfo":{"name":"grapnel","title":"Grapnel","version":` + quote(o.Version) + `},` +
		`"authMethods":[],"_meta":{"steering":{"supported":true}}}`
}

// choose adds to session/new which session is meant, unless the client says it
// itself. A session is begun anew once. mu is held.
func (b *Bridge) choose(msg []byte) []byte {
	o := b.opts
	meta := func(name string) bool {
		return !find(msg, object(msg), "params", "_meta", name).isZero()
	}
	if !meta("sessionKey") && !meta("sessionLabel") {
		switch {
		case o.SessionLabel != "":
			msg = set(msg, quote(o.SessionLabel), "params", "_meta", "sessionLabel")
		case o.SessionKey != "":
			msg = set(msg, quote(o.SessionKey), "params", "_meta", "sessionKey")
		}
	}
	if o.RequireExisting && !meta("requireExisting") {
		msg = set(msg, "true", "params", "_meta", "requireExisting")
	}
	if o.Reset && !b.reset && !meta("resetSession") {
		b.reset = true
		msg = set(msg, "true", "params", "_meta", "resetSession")
	}
	if o.NoPrefixCwd && !meta("prefixCwd") {
		msg = set(msg, "false", "params", "_meta", "prefixCwd")
	}
	if o.Provenance == ProvenanceMeta || o.Provenance == ProvenanceReceipt {
		cwd := text(msg, find(msg, object(msg), "params", "cwd"))
		msg = set(msg, b.provenance("", cwd), "params", "_meta", "provenance")
	}
	return msg
}

// unmark notes that a session/new came to nothing: the next one begins the
// session anew. mu is held.
func (b *Bridge) unmark(c *call) {
	if c.method == "session/new" && c.resets() {
		b.reset = false
	}
}

// provenance tells where a message comes from. The session is the same on both
// sides of the bridge, which renames nothing.
func (b *Bridge) provenance(id, cwd string) string {
	p := `{"bridge":` + quote(b.origin.bridge) + `,"originHost":` + quote(b.origin.host)
	if cwd != "" {
		p += `,"originCwd":` + quote(cwd)
	}
	if id != "" {
		target := id
		if b.opts.SessionKey != "" {
			target = b.opts.SessionKey
		}
		p += `,"acpSessionId":` + quote(id) + `,"originSessionId":` + quote(id) + `,"targetSession":` + quote(target)
	}
	return p + "}"
}

// receiptBytes bounds what of a path or name a receipt shows the model.
const receiptBytes = 200

// accompany adds to a prompt what the model or the record is to know of where it
// comes from. mu is held.
func (b *Bridge) accompany(id string, msg []byte) []byte {
	s := b.state.sessions[id]
	if s == nil {
		s = &session{}
	}
	if s.prefix && !b.opts.NoPrefixCwd && s.cwd != "" {
		msg = prefixed(msg, "[Working directory: "+tilde(s.cwd)+"]")
	}
	if b.opts.Provenance == ProvenanceReceipt {
		msg = prefixed(msg, "[Source Receipt]\nbridge: "+b.origin.bridge+"\nhost: "+clip(b.origin.host)+
			"\ndirectory: "+clip(s.cwd)+"\nsession: "+clip(id)+"\n[/Source Receipt]")
	}
	if b.opts.Provenance == ProvenanceMeta || b.opts.Provenance == ProvenanceReceipt {
		msg = set(msg, b.provenance(id, s.cwd), "params", "_meta", "provenance")
	}
	return msg
}

// clip keeps a line within a receipt.
func clip(line string) string {
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == '[' || r == ']' {
			return ' '
		}
		return r
	}, line)
	if len(line) > receiptBytes {
		line = strings.ToValidUTF8(line[:receiptBytes], "") + "…"
	}
	return line
}

// prefixed puts a block of text before a prompt's.
func prefixed(msg []byte, words string) []byte {
	at := find(msg, object(msg), "params", "prompt")
	if at.isZero() {
		return msg
	}
	return replace(msg, at, prepend(at.of(msg), `{"type":"text","text":`+quote(words)+`}`))
}

// notice tells the client about the connection in one of its sessions, in the
// form it knows.
func (b *Bridge) notice(id, severity, title, words string) []byte {
	b.mu.Lock()
	knows := b.init != nil && !find(b.init.params, object(b.init.params), "clientCapabilities", "session", "notices").isZero()
	b.mu.Unlock()
	update := `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + quote("\n"+title+": "+words+"\n") + `}}`
	if knows {
		update = `{"sessionUpdate":"notice","severity":` + quote(severity) + `,"title":` + quote(title) + `,"description":` + quote(words) + `}`
	}
	return notification("session/update", `{"sessionId":`+quote(id)+`,"update":`+update+`}`)
}

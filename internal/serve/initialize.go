package serve

import (
	"bytes"
	"math"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// protocolVersion is the only version served.
const protocolVersion = 1

// caps is what a client declared, as far as it changes what it is sent.
// Malformed parts count as not declared.
type caps struct {
	readFile, writeFile, terminal bool
	authTerminal                  bool
	elicitForm                    bool
	notices, compaction           bool
	booleans                      bool
	clientFs                      bool // its paths are ours, although it is not on this machine
	handsOnly                     bool // nothing is to be done here, all of it there
	declared                      raw  // as the client wrote it
}

// initializeParams is read leniently: each part on its own, so that one bad
// part costs only itself.
type initializeParams struct {
	ProtocolVersion    raw `json:"protocolVersion"`
	ClientCapabilities raw `json:"clientCapabilities"`
	Capabilities       raw `json:"capabilities"` // v2 spelling
}

// initialize answers the handshake (ACP v1, initialize). It may be repeated;
// sessions live on.
func (c *conn) initialize(req *acp.Request) {
	var p initializeParams
	if isNull(req.Params) {
		c.dialect.Store(true) // only dialect clients send no params at all
	} else if err := json.Unmarshal(req.Params, &p); err != nil {
		c.fail(req, acp.Errorf(acp.CodeInvalidParams, "initialize: params must be an object"))
		return
	}
	if err := checkVersion(p.ProtocolVersion); err != nil {
		c.fail(req, err)
		return
	}
	declared := p.ClientCapabilities
	if isNull(declared) {
		declared = p.Capabilities
	}
	if err := c.actFor(declared); err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	c.mu.Lock()
	c.caps = readCaps(declared)
	c.mu.Unlock()
	if present(declared, "_meta", "zeroclaw") {
		c.dialect.Store(true)
	}
	c.initialized.Store(true)
	c.reply(req, c.initializeResult())
}

// checkVersion accepts what a client may ask for: any u16, also as a string,
// or nothing. The answer is always 1.
func checkVersion(v raw) *acp.Error {
	if len(v) == 0 {
		return nil
	}
	text := string(v)
	if v.Kind() == '"' {
		if err := json.Unmarshal(v, &text); err != nil {
			text = ""
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > math.MaxUint16 {
		return acp.Errorf(acp.CodeInvalidParams,
			"initialize: protocolVersion must be an integer from 0 to 65535, not %.40s; this agent speaks version %d", v, protocolVersion)
	}
	return nil
}

func readCaps(v raw) caps {
	return caps{
		declared:     v,
		readFile:     isTrue(v, "fs", "readTextFile"),
		writeFile:    isTrue(v, "fs", "writeTextFile"),
		terminal:     isTrue(v, "terminal"),
		authTerminal: isTrue(v, "auth", "terminal"),
		elicitForm:   present(v, "elicitation", "form"),
		notices:      present(v, "session", "notices"),
		compaction:   present(v, "session", "compaction"),
		booleans:     present(v, "session", "configOptions", "boolean"),
		clientFs:     isTrue(v, "_meta", "grapnel", "clientFs"),
		handsOnly:    string(lookup(v, "_meta", "grapnel", "tools")) == `"client"`,
	}
}

// lookup follows object members; it returns nil where there is none.
func lookup(v raw, path ...string) raw {
	for _, name := range path {
		var members map[string]raw
		if v.Kind() != '{' || json.Unmarshal(v, &members) != nil {
			return nil
		}
		v = members[name]
	}
	return v
}

// present reports whether an object stands at path: how ACP marks support.
func present(v raw, path ...string) bool {
	v = lookup(v, path...)
	return len(v) > 0 && v.Kind() == '{'
}

func isTrue(v raw, path ...string) bool {
	return string(lookup(v, path...)) == "true"
}

func isNull(v raw) bool {
	return len(bytes.TrimSpace(v)) == 0 || string(bytes.TrimSpace(v)) == "null"
}

type empty struct{}

type initializeResult struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities agentCapabilities `json:"agentCapabilities"`
	AgentInfo         agentInfo         `json:"agentInfo"`
	AuthMethods       []AuthMethod      `json:"authMethods"`
	Meta              initializeMeta    `json:"_meta"`
}

type agentInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type agentCapabilities struct {
	LoadSession         bool                 `json:"loadSession"`
	PromptCapabilities  promptCapabilities   `json:"promptCapabilities"`
	McpCapabilities     mcpCapabilities      `json:"mcpCapabilities"`
	SessionCapabilities *sessionCapabilities `json:"sessionCapabilities,omitzero"`
	Auth                authCapabilities     `json:"auth"`
	Meta                capabilitiesMeta     `json:"_meta"`
}

// capabilitiesMeta says which extensions are served (docs/protocol-extensions.md).
type capabilitiesMeta struct {
	Grapnel grapnelCapabilities `json:"grapnel"`
}

type grapnelCapabilities struct {
	Seq          bool     `json:"seq"`          // updates carry _meta.grapnel.seq
	Resume       bool     `json:"after"`        // load and resume take _meta.grapnel.after
	PromptKeys   bool     `json:"promptKeys"`   // prompts take _meta.grapnel.key
	Roles        []string `json:"roles"`        // new, load and resume take _meta.grapnel.role
	SessionKeys  bool     `json:"sessionKeys"`  // session/new takes _meta.sessionKey
	ListPageSize int      `json:"listPageSize"` // most rows of a page of session/list
	Methods      []string `json:"methods"`
}

type promptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

type mcpCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type sessionCapabilities struct {
	List                  empty `json:"list"`
	Resume                empty `json:"resume"`
	Close                 empty `json:"close"`
	Delete                empty `json:"delete"`
	AdditionalDirectories empty `json:"additionalDirectories"`
	Fork                  empty `json:"fork"`
	Archive               empty `json:"archive"`
	Status                empty `json:"status"`
	Title                 empty `json:"title"`
}

type authCapabilities struct {
	Logout empty `json:"logout"`
}

type initializeMeta struct {
	Steering struct {
		Supported bool `json:"supported"`
	} `json:"steering"`
	ZeroClaw dialectMeta `json:"zeroclaw"`
}

func (c *conn) initializeResult() initializeResult {
	o := &c.server.opts
	agent, known := o.Agents.Default(c.opts.Agent)
	c.mu.Lock()
	terminal := c.caps.authTerminal
	c.mu.Unlock()
	r := initializeResult{
		ProtocolVersion: protocolVersion,
		AgentInfo:       agentInfo{"grapnel", "Grapnel", o.Version},
		AuthMethods:     o.Auth.Methods(terminal),
		AgentCapabilities: agentCapabilities{
			LoadSession:        o.Persistent,
			PromptCapabilities: promptCapabilities{agent.Image, agent.Audio, true},
			McpCapabilities:    mcpCapabilities{HTTP: true, SSE: true},
		},
	}
	if r.AuthMethods == nil {
		r.AuthMethods = []AuthMethod{}
	}
	if o.Persistent {
		r.AgentCapabilities.SessionCapabilities = &sessionCapabilities{}
	}
	r.AgentCapabilities.Meta.Grapnel = c.extensions()
	r.Meta.Steering.Supported = true
	r.Meta.ZeroClaw = dialectMeta{MaxSessions: o.MaxSessions, SessionTimeoutSecs: int(o.SessionTimeout.Seconds())}
	if known {
		r.Meta.ZeroClaw.DefaultModel = agent.Model
	}
	return r
}

// extensions are what this server adds to the protocol.
func (c *conn) extensions() grapnelCapabilities {
	g := grapnelCapabilities{Seq: true, PromptKeys: true, Roles: []string{}, Methods: []string{}}
	for role := session.Observer; role <= c.opts.Role; role++ {
		g.Roles = append(g.Roles, role.String())
	}
	if c.server.opts.Persistent {
		g.Resume, g.SessionKeys, g.ListPageSize = true, true, listPage
		g.Methods = []string{MethodSearch, MethodLabel, MethodShare, MethodRevoke}
	}
	return g
}

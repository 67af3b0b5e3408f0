package serve

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// params is the superset of what clients send with session methods: base ACP,
// the dialect's aliases, and snake case. Unknown members are ignored.
type params struct {
	SessionID  string `json:"sessionId"`
	SessionID2 string `json:"session_id"`

	Cwd        *string  `json:"cwd"`
	Cwd2       *string  `json:"workspaceDir"`
	Cwd3       *string  `json:"workspace_dir"`
	Roots      []string `json:"additionalDirectories"`
	McpServers raw      `json:"mcpServers"`

	Agent  string `json:"agentAlias"`
	Agent2 string `json:"agent_alias"`
	Agent3 string `json:"agent"`

	Prompt   raw    `json:"prompt"`
	ModeID   string `json:"modeId"`
	ModelID  string `json:"modelId"`
	ConfigID string `json:"configId"`
	Type     string `json:"type"`
	Value    raw    `json:"value"`
	Title    string `json:"title"`
	Grants   raw    `json:"grants"`

	Owner  string  `json:"owner"`
	Role   string  `json:"role"`
	Revoke bool    `json:"revoke"`
	Label  *string `json:"label"`
	Text   string  `json:"text"`
	Limit  raw     `json:"limit"`

	Cursor   string `json:"cursor"`
	Archived string `json:"archived"`

	Meta raw `json:"_meta"`

	reports []raw // what the client is to be told when it has joined
}

// parseParams reads the params of a session method; absent ones are empty.
func parseParams(v raw) (*params, error) {
	p := new(params)
	if isNull(v) {
		return p, nil
	}
	if err := json.Unmarshal(v, p); err != nil {
		return nil, badParams(err)
	}
	return p, nil
}

func (p *params) session() string { return firstNonEmpty(p.SessionID, p.SessionID2) }

// cwd is the directory asked for, "" for none.
func (p *params) cwd() string {
	for _, s := range []*string{p.Cwd, p.Cwd2, p.Cwd3} {
		if s != nil {
			return *s
		}
	}
	return ""
}

func (p *params) agent() string {
	var m struct {
		Alias string `json:"agentAlias"`
	}
	if !isNull(p.Meta) {
		_ = json.Unmarshal(p.Meta, &m) // a malformed hint is no hint
	}
	return firstNonEmpty(p.Agent, p.Agent2, p.Agent3, m.Alias)
}

// namesAgent reports whether the dialect's agent members are used.
func (p *params) namesAgent() bool { return firstNonEmpty(p.Agent, p.Agent2, p.Agent3) != "" }

// servers splits the client's MCP servers; a missing or null list is empty.
func (p *params) servers() ([]raw, error) {
	if isNull(p.McpServers) {
		return nil, nil
	}
	var list []raw
	if err := json.Unmarshal(p.McpServers, &list); err != nil {
		return nil, acp.Errorf(acp.CodeInvalidParams, "mcpServers must be an array")
	}
	return list, bounded("mcpServers", len(list), maxServers)
}

// idempotencyKey is the bridge's name for one prompt (_meta.grapnel.key).
func (p *params) idempotencyKey() string {
	var s string
	if v := lookup(p.Meta, "grapnel", "key"); len(v) > 0 {
		_ = json.Unmarshal(v, &s) // a malformed key is no key
	}
	return s
}

// maxProvenance bounds what a bridge says of where a prompt comes from, in bytes.
const maxProvenance = 16 << 10

// provenance is where a prompt comes from (_meta.provenance), nil when nothing is
// said of it.
func (p *params) provenance() (raw, error) {
	v := lookup(p.Meta, "provenance")
	switch {
	case isNull(v):
		return nil, nil
	case v.Kind() != '{':
		return nil, session.Invalidf("_meta.provenance must be an object")
	case len(v) > maxProvenance:
		return nil, session.Invalidf("_meta.provenance has %d bytes, more than %d", len(v), maxProvenance)
	}
	return v, nil
}

// after is the last number a reconnecting client has (_meta.grapnel.after).
func (p *params) after() (session.Seq, bool) {
	v := lookup(p.Meta, "grapnel", "after")
	n, err := strconv.ParseUint(string(v), 10, 64)
	return session.Seq(n), err == nil
}

// subagents says whether the sessions of subagents are listed too
// (_meta.grapnel.subagents).
func (p *params) subagents() bool { return string(lookup(p.Meta, "grapnel", "subagents")) == "true" }

func firstNonEmpty(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// badParams says which member of params has the wrong type.
func badParams(err error) *acp.Error {
	var at *json.SemanticError
	if !errors.As(err, &at) {
		return acp.Errorf(acp.CodeInvalidParams, "invalid params: %v", err)
	}
	if at.JSONPointer == "" {
		return acp.Errorf(acp.CodeInvalidParams, "invalid params: they must be an object")
	}
	return acp.Errorf(acp.CodeInvalidParams, "invalid params: %s must not be a %s", at.JSONPointer, kindName(at.JSONKind))
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '0':
		return "number"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return "value of this kind"
}

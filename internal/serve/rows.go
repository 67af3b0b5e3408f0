package serve

import (
	"context"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// listPage bounds one page of session/list, and one answer of a search.
const listPage = 100

// sessionRow is ACP SessionInfo.
type sessionRow struct {
	SessionID string   `json:"sessionId"`
	Cwd       string   `json:"cwd"`
	Roots     []string `json:"additionalDirectories,omitzero"`
	Title     string   `json:"title,omitzero"`
	UpdatedAt string   `json:"updatedAt"`
	Archived  bool     `json:"archived"`
	Meta      rowMeta  `json:"_meta"`
}

// rowMeta is what more there is to know of a session.
type rowMeta struct {
	SessionKey string `json:"sessionKey,omitzero"` // the owner's own name for it
	Label      string `json:"label,omitzero"`
	Kind       string `json:"kind"`
	Agent      string `json:"agent"`
	Channel    string `json:"channel"`
	Parent     string `json:"parentSessionId,omitzero"`
	State      string `json:"state"`
	Owner      string `json:"owner"`
	Role       string `json:"role"` // what this client may do in it at most
	// Of a subagent's session, where it is told of alone.
	SpawnedBy  string `json:"spawnedBy,omitzero"`
	SpawnDepth int    `json:"spawnDepth,omitzero"`

	Grapnel *subagentMeta `json:"grapnel,omitzero"`
}

// subagentMeta says whose subagent's a session is.
type subagentMeta struct {
	Parent   string `json:"parent"`
	Subagent bool   `json:"subagent"`
}

// channelACP is where all sessions of this surface come from.
const channelACP = "acp"

func (c *conn) rowMeta(ctx context.Context, i session.Info) rowMeta {
	role, _ := i.RoleOf(c.opts.Owner)
	m := rowMeta{
		Label: i.Label, Kind: session.KeyACP, Agent: i.Agent, Channel: channelACP, Parent: i.Parent,
		State: c.hub().State(ctx, i), Owner: i.Owner, Role: min(role, c.opts.Role).String(),
	}
	if i.Owner == c.opts.Owner {
		m.SessionKey = i.Key
	}
	if i.Subagent {
		m.Kind = session.KeySubagent
		m.Grapnel = &subagentMeta{i.Parent, true}
	}
	return m
}

// maxDepth bounds how far up parents are followed.
const maxDepth = 16

// fullMeta is rowMeta, and who spawned the session and how deep.
func (c *conn) fullMeta(ctx context.Context, i session.Info) rowMeta {
	m := c.rowMeta(ctx, i)
	for i.Subagent && m.SpawnDepth < maxDepth {
		parent, err := c.hub().Info(ctx, i.Parent)
		if err != nil {
			break // it is gone, or not for this client
		}
		if m.SpawnDepth++; m.SpawnedBy == "" {
			m.SpawnedBy = firstNonEmpty(parent.Key, parent.ID)
		}
		i = parent
	}
	return m
}

func (c *conn) row(ctx context.Context, i session.Info) sessionRow {
	return sessionRow{
		SessionID: i.ID, Cwd: i.Cwd, Roots: i.Roots, Title: i.Title,
		UpdatedAt: i.UpdatedAt.UTC().Format(time.RFC3339Nano), Archived: i.Archived, Meta: c.rowMeta(ctx, i),
	}
}

// list answers session/list.
func (c *conn) list(ctx context.Context, req *acp.Request) {
	p, err := parseParams(req.Params)
	if err != nil {
		c.fail(req, err)
		return
	}
	f, limit, err := listFilter(p)
	if err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	infos, next, err := c.hub().List(ctx, f, p.Cursor, limit)
	if err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	rows := make([]sessionRow, 0, len(infos))
	for _, i := range infos {
		rows = append(rows, c.row(ctx, i))
	}
	c.reply(req, struct {
		Sessions   []sessionRow `json:"sessions"`
		NextCursor string       `json:"nextCursor,omitzero"`
	}{rows, next})
}

func listFilter(p *params) (f session.Filter, limit int, err error) {
	cwd := p.cwd()
	if cwd != "" && !filepath.IsAbs(cwd) {
		return f, 0, session.Invalidf("cwd must be an absolute path, not %q", cwd)
	}
	f = session.Filter{Cwd: knownAs(cwd), Subagents: p.subagents()}
	if f.Archived, err = archiveFilter(p.Archived); err != nil {
		return f, 0, err
	}
	limit, err = pageSize("_meta.limit", lookup(p.Meta, "limit"))
	return f, limit, err
}

// pageSize reads how many rows a client wants; more than a page is a page.
func pageSize(name string, v raw) (int, error) {
	if isNull(v) {
		return listPage, nil
	}
	var n int64
	if json.Unmarshal(v, &n) != nil || n < 1 {
		return 0, session.Invalidf("%s must be a number from 1 to %d, not %.40s", name, listPage, v)
	}
	return int(min(n, listPage)), nil
}

func archiveFilter(s string) (session.Archived, error) {
	switch s {
	case "", "exclude":
		return session.ExcludeArchived, nil
	case "include":
		return session.IncludeArchived, nil
	case "only":
		return session.OnlyArchived, nil
	}
	return 0, session.Invalidf("archived must be exclude, include or only, not %q", s)
}

// MethodSearch finds what was said in the sessions of all agents:
// {text, limit?, agentAlias?, cwd?, archived?} → {hits}.
const MethodSearch = "_grapnel/session/search"

// hit is one message that was found.
type hit struct {
	sessionRow
	Seq     session.Seq `json:"seq"` // of the message, as _meta.grapnel.seq
	Role    string      `json:"role"`
	Snippet string      `json:"snippet"`
}

func (c *conn) search(ctx context.Context, req *acp.Request) {
	p, err := parseParams(req.Params)
	if err != nil {
		c.fail(req, err)
		return
	}
	f, _, err := listFilter(p)
	limit := 0
	if err == nil {
		limit, err = pageSize("limit", p.Limit)
	}
	if err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	f.Agent = p.agent()
	found, err := c.hub().Search(ctx, p.Text, f, limit)
	if err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	hits := make([]hit, 0, len(found))
	for _, h := range found {
		hits = append(hits, hit{c.row(ctx, h.Info), h.Seq, h.Role, h.Snippet})
	}
	c.reply(req, struct {
		Hits []hit `json:"hits"`
	}{hits})
}

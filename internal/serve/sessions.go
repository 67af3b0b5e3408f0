package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// setupResult is what new, load, resume and fork answer with.
type setupResult struct {
	SessionID     string      `json:"sessionId,omitzero"`
	WorkspaceDir  string      `json:"workspaceDir,omitzero"`
	Modes         raw         `json:"modes,omitzero"`
	ConfigOptions raw         `json:"configOptions,omitzero"`
	Models        raw         `json:"models,omitzero"`
	Meta          *resultMeta `json:"_meta,omitzero"`
}

type resultMeta struct {
	ZeroClaw dialectMeta `json:"zeroclaw"`
	rowMeta
}

// dialectMeta carries the dialect's own fields where base ACP allows them.
type dialectMeta struct {
	DefaultModel       string `json:"defaultModel,omitzero"`
	MaxSessions        int    `json:"maxSessions,omitzero"`
	SessionTimeoutSecs int    `json:"sessionTimeoutSecs,omitzero"`
	WorkspaceDir       string `json:"workspaceDir,omitzero"`
}

func newSetupResult(s session.Setup) setupResult {
	return setupResult{Modes: s.Modes, ConfigOptions: s.ConfigOptions, Models: s.Models}
}

// newSession answers session/new: the row is stored before the reply, and no
// update of the session leaves before it.
func (c *conn) newSession(ctx context.Context, req *acp.Request) {
	p, err := parseParams(req.Params)
	if err != nil {
		c.fail(req, err)
		return
	}
	if isNull(req.Params) || p.namesAgent() {
		c.dialect.Store(true)
	}
	if string(lookup(req.Params, "cwd")) == "null" && !c.dialect.Load() { // leaving it out is the dialect's way
		c.fail(req, acp.Errorf(acp.CodeInvalidParams, "cwd must be an absolute path, not null"))
		return
	}
	c.choosing.Lock()
	ch, err := c.choice(p)
	if err != nil || !ch.named() {
		c.choosing.Unlock()
	} else {
		defer c.choosing.Unlock()
	}
	switch {
	case err != nil:
	case ch.named():
		err = c.chooseSomewhere(ctx, req, p, ch)
	default:
		err = c.make(ctx, req, p, func(n hub.NewSession) (session.Attachment, error) { return c.hub().Create(ctx, n) })
	}
	if err != nil {
		c.fail(req, c.wireError(err, ""))
	}
}

// make makes a session and answers with it.
func (c *conn) make(ctx context.Context, req *acp.Request, p *params, create func(hub.NewSession) (session.Attachment, error)) error {
	if c.opts.Role < session.Prompter {
		return session.ErrRole
	}
	h := &hands{conn: c}
	n, err := c.describe(p, h)
	if err != nil {
		return err
	}
	att, err := create(n)
	if err != nil {
		return err
	}
	h.bind(att.Info().ID)
	c.announce(req, att, p)
	return nil
}

// announce answers with a session's id and starts its view.
func (c *conn) announce(req *acp.Request, att session.Attachment, p *params) {
	info := att.Info()
	r := newSetupResult(att.Setup())
	r.SessionID = info.ID
	r.WorkspaceDir = info.Cwd
	r.Meta = &resultMeta{ZeroClaw: dialectMeta{WorkspaceDir: info.Cwd}, rowMeta: c.rowMeta(c.context(), info)}
	pump := newPump(att, 0, nil)
	pump.reports = p.reports
	v := c.open(pump)
	c.reply(req, r)
	v.start()
}

// describe turns the params of session/new or fork into a new session.
func (c *conn) describe(p *params, h *hands) (hub.NewSession, error) {
	agent, err := c.resolve(p.agent())
	if err != nil {
		return hub.NewSession{}, err
	}
	cwd, err := c.workDir(p.cwd(), agent.Workspace)
	if err != nil {
		return hub.NewSession{}, err
	}
	at, err := c.attachRequest(p, h)
	if err != nil {
		return hub.NewSession{}, err
	}
	return hub.NewSession{
		Owner: c.opts.Owner, Agent: agent.Alias, Cwd: cwd, Roots: at.Roots,
		Servers: at.Servers, Attach: at,
	}, nil
}

// attachRequest is how this connection joins a session.
func (c *conn) attachRequest(p *params, h *hands) (session.AttachRequest, error) {
	roots, err := c.roots(p.Roots)
	if err != nil {
		return session.AttachRequest{}, err
	}
	servers, err := c.servers(p)
	if err != nil {
		return session.AttachRequest{}, err
	}
	role, err := c.role(p)
	if err != nil {
		return session.AttachRequest{}, err
	}
	caps := c.capabilities()
	hands, err := h.offered(caps)
	if err != nil {
		return session.AttachRequest{}, err
	}
	at := session.AttachRequest{
		Owner: c.opts.Owner, Role: role, Roots: roots, Servers: servers,
		Hands:   hands,
		Answers: []session.Kind{session.KindPermission},
	}
	if caps.elicitForm {
		at.Answers = append(at.Answers, session.KindElicitation)
	}
	return at, nil
}

// load answers session/load: the whole history as updates, then the response.
func (c *conn) load(ctx context.Context, req *acp.Request, p *params) {
	c.restore(ctx, req, p, session.ReplayHistory)
}

// resume answers session/resume: no history.
func (c *conn) resume(ctx context.Context, req *acp.Request, p *params) {
	c.restore(ctx, req, p, session.ReplayNone)
}

func (c *conn) restore(ctx context.Context, req *acp.Request, p *params, replay session.Replay) {
	if !c.server.opts.Persistent { // there is no record to restore from
		c.fail(req, c.notFound(p.session()))
		return
	}
	at, err := c.restoreRequest(ctx, p, replay)
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	att, owner, err := c.join(ctx, p.session(), at)
	switch {
	case err != nil:
		c.fail(req, c.wireError(err, p.session()))
		return
	case owner != nil:
		c.relayTo(ctx, req, owner)
		return
	}
	var r setupResult
	if !c.dialect.Load() {
		r = newSetupResult(att.Setup())
		r.Meta = &resultMeta{ZeroClaw: dialectMeta{WorkspaceDir: att.Info().Cwd}, rowMeta: c.rowMeta(ctx, att.Info())}
	}
	pump := newPump(att, replayTo(at, att), func(err error) {
		switch {
		case errors.Is(err, io.EOF): // closed meanwhile
			c.fail(req, c.notFound(p.session()))
		case err != nil:
			c.fail(req, c.wireError(fmt.Errorf("session %s cannot be shown: %w", p.session(), err), p.session()))
		default:
			c.reply(req, r)
		}
	})
	pump.reports = p.reports
	c.open(pump).start()
}

// join attaches to a session, or reaches the instance where it is active. One
// that is just ending may not take calls any more and still hold the session.
func (c *conn) join(ctx context.Context, id string, at session.AttachRequest) (session.Attachment, *relay, error) {
	begun := time.Now()
	for {
		att, err := c.attach(ctx, id, at)
		var elsewhere *session.ActiveElsewhereError
		if !errors.As(err, &elsewhere) || c.server.opts.Relay == nil || c.dialect.Load() {
			return att, nil, err
		}
		r, err := c.reach(ctx, id, elsewhere)
		if err == nil || time.Since(begun) >= ownerGrace || !sleep(ctx, ownerRetry) {
			return nil, r, err
		}
	}
}

// attach joins a session. A client that has it already gets by its old
// attachment what came before the new one begins, and no event twice.
func (c *conn) attach(ctx context.Context, id string, at session.AttachRequest) (session.Attachment, error) {
	v, known := c.local(id)
	if !known {
		return c.hub().Attach(ctx, id, at)
	}
	old := v.pump.Load()
	old.halt()
	att, err := c.hub().Attach(ctx, id, at)
	if err != nil {
		old.prepare(c.context())
		v.start()
		return nil, err
	}
	if err := v.follow(old, c.context(), att.Start()); err != nil {
		old.fail(err) // what it could not write, the new one may
	}
	old.att.Detach()
	return att, nil
}

// replayTo is the number up to which the past is shown before the response.
func replayTo(at session.AttachRequest, att session.Attachment) session.Seq {
	if at.Replay == session.ReplayNone || at.Replay == session.ReplayAfter && at.After >= att.Start() {
		return 0
	}
	return att.Start()
}

func (c *conn) restoreRequest(ctx context.Context, p *params, replay session.Replay) (session.AttachRequest, error) {
	if c.dialect.Load() {
		if _, attached := c.view(p.session()); attached {
			return session.AttachRequest{}, session.Invalidf("session %s is already active", p.session())
		}
	}
	info, err := c.hub().Info(ctx, p.session())
	if err != nil {
		return session.AttachRequest{}, err
	}
	return c.joinRequest(p, info, replay)
}

// joinRequest is how this connection joins a session that is there.
func (c *conn) joinRequest(p *params, info session.Info, replay session.Replay) (session.AttachRequest, error) {
	h := &hands{conn: c}
	h.bind(info.ID)
	at, err := c.attachRequest(p, h)
	if err != nil {
		return at, err
	}
	at.Replay = replay
	agent, err := c.rebind(info.Agent)
	if err != nil {
		return at, err
	}
	if after, ok := p.after(); ok {
		at.Replay, at.After = session.ReplayAfter, after
	}
	if cwd := p.cwd(); cwd != "" && cwd != placeholderCwd {
		at.Cwd, err = c.workDir(cwd, agent.Workspace)
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// fork answers session/fork: a new session with the history of another.
func (c *conn) fork(ctx context.Context, req *acp.Request, p *params) {
	info, err := c.hub().Info(ctx, p.session())
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	agent, err := c.rebind(info.Agent)
	if err == nil {
		err = c.may(p.session(), session.Prompter)
	}
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	p.Agent = agent.Alias
	if cwd := p.cwd(); cwd == "" || cwd == placeholderCwd {
		p.Cwd, p.Roots = &info.Cwd, info.Roots
	}
	h := &hands{conn: c}
	n, err := c.describe(p, h)
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	att, err := c.hub().Fork(ctx, p.session(), n)
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	h.bind(att.Info().ID)
	c.announce(req, att, p)
}

// close answers session/close: cancels, frees, keeps the record. It is not
// offered where there is none to keep.
func (c *conn) close(ctx context.Context, req *acp.Request, p *params) {
	if !c.server.opts.Persistent {
		c.fail(req, c.notFound(p.session()))
		return
	}
	if !c.allowed(req, p.session(), session.Prompter) {
		return
	}
	pump := c.pump(p.session())
	if err := c.hub().Close(ctx, p.session()); err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	pump.finish()
	c.reply(req, empty{})
}

// stop answers the dialect's session/stop: waits for the turn, then frees. The
// wait is off the lane, so that a cancel can still end the turn.
func (c *conn) stop(ctx context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Prompter) {
		return
	}
	pump := c.pump(p.session())
	c.tasks.Go(func() {
		err := c.hub().Stop(ctx, p.session())
		if pump != nil && (errors.Is(err, session.ErrNotActive) || errors.Is(err, session.ErrNotFound)) {
			err = nil // something that was asked later ended it first
		}
		if err != nil {
			c.fail(req, c.wireError(err, p.session()))
			return
		}
		pump.finish()
		c.reply(req, struct {
			SessionID string `json:"sessionId"`
			Stopped   bool   `json:"stopped"`
		}{p.session(), true})
	})
}

// delete answers session/delete; deleting what is not there is fine.
func (c *conn) delete(ctx context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Approver) {
		return
	}
	pump := c.pump(p.session())
	if err := c.hub().Delete(ctx, p.session()); err != nil && !errors.Is(err, session.ErrNotFound) {
		c.refuse(ctx, req, p.session(), err)
		return
	}
	pump.finish()
	c.reply(req, empty{})
}

// MethodRevoke takes back what was allowed for a whole session; grants are items
// of its Info.Grants. It is how another process of the same user reaches the
// agent that has the session.
const MethodRevoke = "_grapnel/session/revoke"

func (c *conn) revoke(ctx context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Prompter) {
		return
	}
	if err := c.hub().Revoke(ctx, p.session(), p.Grants); err != nil {
		c.refuse(ctx, req, p.session(), err)
		return
	}
	c.reply(req, empty{})
}

func (c *conn) setTitle(ctx context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Prompter) {
		return
	}
	title := printable.Line(p.Title)
	if title == "" {
		c.fail(req, acp.Errorf(acp.CodeInvalidParams, "session/set_title: title must not be empty"))
		return
	}
	if err := c.hub().SetTitle(ctx, p.session(), title); err != nil {
		c.refuse(ctx, req, p.session(), err)
		return
	}
	c.reply(req, struct {
		Title string `json:"title"`
	}{title})
}

func (c *conn) archive(ctx context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Approver) {
		return
	}
	pump := c.pump(p.session())
	archived := req.Method == "session/archive"
	if err := c.hub().Archive(ctx, p.session(), archived); err != nil {
		c.refuse(ctx, req, p.session(), err)
		return
	}
	if archived {
		pump.finish()
	}
	c.reply(req, empty{})
}

func (c *conn) status(ctx context.Context, req *acp.Request, p *params) {
	s, err := c.hub().Status(ctx, p.session())
	if err != nil {
		c.fail(req, c.wireError(err, p.session()))
		return
	}
	status := "saved"
	if s.Active {
		status = "open"
	}
	c.reply(req, struct {
		Status string `json:"status"`
	}{status})
}

func (c *conn) authenticate(ctx context.Context, req *acp.Request) {
	if !c.allowed(req, "", session.Prompter) {
		return
	}
	var p struct {
		MethodID string `json:"methodId"`
	}
	if err := unmarshalParams(req.Params, &p); err != nil {
		c.fail(req, err)
		return
	}
	if err := c.server.opts.Auth.Authenticate(ctx, p.MethodID); err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	c.reply(req, empty{})
}

func (c *conn) logout(ctx context.Context, req *acp.Request) {
	if !c.allowed(req, "", session.Approver) {
		return
	}
	if err := c.server.opts.Auth.Logout(ctx); err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	c.reply(req, empty{})
}

package serve

import (
	"context"
	"unicode"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Methods that say who else may enter a session, and what its owner calls it.
const (
	MethodShare = "_grapnel/session/share" // {sessionId, owner, role} or {sessionId, owner, revoke: true}
	MethodLabel = "_grapnel/session/label" // {sessionId, label}; "" takes it away
)

// share answers MethodShare. Only the session's owner may.
func (c *conn) share(ctx context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Approver) {
		return
	}
	change, err := ReadShare(p.Owner, p.Role, p.Revoke)
	if err == nil {
		err = c.hub().Share(ctx, p.session(), change)
	}
	if err != nil {
		c.refuse(ctx, req, p.session(), err)
		return
	}
	c.reply(req, empty{})
}

// maxOwner bounds an owner's name, in bytes.
const maxOwner = 64

// ReadShare checks a change of a session's shares. Errors are InvalidErrors.
func ReadShare(owner, role string, revoke bool) (session.ShareChange, error) {
	c := session.ShareChange{Share: session.Share{Owner: owner}, Revoke: revoke}
	if owner == "" || len(owner) > maxOwner {
		return c, session.Invalidf("an owner's name has 1 to %d bytes", maxOwner)
	}
	for _, r := range owner {
		if !unicode.IsPrint(r) || unicode.IsSpace(r) {
			return c, session.Invalidf("%q is no owner's name", owner)
		}
	}
	if revoke {
		return c, nil
	}
	var err error
	c.Role, err = session.ParseRole(role)
	return c, err
}

// label answers MethodLabel.
func (c *conn) label(ctx context.Context, req *acp.Request, p *params) {
	if !c.allowed(req, p.session(), session.Prompter) {
		return
	}
	err := session.Invalidf("label is missing")
	if p.Label != nil {
		if err = nil; *p.Label != "" {
			err = session.CheckLabel(*p.Label)
		}
	}
	if err == nil {
		err = c.hub().SetLabel(ctx, p.session(), *p.Label)
	}
	if err != nil {
		c.refuse(ctx, req, p.session(), err)
		return
	}
	c.reply(req, empty{})
}

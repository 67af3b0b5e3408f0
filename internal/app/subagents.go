package app

import (
	"context"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// subagents gives the native driver the sessions its subagents work in. The hub
// is made after the driver.
type subagents struct{ app *App }

// Spawn implements native.Sessions.
func (s subagents) Spawn(ctx context.Context, info session.Info, at session.AttachRequest) (session.Attachment, error) {
	return s.app.hub.Spawn(ctx, info, at)
}

// Close implements native.Sessions.
func (s subagents) Close(ctx context.Context, id string) error { return s.app.hub.Close(ctx, id) }

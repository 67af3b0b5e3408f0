package app

import (
	"context"
	"log/slog"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// openAudit returns the audit log of a configuration's data directory.
func openAudit(c *config.Config, redact *secret.Redactor) *audit.Log {
	return audit.New(audit.Options{Dir: c.DataPath(), Redact: redact})
}

// Record puts on record what a command of the local user did, such as setting a
// credential.
func Record(ctx context.Context, c *config.Config, event audit.Event, what string) error {
	return openAudit(c, nil).Record(ctx, audit.Entry{Event: event, Owner: localOwner, What: what, By: "command line"})
}

// recordedLedger puts on record which sessions are made and deleted.
type recordedLedger struct {
	session.Ledger
	audit *audit.Log
	log   *slog.Logger // where failures go; nil returns them
}

// Create implements session.Ledger.
func (l recordedLedger) Create(ctx context.Context, info session.Info) (session.Fence, error) {
	fence, err := l.Ledger.Create(ctx, info)
	if err == nil {
		err = l.record(ctx, audit.SessionCreated, info)
	}
	return fence, err
}

// Reset implements session.Ledger.
func (l recordedLedger) Reset(ctx context.Context, old string, info session.Info) (session.Fence, error) {
	fence, err := l.Ledger.Reset(ctx, old, info)
	if err == nil {
		err = l.record(ctx, audit.SessionCreated, info)
	}
	return fence, err
}

// Delete implements session.Ledger.
func (l recordedLedger) Delete(ctx context.Context, id string) error {
	info, missing := l.Info(ctx, id)
	err := l.Ledger.Delete(ctx, id)
	if err == nil && missing == nil {
		err = l.record(ctx, audit.SessionDeleted, info)
	}
	return err
}

func (l recordedLedger) record(ctx context.Context, event audit.Event, info session.Info) error {
	err := l.audit.Record(ctx, audit.Entry{Event: event, Owner: info.Owner, Session: info.ID, Agent: info.Agent, What: info.Cwd})
	if err != nil && l.log != nil {
		l.log.Warn("not on record: "+string(event), "session", info.ID, "err", err)
		return nil
	}
	return err
}

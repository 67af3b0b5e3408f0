package app

import (
	"context"
	"errors"
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

// recordedLedger puts on record which sessions are made, shared and deleted.
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

// Update implements session.Ledger.
func (l recordedLedger) Update(ctx context.Context, id string, fence session.Fence, c session.InfoChange) error {
	err := l.Ledger.Update(ctx, id, fence, c)
	if err == nil && len(c.Shares) > 0 {
		err = l.recordShares(ctx, id, c.Shares)
	}
	return err
}

// Append implements session.Ledger.
func (l recordedLedger) Append(ctx context.Context, id string, fence session.Fence, b session.Batch) (session.Seq, error) {
	seq, err := l.Ledger.Append(ctx, id, fence, b)
	if err == nil && b.Change != nil && len(b.Change.Shares) > 0 {
		err = l.recordShares(ctx, id, b.Change.Shares)
	}
	return seq, err
}

func (l recordedLedger) recordShares(ctx context.Context, id string, changes []session.ShareChange) error {
	info, err := l.Info(ctx, id)
	for _, c := range changes {
		what := c.Owner + " may enter as " + c.Role.String()
		if c.Revoke {
			what = c.Owner + " may not enter any more"
		}
		err = errors.Join(err, l.recordAs(ctx, audit.SessionShared, info, what))
	}
	return err
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
	return l.recordAs(ctx, event, info, info.Cwd)
}

func (l recordedLedger) recordAs(ctx context.Context, event audit.Event, info session.Info, what string) error {
	err := l.audit.Record(ctx, audit.Entry{Event: event, Owner: info.Owner, Session: info.ID, Agent: info.Agent, What: what})
	if err != nil && l.log != nil {
		l.log.Warn("not on record: "+string(event), "session", info.ID, "err", err)
		return nil
	}
	return err
}

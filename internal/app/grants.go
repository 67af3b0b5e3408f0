package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Grants returns what people have allowed for a whole session, oldest first.
func (s *Sessions) Grants(ctx context.Context, id string) ([]policy.Grant, error) {
	info, err := s.ledger.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []policy.Grant
	if len(info.Grants) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(info.Grants, &list); err != nil {
		return nil, fmt.Errorf("the grants of session %s cannot be read: %w", id, err)
	}
	return list, nil
}

// Revoke takes grants of a session back. Where it is active, the instance that
// has it is asked to, and its agent asks again at once.
func (s *Sessions) Revoke(ctx context.Context, id string, grants []policy.Grant) error {
	taken, err := json.Marshal(grants)
	if err != nil {
		return err
	}
	err = s.revokeHere(ctx, id, grants, taken)
	elsewhere, ok := errors.AsType[*session.ActiveElsewhereError](err)
	if !ok {
		return err
	}
	info, err := s.ledger.Info(ctx, id)
	if err != nil {
		return err
	}
	params := map[string]any{"sessionId": id, "grants": jsontext.Value(taken)}
	if err := askAs(ctx, elsewhere.Socket, info.Owner, serve.MethodRevoke, params, nil); err != nil {
		return fmt.Errorf("session %s is active in %s, which did not take the approval back: %w", id, s.who(elsewhere.Instance), err)
	}
	return nil
}

func (s *Sessions) revokeHere(ctx context.Context, id string, grants []policy.Grant, taken jsontext.Value) error {
	info, err := s.ledger.Info(ctx, id)
	if err != nil {
		return err
	}
	left, err := session.WithoutGrants(info.Grants, taken)
	if err != nil {
		return err
	}
	if err := s.ledger.Update(ctx, id, 0, session.InfoChange{Grants: &left}); err != nil {
		return err
	}
	return s.recordRevoked(ctx, info, grants)
}

// recordRevoked puts each grant that was taken back on record, as the session's
// agent does it.
func (s *Sessions) recordRevoked(ctx context.Context, info session.Info, grants []policy.Grant) error {
	log := openAudit(s.conf, nil)
	for _, g := range grants {
		if err := log.Record(ctx, audit.Entry{
			Event: audit.Revoke, Owner: info.Owner, Session: info.ID, Agent: info.Agent, What: g.Describe(), By: "command line",
		}); err != nil {
			return err
		}
	}
	return nil
}

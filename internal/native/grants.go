package native

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// grants are what people allowed for as long as a session lives. They are safe
// for concurrent use.
type grants struct {
	changing sync.Mutex // held while they change, until the sink has the change

	mu   sync.Mutex
	list []policy.Grant // replaced, never changed
}

// now returns the grants as they are; the list is not to be changed.
func (g *grants) now() []policy.Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list
}

func (g *grants) set(list []policy.Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = list
}

// grantsNow are what people allowed for the session, and for the one it works
// for.
func (h *handle) grantsNow() []policy.Grant {
	list := h.grants.now()
	if h.kin != nil {
		list = append(slices.Clip(list), h.kin.parent.grantsNow()...)
	}
	return list
}

// remember keeps a grant with the session, so that it holds after a restart.
func (r *running) remember(ctx context.Context, g *policy.Grant) error {
	if g == nil {
		return nil
	}
	if err := r.recordChange(ctx, audit.Grant, g.Label); err != nil {
		return err
	}
	return r.setGrants(ctx, func(list []policy.Grant) ([]policy.Grant, error) {
		if slices.Contains(list, *g) {
			return list, nil // given beside this one
		}
		return append(list[:len(list):len(list)], *g), nil
	})
}

// Revoke implements session.Granter.
func (h *handle) Revoke(ctx context.Context, grants jsontext.Value) error {
	return h.setGrants(ctx, func(list []policy.Grant) ([]policy.Grant, error) {
		held, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		left, err := session.WithoutGrants(held, grants)
		if err != nil {
			return nil, err
		}
		return readGrants(left)
	})
}

// setGrants changes the session's grants. Changes reach the sink in the order
// they were made in. What is given holds once that is stored; what is taken back
// holds no longer, stored or not.
func (h *handle) setGrants(ctx context.Context, change func([]policy.Grant) ([]policy.Grant, error)) error {
	h.grants.changing.Lock()
	defer h.grants.changing.Unlock()
	before := h.grants.now()
	list, err := change(before)
	if err != nil {
		return err
	}
	stored, err := json.Marshal(list)
	if err != nil {
		return err
	}
	gone := without(before, list)
	h.grants.set(without(before, gone))
	v := jsontext.Value(stored)
	if err = h.sink.Change(ctx, session.InfoChange{Grants: &v}); err == nil {
		h.grants.set(list)
	} else {
		gone = append(gone, without(list, before)...)
	}
	for _, g := range gone {
		err = errors.Join(err, h.recordChange(ctx, audit.Revoke, g.Describe()))
	}
	return err
}

// without returns the grants of a list that are not in another.
func without(list, other []policy.Grant) []policy.Grant {
	return slices.DeleteFunc(slices.Clone(list), func(g policy.Grant) bool { return slices.Contains(other, g) })
}

func readGrants(stored jsontext.Value) ([]policy.Grant, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	var list []policy.Grant
	if err := json.Unmarshal(stored, &list); err != nil {
		return nil, fmt.Errorf("the grants of this session cannot be read: %w", err)
	}
	return list, nil
}

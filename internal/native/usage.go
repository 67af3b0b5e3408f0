package native

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// usageUpdate is ACP UsageUpdate (v1).
type usageUpdate struct {
	Kind session.Kind `json:"sessionUpdate"`
	Used uint64       `json:"used"`
	Size int          `json:"size"`
	Cost *usageCost   `json:"cost,omitzero"`
}

// usageCost is ACP Cost (v1).
type usageCost struct {
	Amount   jsontext.Value `json:"amount"`
	Currency string         `json:"currency"`
}

// usageNow is how full the window is and what the session has cost; nil where
// clients are not to know or the window's size is not known.
func (h *handle) usageNow(c choice, used tally) *usageUpdate {
	info := h.agent.Info(c.Model)
	if info.ContextWindow <= 0 || c.Usage == usageOff {
		return nil
	}
	u := &usageUpdate{Kind: session.KindUsage, Used: used.window, Size: info.ContextWindow}
	if c.Usage != usageTokens {
		u.Cost = costNow(used.cost, info.Price)
	}
	return u
}

// usageSoFar is that of a session with a past, for a client that comes to it.
func (h *handle) usageSoFar(c choice) jsontext.Value {
	used := *h.used.Load()
	if used.usage == (model.Usage{}) {
		return nil
	}
	u := h.usageNow(c, used)
	if u == nil {
		return nil
	}
	return encode(u)
}

// costNow is the part of a bill that an update can show, which has one currency:
// that of the model in use, if there is any of it.
func costNow(b price.Bill, now *price.Price) *usageCost {
	currencies := b.Currencies()
	if len(currencies) == 0 {
		return nil
	}
	currency := currencies[0]
	if now != nil {
		if _, ok := b[now.Unit()]; ok {
			currency = now.Unit()
		}
	}
	return &usageCost{jsontext.Value(b[currency].String()), currency}
}

// showUsage emits how full the window is and what the session has cost.
func (t *turn) showUsage(ctx context.Context) error {
	u := t.usageNow(t.choice, t.past.tally)
	if u == nil {
		return nil
	}
	return t.emit(ctx, session.KindUsage, session.Live, u)
}

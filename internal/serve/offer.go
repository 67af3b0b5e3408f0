package serve

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Prefixes of the ids our requests to clients carry; the event id follows, so
// a request has the same id every time it is offered, anywhere.
const (
	requestPrefix        = "gp-out-"
	dialectRequestPrefix = "zc-out-"
)

// offer puts a request to the client and hands its answer to the hub. It is
// written at once, in order with the updates around it; the answer is awaited
// beside the pump.
func (v *view) offer(ctx context.Context, id string, kind session.Kind, body raw) {
	method, prefix := "session/request_permission", requestPrefix
	if kind == session.KindElicitation {
		method = "elicitation/create"
		if !v.conn.capabilities().elicitForm {
			return
		}
	}
	if v.conn.dialect.Load() {
		prefix = dialectRequestPrefix
		body = dialectPermission(body)
	}
	if v.conn.opts.Role < session.Approver {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	v.mu.Lock()
	if _, open := v.offers[id]; open {
		v.mu.Unlock()
		cancel()
		return
	}
	v.offers[id] = cancel
	v.mu.Unlock()
	call, err := v.conn.peer.Go(ctx, acp.StringID(prefix+id), method, body)
	if err != nil { // the connection is ending
		v.settle(id)
		return
	}
	go v.await(ctx, call, id, kind)
}

func (v *view) await(ctx context.Context, call *acp.Pending, id string, kind session.Kind) {
	result, err := call.Wait(ctx)
	if !v.settle(id) { // settled by somebody else meanwhile
		return
	}
	verdict := readVerdict(kind, result, err)
	verdict.Request = id
	if _, err := v.att.Answer(v.conn.context(), verdict); err != nil {
		v.conn.server.opts.Logger.Warn("answer not recorded", "session", v.id, "err", err)
	}
}

// settled withdraws a request that has its verdict: the client sees it go.
func (v *view) settled(e *session.Event) {
	var verdict session.Verdict
	if json.Unmarshal(e.Body, &verdict) == nil {
		v.settle(verdict.Request)
	}
}

// settle ends an offer and reports whether it was still open.
func (v *view) settle(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	cancel, open := v.offers[id]
	if open {
		cancel()
		delete(v.offers, id)
	}
	return open
}

func (v *view) withdrawOffers() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, cancel := range v.offers {
		cancel()
		delete(v.offers, id)
	}
}

// readVerdict reads a client's answer. Whatever is not clearly a choice is no
// person's decision, and so a denial.
func readVerdict(kind session.Kind, result raw, err error) session.Verdict {
	if err != nil {
		return session.Verdict{Outcome: session.Withdrawn, Reason: "the client failed the request: " + err.Error()}
	}
	if kind == session.KindElicitation {
		return readElicitation(result)
	}
	var r struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	if json.Unmarshal(result, &r) != nil {
		return session.Verdict{Outcome: session.Withdrawn, Reason: "the client's answer could not be read"}
	}
	switch r.Outcome.Outcome {
	case "selected":
		return session.Verdict{Outcome: session.Selected, Option: r.Outcome.OptionID}
	case "cancelled":
		return session.Verdict{Outcome: session.Withdrawn, Reason: "the client dismissed the request"}
	}
	return session.Verdict{Outcome: session.Withdrawn, Reason: "the client's answer names no outcome"}
}

func readElicitation(result raw) session.Verdict {
	var r struct {
		Action  string `json:"action"`
		Content raw    `json:"content"`
	}
	if json.Unmarshal(result, &r) != nil {
		return session.Verdict{Outcome: session.Withdrawn, Reason: "the client's answer could not be read"}
	}
	switch r.Action {
	case "accept":
		return session.Verdict{Outcome: session.Accepted, Content: r.Content}
	case "decline":
		return session.Verdict{Outcome: session.Declined}
	}
	return session.Verdict{Outcome: session.Withdrawn, Reason: "the client dismissed the question"}
}

package serve

import (
	"context"
	"errors"
	"maps"

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

// offer is a request put to the client. It is kept, answered or not, until its
// verdict or its turn's end is met: a client that attaches again is not asked
// twice.
type offer struct {
	turn   string
	cancel context.CancelFunc // withdraws it
}

// offer puts a request to the client and hands its answer to the hub. It is
// written at once, in order with the updates around it; the answer is awaited
// beside the pump.
func (v *view) offer(r session.Request) {
	method, prefix, body := "session/request_permission", requestPrefix, r.Body
	if r.Kind == session.KindElicitation {
		method = "elicitation/create"
		if !v.conn.capabilities().elicitForm {
			return
		}
	}
	if v.conn.dialect.Load() {
		prefix = dialectRequestPrefix
		body = dialectPermission(body)
	}
	if v.att().Role() < session.Approver {
		return
	}
	ctx, cancel := context.WithCancel(v.conn.context())
	if !v.register(r.ID, &offer{turn: r.Turn, cancel: cancel}) {
		cancel()
		return
	}
	call, err := v.conn.peer.Go(ctx, acp.StringID(prefix+r.ID), method, body)
	if err != nil { // the connection is ending
		cancel()
		return
	}
	go v.await(ctx, call, r)
}

// register keeps an offer; false when the client was asked before.
func (v *view) register(id string, o *offer) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, known := v.offers[id]; known {
		return false
	}
	v.offers[id] = o
	return true
}

func (v *view) await(ctx context.Context, call *acp.Pending, r session.Request) {
	result, err := call.Wait(ctx)
	if ctx.Err() != nil || errors.Is(err, acp.ErrClosed) {
		return // settled by somebody else meanwhile, or the connection is gone: it stays open for who comes back
	}
	verdict := readVerdict(r.Kind, result, err)
	verdict.Request = r.ID
	if err := v.hand(verdict); err != nil {
		v.conn.server.opts.Logger.Warn("answer not recorded", "session", v.id, "err", err)
	}
}

// hand gives a verdict to the hub. The client may attach anew meanwhile: what
// comes too late by the old attachment comes by the new one.
func (v *view) hand(verdict session.Verdict) error {
	for {
		att := v.att()
		counted, err := att.Answer(v.conn.context(), verdict)
		if counted || err != nil || att == v.att() {
			return err
		}
	}
}

// settled withdraws a request that has its verdict: the client sees it go.
func (v *view) settled(e *session.Event) {
	var verdict session.Verdict
	if json.Unmarshal(e.Body, &verdict) == nil {
		v.withdraw(func(id string, _ *offer) bool { return id == verdict.Request })
	}
}

// withdraw ends the offers that match.
func (v *view) withdraw(match func(id string, o *offer) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.offers, func(id string, o *offer) bool {
		if !match(id, o) {
			return false
		}
		o.cancel()
		return true
	})
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

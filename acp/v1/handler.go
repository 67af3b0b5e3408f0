package v1

import (
	"context"
	"errors"
	"sync"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/internal/wire"
)

// Handler returns the agent as the handler of a connection.
//
// session/cancel ends the context of the session's running Prompts before
// Cancel is called, and a Prompt that then fails with the error of its context
// is answered with the stop reason cancelled, as the protocol asks.
func (h *Agent) Handler() acp.Handler {
	turns := &turns{running: map[SessionID]map[*turn]bool{}}
	return acp.HandlerFuncs{
		Request: func(ctx context.Context, req *acp.Request) {
			if req.Method == MethodSessionPrompt && h.Prompt != nil {
				turns.serve(ctx, req, h.Prompt)
				return
			}
			h.handleRequest(ctx, req)
		},
		Notification: func(ctx context.Context, n *acp.Notification) {
			if n.Method == MethodSessionCancel {
				turns.cancel(n)
			}
			h.handleNotification(ctx, n)
		},
	}
}

// Handler returns the client as the handler of a connection.
func (h *Client) Handler() acp.Handler {
	return acp.HandlerFuncs{Request: h.handleRequest, Notification: h.handleNotification}
}

// errTurnCancelled is why the context of a cancelled Prompt has ended.
var errTurnCancelled = errors.New("the client cancelled the turn")

// turns knows the running prompts of each session. A prompt enters in the order
// of arrival, so that the cancel sent right after it finds it.
type turns struct {
	mu      sync.Mutex
	running map[SessionID]map[*turn]bool
}

// turn is one running prompt.
type turn struct{ cancel context.CancelCauseFunc }

func (t *turns) serve(ctx context.Context, req *acp.Request, prompt func(context.Context, *PromptRequest) (*PromptResponse, error)) {
	params, err := wire.Params(req.Method, req.Params, decodePromptRequest, true)
	if err != nil {
		_ = req.Fail(err) // nobody to tell if it cannot be sent
		return
	}
	ctx, leave := t.enter(ctx, params.SessionID)
	wire.Go(ctx, req, func(ctx context.Context, params *PromptRequest) (*PromptResponse, error) {
		defer leave()
		response, err := prompt(ctx, params)
		if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), errTurnCancelled) {
			return &PromptResponse{StopReason: StopReasonCancelled}, nil
		}
		return response, err
	}, params)
}

func (t *turns) enter(ctx context.Context, id SessionID) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	mine := &turn{cancel: cancel}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[id] == nil {
		t.running[id] = map[*turn]bool{}
	}
	t.running[id][mine] = true
	return ctx, func() { t.leave(id, mine) }
}

func (t *turns) leave(id SessionID, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine.cancel(nil)
	if delete(t.running[id], mine); len(t.running[id]) == 0 {
		delete(t.running, id)
	}
}

func (t *turns) cancel(n *acp.Notification) {
	params, err := wire.Params(n.Method, n.Params, decodeCancelNotification, false)
	if err != nil {
		return // a malformed notification is dropped
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for running := range t.running[params.SessionID] {
		running.cancel(errTurnCancelled)
	}
}

package serve

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// relay is a session of this connection that is active in another instance:
// what concerns it goes through that instance's socket as it is.
type relay struct {
	id   string
	conn *conn
	peer *acp.Conn
	stop context.CancelFunc

	prompts atomic.Int32 // waiting for their answers
}

// relayTo answers a load or resume by having the owning instance answer it.
func (c *conn) relayTo(ctx context.Context, req *acp.Request, id string, at *session.ActiveElsewhereError) {
	mc, err := c.server.opts.Relay.Dial(ctx, at.Socket)
	if err != nil {
		c.fail(req, newError(acp.CodeInternalError,
			"session "+id+" is active in another process that cannot be reached: "+err.Error(), errorData{SessionID: id}))
		return
	}
	work, stop := context.WithCancel(c.context())
	r := &relay{id: id, conn: c, stop: stop}
	r.peer = acp.NewConn(mc, r, &acp.Options{Logger: c.server.opts.Logger})
	c.tasks.Go(func() {
		_ = r.peer.Run(work) // its end is told below, whatever the cause
		r.ended()
	})
	if _, err := r.peer.Call(ctx, "initialize", c.relayInitialize()); err != nil {
		stop()
		c.fail(req, err)
		return
	}
	// The view is in place before the request goes out: what the owner sends
	// with its answer already belongs to it.
	c.mu.Lock()
	c.sessions[id] = &view{id: id, conn: c, relay: r}
	c.mu.Unlock()
	r.forward(ctx, req)
}

// relayInitialize introduces this connection with its client's capabilities.
func (c *conn) relayInitialize() any {
	declared := c.capabilities().declared
	if isNull(declared) {
		declared = raw("{}")
	}
	return struct {
		ProtocolVersion int `json:"protocolVersion"`
		Capabilities    raw `json:"clientCapabilities"`
	}{protocolVersion, declared}
}

// forward passes a request on, in its order, and its answer back when that
// comes.
func (r *relay) forward(ctx context.Context, req *acp.Request) {
	call, err := r.peer.Go(ctx, acp.ID{}, req.Method, req.Params)
	if err != nil {
		r.conn.fail(req, r.lost(err))
		return
	}
	if req.Method == "session/prompt" {
		r.prompts.Add(1)
	}
	r.conn.tasks.Go(func() { r.await(ctx, call, req) })
}

// cancelOwn cancels the turns that prompts of this client wait for.
func (r *relay) cancelOwn() {
	if r.prompts.Load() == 0 {
		return
	}
	params, err := json.Marshal(struct {
		SessionID string `json:"sessionId"`
	}{r.id})
	if err == nil {
		r.notify(&acp.Notification{Method: "session/cancel", Params: params})
	}
}

func (r *relay) await(ctx context.Context, call *acp.Pending, req *acp.Request) {
	result, err := call.Wait(ctx)
	if req.Method == "session/prompt" {
		r.prompts.Add(-1)
	}
	if err != nil {
		r.conn.fail(req, r.lost(err))
		return
	}
	r.conn.reply(req, result)
	if req.Method == "session/close" || req.Method == "session/delete" || req.Method == "session/stop" {
		r.stop()
	}
}

// lost explains a failure that is the owner's end.
func (r *relay) lost(err error) error {
	if errors.Is(err, acp.ErrClosed) {
		return newError(acp.CodeInternalError, "the process that ran session "+r.id+" is gone: load the session again",
			errorData{r.id, "interrupted"})
	}
	return err
}

func (r *relay) notify(n *acp.Notification) {
	if err := r.peer.Notify(r.conn.context(), n.Method, n.Params); err != nil {
		r.conn.server.opts.Logger.Debug("relay: notification not delivered", "session", r.id, "err", err)
	}
}

// ended forgets the session: the next load decides afresh where it lives.
func (r *relay) ended() {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	if v, ok := r.conn.sessions[r.id]; ok && v.relay == r {
		delete(r.conn.sessions, r.id)
	}
}

// HandleRequest implements acp.Handler: the owner asks our client.
func (r *relay) HandleRequest(ctx context.Context, req *acp.Request) {
	call, err := r.conn.peer.Go(ctx, req.ID, req.Method, req.Params)
	if err != nil {
		r.conn.fail(req, err)
		return
	}
	req.Go(ctx, func(ctx context.Context) (any, error) {
		result, err := call.Wait(ctx)
		return result, err
	})
}

// HandleNotification implements acp.Handler: the owner tells our client.
func (r *relay) HandleNotification(ctx context.Context, n *acp.Notification) {
	if err := r.conn.peer.Notify(ctx, n.Method, n.Params); err != nil {
		r.stop()
	}
}

package serve

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	// ownerGrace bounds the handshake with another instance, which answers at
	// once or hangs, and how long one that is ending is waited for.
	ownerGrace = 5 * time.Second
	ownerRetry = 100 * time.Millisecond
)

// relay is a session of this connection that is active in another instance:
// what concerns it goes through that instance's socket as it is.
type relay struct {
	id   string
	conn *conn
	peer *acp.Conn
	stop context.CancelFunc

	// mu is held while an answer is written, so that what the owner wrote after
	// it cannot pass it.
	mu       sync.Mutex
	calls    []*forwarded // in the order they were sent
	attached bool         // a load or resume succeeded
}

// forwarded is a request of our client that the owner is to answer.
type forwarded struct {
	*acp.Request
	call *acp.Pending
	// told, if not nil, makes our client's answer of the owner's.
	told func(raw) (raw, error)
}

// relayTo answers a load or resume by having the owning instance answer it.
func (c *conn) relayTo(ctx context.Context, req *acp.Request, r *relay) {
	// The view is in place before the request goes out: what the owner sends
	// with its answer already belongs to it.
	c.relayed(r.id, r)
	r.forward(ctx, req)
}

// relayed makes a session one that is run elsewhere.
func (c *conn) relayed(id string, r *relay) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[id] = &view{id: id, conn: c, relay: r}
}

// refuse fails a request about a session that is not attached here; where the
// session is active in another instance, that one is asked instead.
func (c *conn) refuse(ctx context.Context, req *acp.Request, id string, cause error) {
	var at *session.ActiveElsewhereError
	if !errors.As(cause, &at) || c.server.opts.Relay == nil {
		c.fail(req, c.wireError(cause, id))
		return
	}
	r, err := c.reach(ctx, id, at)
	if err != nil {
		c.fail(req, err)
		return
	}
	defer r.stop()
	result, err := r.peer.Call(ctx, req.Method, req.Params)
	if err != nil {
		c.fail(req, r.lost(err))
		return
	}
	c.reply(req, result)
}

// reach connects to the owning instance and introduces this connection with its
// client's capabilities.
func (c *conn) reach(ctx context.Context, id string, at *session.ActiveElsewhereError) (*relay, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, ownerGrace, errors.New("it does not answer"))
	defer cancel()
	mc, err := c.server.opts.Relay.Dial(ctx, at.Socket)
	if err != nil {
		return nil, unreachable(id, err)
	}
	work, stop := context.WithCancel(c.context())
	r := &relay{id: id, conn: c, stop: stop}
	r.peer = acp.NewConn(mc, r, &acp.Options{Logger: c.server.opts.Logger})
	c.tasks.Go(func() {
		_ = r.peer.Run(work) // its end is told below, whatever the cause
		r.ended()
	})
	params, err := c.relayInitialize()
	if err == nil {
		_, err = r.peer.Call(ctx, "initialize", params)
	}
	if err != nil {
		stop()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, unreachable(id, err)
	}
	return r, nil
}

func unreachable(id string, err error) error {
	return newError(acp.CodeInternalError,
		fmt.Sprintf("session %s is active in another process that cannot be reached (%v): end that process, then load the session again", id, err),
		errorData{SessionID: id})
}

func (c *conn) relayInitialize() (any, error) {
	declared := c.capabilities().declared
	declared, err := withGrapnel(declared, "onBehalf", c.behalf())
	if err != nil {
		return nil, err
	}
	return struct {
		ProtocolVersion int `json:"protocolVersion"`
		Capabilities    raw `json:"clientCapabilities"`
	}{protocolVersion, declared}, nil
}

// withGrapnel sets a member of _meta.grapnel in an object, which may be missing.
func withGrapnel(object raw, name string, value any) (raw, error) {
	inner, err := with(objectOr(lookup(object, "_meta", "grapnel")), name, value)
	if err != nil {
		return nil, err
	}
	meta, err := with(objectOr(lookup(object, "_meta")), "grapnel", inner)
	if err != nil {
		return nil, err
	}
	return with(objectOr(object), "_meta", meta)
}

// objectOr is v, or an empty object in place of anything that is none.
func objectOr(v raw) raw {
	if v.Kind() != '{' {
		return raw("{}")
	}
	return v
}

// forward passes a request on, in its order, and its answer back when that
// comes.
func (r *relay) forward(ctx context.Context, req *acp.Request) {
	if err := r.forwardAs(ctx, req, req.Method, req.Params, nil); err != nil {
		r.conn.fail(req, err)
	}
}

// forwardAs passes a request on as another. An error was not answered.
func (r *relay) forwardAs(ctx context.Context, req *acp.Request, method string, params raw, told func(raw) (raw, error)) error {
	// Cancelled or not, it goes out: what comes after it may depend on it.
	call, err := r.peer.Go(r.conn.context(), acp.ID{}, method, params)
	if err != nil {
		return r.lost(err)
	}
	f := &forwarded{req, call, told}
	r.mu.Lock()
	r.calls = append(r.calls, f)
	r.mu.Unlock()
	r.conn.tasks.Go(func() { r.await(ctx, f) })
	return nil
}

// await answers a request when the owner has. A prompt that is cancelled is
// answered by its turn's end all the same.
func (r *relay) await(ctx context.Context, f *forwarded) {
	select {
	case <-f.call.Answered():
	case <-ctx.Done():
		if f.Method == "session/prompt" && cancelledByPeer(ctx) {
			r.cancelOwn()
			ctx = r.conn.context()
		}
	}
	select {
	case <-f.call.Answered():
	case <-ctx.Done():
	}
	r.answer(ctx, f)
}

// passAnswers writes the answers that came before what the owner says now.
func (r *relay) passAnswers() {
	r.mu.Lock()
	var came []*forwarded
	for _, f := range r.calls {
		select {
		case <-f.call.Answered():
			came = append(came, f)
		default:
		}
	}
	r.mu.Unlock()
	for _, f := range came {
		r.answer(r.conn.context(), f)
	}
}

// answer writes the answer of a request, once.
func (r *relay) answer(ctx context.Context, f *forwarded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.calls, f)
	if i < 0 {
		return
	}
	r.calls = slices.Delete(r.calls, i, i+1)
	result, err := f.call.Wait(ctx)
	if err == nil && f.told != nil {
		result, err = f.told(result)
	}
	if r.over(f.Method, err) {
		r.ended()
		defer r.stop()
	}
	if err != nil {
		r.conn.fail(f.Request, r.lost(err))
		return
	}
	r.conn.reply(f.Request, result)
}

// over reports whether nothing of the session is left here after an answer.
func (r *relay) over(method string, err error) bool {
	switch method {
	case "session/close", "session/delete", "session/stop":
		return err == nil
	case "session/load", "session/resume", "session/new":
		r.attached = r.attached || err == nil
		return !r.attached
	}
	return false
}

// cancelOwn cancels the turns that prompts of this client wait for.
func (r *relay) cancelOwn() {
	r.mu.Lock()
	waits := slices.ContainsFunc(r.calls, func(f *forwarded) bool { return f.Method == "session/prompt" })
	r.mu.Unlock()
	if !waits {
		return
	}
	params, err := json.Marshal(struct {
		SessionID string `json:"sessionId"`
	}{r.id})
	if err == nil {
		r.notify(&acp.Notification{Method: "session/cancel", Params: params})
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

// gone reports whether the connection to the owner has ended.
func (r *relay) gone() bool {
	select {
	case <-r.peer.Done():
		return true
	default:
		return false
	}
}

// ended forgets the session: the next load decides afresh where it lives.
func (r *relay) ended() {
	r.conn.mu.Lock()
	defer r.conn.mu.Unlock()
	maps.DeleteFunc(r.conn.sessions, func(_ string, v *view) bool { return v.relay == r })
	if r.conn.home == r {
		r.conn.home = nil
	}
}

// HandleRequest implements acp.Handler: the owner asks our client.
func (r *relay) HandleRequest(ctx context.Context, req *acp.Request) {
	r.passAnswers()
	call, err := r.conn.peer.Go(ctx, relayedID(req.ID), req.Method, req.Params)
	if err != nil {
		r.conn.fail(req, err)
		return
	}
	req.Go(ctx, func(ctx context.Context) (any, error) {
		result, err := call.Wait(ctx)
		return result, err
	})
}

// relayedID keeps the id that a request to people has everywhere. Others, which
// two owners may both use, get a fresh one.
func relayedID(id acp.ID) acp.ID {
	if strings.HasPrefix(id.String(), `"`+requestPrefix) {
		return id
	}
	return acp.ID{}
}

// HandleNotification implements acp.Handler: the owner tells our client.
func (r *relay) HandleNotification(ctx context.Context, n *acp.Notification) {
	r.passAnswers()
	if err := r.conn.peer.Notify(ctx, n.Method, n.Params); err != nil {
		r.stop()
	}
}

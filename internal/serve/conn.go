package serve

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// conn is one client's connection. Its handler methods run in arrival order;
// work on a session continues in that session's lane, so that order holds per
// session and no session delays another.
type conn struct {
	server *Server
	opts   ConnOptions
	peer   *acp.Conn
	lanes  lanes
	tasks  sync.WaitGroup // what runs, in the lanes and beside them
	room   room           // what waits or runs in either

	initialized atomic.Bool
	dialect     atomic.Bool // sticky once detected

	choosing sync.Mutex // held while a session/new chooses by a name
	reset    bool       // what the connection's options name was reset; guarded by choosing

	mu       sync.Mutex
	caps     caps
	sessions map[string]*view
	home     *relay          // to the gateway, where the options' sessions are; or nil
	ctx      context.Context // of the connection's work; ends after the drain
}

func newConn(s *Server, o ConnOptions) *conn {
	c := &conn{server: s, opts: o, sessions: make(map[string]*view)}
	c.lanes.wg = &c.tasks
	c.dialect.Store(o.Dialect)
	return c
}

const (
	// answerGrace is how long turns that were cancelled because the client closed
	// its side may take to be answered: a little more than a driver gets to stop.
	answerGrace = 2 * time.Second
	// leaveGrace is how long work on a connection that has ended may hold it up. A
	// write that nobody reads can last for ever, and is left behind.
	leaveGrace = 2 * time.Second
)

// run serves until the client is gone and what it asked for is answered.
func (c *conn) run(ctx context.Context) error {
	work, stop := context.WithCancel(ctx)
	defer stop()
	c.mu.Lock()
	c.ctx = work
	c.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		c.drain(work)
	}()
	err := c.peer.Run(work)
	stop()
	<-drained
	c.leave()
	if err == io.EOF {
		return nil
	}
	return err
}

// drain waits for the client to close its side. What then still runs past the
// bound is cancelled, so that its prompts get their answers; without a bound the
// connection ends once what came before is begun, and the turns go on.
func (c *conn) drain(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-c.peer.EOF():
	}
	if c.opts.Drain > 0 {
		if !sleep(ctx, c.opts.Drain) {
			return
		}
		for _, v := range c.views() {
			v.cancelOwn(ctx)
		}
		if !sleep(ctx, answerGrace) {
			return
		}
		c.server.opts.Logger.Warn("not everything was answered after the client closed its side")
	} else {
		c.begun(ctx)
	}
	_ = c.peer.Close() // it always succeeds
}

// begun waits until everything the client sent before it closed its side has
// been begun: a prompt that was its last word is one.
func (c *conn) begun(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaveGrace)
	defer cancel()
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		<-c.peer.Handled()
		c.tasks.Wait()
	}()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// sleep returns false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave detaches from every session when nothing of the connection runs any
// more.
func (c *conn) leave() {
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		c.tasks.Wait()
		for _, v := range c.views() {
			v.pump.Load().finish()
		}
	}()
	timer := time.NewTimer(leaveGrace)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
		c.server.opts.Logger.Warn("a write that nobody reads is left behind")
	}
	for _, v := range c.views() {
		if v.relay == nil {
			v.att().Detach()
		}
	}
}

// hub is the hub as the connection's owner may use it.
func (c *conn) hub() hub.Owned { return c.server.opts.Hub.Of(c.opts.Owner).Within(c.opts.Agents) }

func (c *conn) context() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}

func (c *conn) capabilities() caps {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caps
}

// HandleRequest implements acp.Handler.
func (c *conn) HandleRequest(ctx context.Context, req *acp.Request) {
	if wait := c.count(); wait > 0 {
		c.fail(req, rateLimited(wait))
		return
	}
	if req.Method == "initialize" {
		c.initialize(req)
		return
	}
	if !c.initialized.Load() && !c.dialectSpeaks(req) {
		c.fail(req, acp.Errorf(acp.CodeInvalidRequest, "the first request must be initialize, not %s", req.Method))
		return
	}
	f, ok := c.connectionMethod(req.Method)
	if !ok && c.opts.Admin && c.server.opts.Admin != nil && strings.HasPrefix(req.Method, MethodAdmin) {
		f, ok = c.admin, true
	}
	if ok {
		done := c.begin(req.Params)
		c.tasks.Go(func() {
			defer done()
			defer c.rescue(req)
			f(ctx, req)
		})
		return
	}
	g, ok := c.sessionMethod(req.Method)
	if !ok {
		c.fail(req, acp.MethodNotFound(req.Method))
		return
	}
	p, err := parseParams(req.Params)
	if err == nil && p.session() == "" {
		err = acp.Errorf(acp.CodeInvalidParams, "%s: sessionId is missing", req.Method)
	}
	if err != nil {
		c.fail(req, err)
		return
	}
	done := c.begin(req.Params)
	c.lanes.do(p.session(), func() {
		defer done()
		defer c.rescue(req)
		if v, ok := c.view(p.session()); ok && v.relay != nil {
			v.relay.forward(ctx, req)
			return
		}
		g(ctx, req, p)
	})
}

// count counts a message against the owner's rate.
func (c *conn) count() time.Duration {
	if c.opts.Limit == nil {
		return 0
	}
	return c.opts.Limit()
}

// admin answers a request that manages the gateway.
func (c *conn) admin(ctx context.Context, req *acp.Request) {
	result, err := c.server.opts.Admin(ctx, req.Method, req.Params)
	if err != nil {
		c.fail(req, c.wireError(err, ""))
		return
	}
	c.reply(req, result)
}

// HandleNotification implements acp.Handler. Unknown ones are ignored.
func (c *conn) HandleNotification(_ context.Context, n *acp.Notification) {
	c.count() // and taken on all the same: nobody could be told, and a cancel must get through
	if !c.initialized.Load() && !c.dialect.Load() {
		return
	}
	p, err := parseParams(n.Params)
	if err != nil || p.session() == "" {
		return
	}
	done := c.begin(n.Params)
	c.lanes.do(p.session(), func() {
		defer done()
		c.notified(n, p.session())
	})
}

// begin waits until there is room for one more piece of work; done gives it
// back.
func (c *conn) begin(params raw) (done func()) {
	size := int64(len(params)) + workCost
	c.room.take(c.peer.Done(), size)
	return func() { c.room.give(size) }
}

// rescue, deferred, turns a panic into an internal error of the request, so
// that one request cannot end every session. What was passed to panic may hold
// what the client sent and stays out of the log.
func (c *conn) rescue(req *acp.Request) {
	p := recover()
	if p == nil {
		return
	}
	what := fmt.Sprintf("a value of type %T", p)
	if err, ok := p.(runtime.Error); ok {
		what = err.Error()
	}
	c.server.opts.Logger.Error("a handler panicked", "method", req.Method, "panic", what, "stack", string(debug.Stack()))
	c.fail(req, acp.Errorf(acp.CodeInternalError, "internal error: the handler of %s crashed", req.Method))
}

func (c *conn) notified(n *acp.Notification, id string) {
	if v, ok := c.view(id); ok && v.relay != nil {
		v.relay.notify(n)
		return
	}
	switch n.Method {
	case "session/cancel":
		c.cancel(id)
	case "session/update", "session/event":
		_ = c.record(id, n.Params) // nobody waits for an answer
	}
}

// dialectSpeaks reports whether a request before initialize is how the dialect
// opens a connection, and remembers it.
func (c *conn) dialectSpeaks(req *acp.Request) bool {
	if req.Method == "session/new" {
		if p, err := parseParams(req.Params); err == nil && (isNull(req.Params) || p.namesAgent()) {
			c.dialect.Store(true)
		}
	}
	return c.dialect.Load()
}

type connectionFunc func(ctx context.Context, req *acp.Request)

// connectionMethod finds the methods that concern no existing session.
func (c *conn) connectionMethod(name string) (connectionFunc, bool) {
	switch name {
	case "authenticate":
		return c.authenticate, true
	case "logout":
		return c.logout, true
	case "session/new":
		return c.newSession, true
	case "session/list":
		return c.list, true
	case MethodSearch:
		return c.search, true
	}
	return nil, false
}

type sessionFunc func(ctx context.Context, req *acp.Request, p *params)

// sessionMethod finds the methods about one session; they run in its lane.
func (c *conn) sessionMethod(name string) (sessionFunc, bool) {
	switch name {
	case "session/load":
		return c.load, true
	case "session/resume":
		return c.resume, true
	case "session/fork":
		return c.fork, true
	case "session/close":
		return c.close, true
	case "session/stop":
		return c.stop, true
	case "session/delete":
		return c.delete, true
	case "session/prompt":
		return c.prompt, true
	case "_session/steering":
		return c.steer, true
	case "session/cancel":
		return c.cancelRequest, true
	case "session/set_mode", "session/set_model", "session/set_config_option":
		return c.set, true
	case MethodRevoke:
		return c.revoke, true
	case MethodShare:
		return c.share, true
	case MethodLabel:
		return c.label, true
	case "session/set_title":
		return c.setTitle, true
	case "session/archive", "session/unarchive":
		return c.archive, true
	case "session/status":
		return c.status, true
	case "session/update", "session/event":
		return c.recordRequest, true
	}
	return nil, false
}

// reply and fail answer a request. A write can only fail with the connection,
// and then nobody is left to tell.
func (c *conn) reply(req *acp.Request, result any) {
	if err := req.Reply(result); err != nil {
		c.server.opts.Logger.Debug("response not delivered", "method", req.Method, "err", err)
	}
}

func (c *conn) fail(req *acp.Request, cause error) {
	if err := req.Fail(c.redacted(cause)); err != nil {
		c.server.opts.Logger.Debug("error response not delivered", "method", req.Method, "err", err)
	}
}

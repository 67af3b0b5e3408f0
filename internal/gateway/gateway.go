// Package gateway is the HTTP server of the daemon: ACP over WebSocket and
// Streamable HTTP on one endpoint, pairing, health and metrics. It decides
// nothing about who comes in (package door) and knows nothing of sessions: it
// hands connections to whoever serves them.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/streamable"
	"github.com/grapnel-ai/grapnel/acp/ws"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

// Door says who comes in; *door.Door is one. Methods are safe for concurrent
// use, and their errors are *door.Refusal.
type Door interface {
	Admit(r *http.Request) (door.Pass, error)
	Enter(ctx context.Context, p door.Pass) (inside context.Context, leave func(), err error)
	Count(owner string) time.Duration
	ServePair(w http.ResponseWriter, r *http.Request)
}

// Options are what a Gateway is made of. Door and Serve are required.
type Options struct {
	Door Door
	// Serve answers one connection until it ends: serve.Server.Serve.
	Serve func(ctx context.Context, mc acp.MessageConn, o serve.ConnOptions) error
	// Alive reports whether what is behind the gateway answers. Nil: it does.
	Alive func(ctx context.Context) error
	// Load tells how many sessions are active and how many have a turn running.
	Load func(ctx context.Context) (active, running int)

	Version     string
	Prefix      string // of every path; see CleanPrefix
	Metrics     bool   // whether /metrics is served
	MaxBytes    int64  // one incoming message; 0 means acp.DefaultMaxMessageBytes
	MaxBuffered int64  // what waits for a client of Streamable HTTP, per connection
	Ping, Stall time.Duration
	// Strangers bounds the connections nobody has shown a good credential on;
	// default 512.
	Strangers int
	TLS       *Certificates // nil serves in the clear
	Logger    *slog.Logger
}

const (
	// headerTimeout is how long a client may take to say what it wants.
	headerTimeout = 10 * time.Second
	// idleTimeout is above what proxies keep connections for, so that they close
	// them and do not find them closed.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes is room for cookies and for a credential in a subprotocol.
	maxHeaderBytes = 64 << 10
	// defaultStrangers is many for people and few for the memory.
	defaultStrangers = 512
)

// Gateway serves HTTP. Its methods are safe for concurrent use.
type Gateway struct {
	opts    Options
	server  *http.Server
	streams *streamable.Server
	clients clients
	metrics *meter
	started time.Time

	work     context.Context // of the connections; ends with Close
	stop     context.CancelFunc
	draining atomic.Bool
}

// New makes a Gateway. Close must be called when it is not needed any more.
func New(o Options) *Gateway {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Strangers == 0 {
		o.Strangers = defaultStrangers
	}
	g := &Gateway{opts: o, started: time.Now(), clients: clients{open: make(map[*client]struct{})}}
	g.work, g.stop = context.WithCancel(context.Background())
	g.metrics = newMeter(g)
	g.streams = streamable.NewServer(streamable.Options{
		Owner: streamOwner, Open: g.openStream,
		MaxBytes: o.MaxBytes, MaxBuffered: o.MaxBuffered, Stall: o.Stall,
	})
	unknown := newStrangers(o.Strangers)
	g.server = &http.Server{
		Handler:           g.handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			ws.WakeEarly(c) // event streams are watched for stalls as WebSockets are
			return unknown.arrived(ctx, c)
		},
		ConnState: unknown.changed,
		Protocols: new(http.Protocols),
	}
	g.server.Protocols.SetHTTP1(true)
	g.server.Protocols.SetHTTP2(true)
	g.server.Protocols.SetUnencryptedHTTP2(true)
	if o.TLS != nil {
		g.server.TLSConfig = o.TLS.config()
	}
	return g
}

// Serve accepts connections on listeners until Close. The error is why one of
// them failed.
func (g *Gateway) Serve(listeners ...net.Listener) error {
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() {
			if g.opts.TLS != nil {
				failed <- g.server.ServeTLS(l, "", "")
				return
			}
			failed <- g.server.Serve(l)
		}()
	}
	var all []error
	for range listeners {
		if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
			all = append(all, err)
			_ = g.server.Close() // the others end, too
		}
	}
	return errors.Join(all...)
}

// Drain refuses new ACP connections from now on; those there are go on. Health
// says so, that balancers send new clients elsewhere.
func (g *Gateway) Drain() { g.draining.Store(true) }

// Draining reports whether Drain was called.
func (g *Gateway) Draining() bool { return g.draining.Load() }

// Connections is the number of ACP connections there are.
func (g *Gateway) Connections() int { return g.clients.count() }

// Close ends every connection, telling clients that it goes away and why, and
// returns when they have ended or ctx does.
func (g *Gateway) Close(ctx context.Context, reason string) error {
	g.Drain()
	listening := g.server.Shutdown(closedContext()) // closes the listeners
	g.clients.closeAll(ws.CodeGoingAway, reason)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.clients.wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	g.stop()
	err := g.server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, g.server.Close())
	}
	if errors.Is(listening, context.Canceled) {
		listening = nil // it was not to wait
	}
	return errors.Join(err, listening)
}

func closedContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// CleanPrefix is a path prefix with a slash in front and none at the end; "" for
// none.
func CleanPrefix(prefix string) string {
	prefix = strings.Trim(prefix, "/")
	if prefix == "" {
		return ""
	}
	return "/" + prefix
}

// clients are the ACP connections there are.
type clients struct {
	mu     sync.Mutex
	open   map[*client]struct{}
	closed bool
	wg     sync.WaitGroup
}

// client is one ACP connection; close ends it with a WebSocket close code.
type client struct {
	kind  transport
	close func(code int, reason string)
}

// add takes a connection in, unless all are being closed.
func (c *clients) add(one *client) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.open[one] = struct{}{}
	c.wg.Add(1)
	return true
}

func (c *clients) remove(one *client) {
	c.mu.Lock()
	delete(c.open, one)
	c.mu.Unlock()
	c.wg.Done()
}

func (c *clients) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// of is the number of connections of one kind.
func (c *clients) of(kind transport) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for one := range c.open {
		if one.kind == kind {
			n++
		}
	}
	return n
}

func (c *clients) closeAll(code int, reason string) {
	c.mu.Lock()
	c.closed = true
	var all []*client
	for one := range c.open {
		all = append(all, one)
	}
	c.mu.Unlock()
	for _, one := range all {
		go one.close(code, reason)
	}
}

func (c *clients) wait() { c.wg.Wait() }

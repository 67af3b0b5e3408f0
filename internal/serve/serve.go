// Package serve is the surface that answers the Agent Client Protocol: base
// ACP v1 and the ZeroClaw dialect, on any transport, by calling the session
// hub. It holds no state of a session; what a client sees comes from the
// session's ledger through an attachment.
package serve

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// Agents tells which agents are configured. Methods are safe for concurrent
// use.
type Agents interface {
	// Resolve picks the agent for a new session: alias if not empty, else the
	// connection's default, else the configured one, else the only one. Its
	// error is an *session.InvalidError listing what there is.
	Resolve(alias, connectionDefault string) (Agent, error)
	// Rebind picks the agent for a stored session whose own may be gone.
	Rebind(stored string) (Agent, error)
	// Default describes the agent a connection gets when it asks for none, for
	// the capabilities of initialize; ok is false when there is no single one.
	Default(connectionDefault string) (a Agent, ok bool)
}

// Agent is what a surface needs to know of one configured agent.
type Agent struct {
	Alias     string
	Workspace string // absolute; the cwd of a session that names none
	Model     string
	Image     bool // the model takes images
	Audio     bool
}

// Auth tells how a client can log in. Methods are safe for concurrent use.
type Auth interface {
	// Methods are the ways offered; terminal says the client can run a login
	// in a terminal.
	Methods(terminal bool) []AuthMethod
	// Authenticate makes credentials that are in place by now effective.
	Authenticate(ctx context.Context, method string) error
	// Logout forgets them until Authenticate.
	Logout(ctx context.Context) error
}

// AuthMethod is one way to log in (ACP v1 AuthMethod).
type AuthMethod struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitzero"`
	Type        string   `json:"type,omitzero"` // "" for agent, or "terminal"
	Args        []string `json:"args,omitzero"`
}

// Relay reaches a session that is active in another instance: it speaks ACP to
// that instance and hands everything through.
type Relay interface {
	// Dial opens a connection to the instance's socket.
	Dial(ctx context.Context, socket string) (acp.MessageConn, error)
}

// Options configure a Server. Hub, Agents and Auth are required.
type Options struct {
	Hub    *hub.Hub
	Agents Agents
	Auth   Auth
	Relay  Relay // nil: sessions active elsewhere are refused
	// Home is the socket of the gateway whose store this is, while it lives: there
	// is where sessions are made that a connection's options name. nil: here.
	Home func() (socket string, ok bool)
	// RemoteStdio says whether MCP servers that are processes are started for
	// clients that are not Local; nil does not.
	RemoteStdio func() bool

	Version        string // of Grapnel, for agentInfo
	Persistent     bool   // the store is open; without it load, resume, list… are not offered
	MaxSessions    int
	SessionTimeout time.Duration
	InstallRoot    string // a cwd equal to it means the agent's workspace
	// HandsTimeout bounds one fs request to a client.
	HandsTimeout time.Duration
	Logger       *slog.Logger
	// Observe, if set, is told of each request when it is answered: fault is nil
	// for a result. It must not block.
	Observe func(o ConnOptions, method string, fault *acp.Error, took time.Duration)
	Redact  *secret.Redactor // takes secrets out of errors; nil does not
	// Admin answers the methods of MethodAdmin on connections with
	// ConnOptions.Admin; nil: there are none.
	Admin func(ctx context.Context, method string, params jsontext.Value) (any, error)
}

// MethodAdmin is what the methods begin with by which other processes of the same
// user manage a gateway: pairing, tokens, status.
const MethodAdmin = "_grapnel/gateway/"

// defaultHandsTimeout: a client answers fs requests from memory or disk; one
// that takes longer has lost the request.
const defaultHandsTimeout = 30 * time.Second

// Server answers ACP connections. It is safe for concurrent use.
type Server struct {
	opts   Options
	frames sync.Pool // of *frames

	mu    sync.Mutex
	conns map[*conn]struct{} // that are served now
}

// New returns a Server.
func New(opts Options) *Server {
	if opts.HandsTimeout == 0 {
		opts.HandsTimeout = defaultHandsTimeout
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{opts: opts, conns: make(map[*conn]struct{})}
}

// ConnOptions are what the transport knows of one connection.
type ConnOptions struct {
	Owner   string
	Role    session.Role
	Agent   string // default alias of session/new: --agent, ?agent=
	Dialect bool   // the transport already told: subprotocol zeroclaw.acp.v1
	// Agents are the only aliases the client may use; empty means all.
	Agents []string
	// ID names the connection: Acp-Connection-Id. Empty on pipes.
	ID string
	// Local says that the client is on this machine, and not through a proxy: its
	// files are our files.
	Local bool
	// Drain bounds what goes on after the client closed its side.
	Drain time.Duration

	// Admin lets the client manage the gateway: it is a process of the same user.
	Admin bool
	// Limit counts a message against the owner's rate. It returns how long to
	// wait before a request is taken on again, 0 for not at all. nil: no limit.
	Limit func() time.Duration

	// What session/new chooses where its params choose nothing: --session-label,
	// --session. RequireExisting refuses to make what is not there; ResetSession
	// gives the key a new session, the first time it is chosen.
	SessionLabel, SessionKey      string
	RequireExisting, ResetSession bool
}

// Serve answers one connection until the client closes it, ctx ends or the
// transport fails. After a clean close what was accepted is finished or, past
// Drain, cancelled; everything is answered before Serve returns.
func (s *Server) Serve(ctx context.Context, mc acp.MessageConn, o ConnOptions) error {
	c := newConn(s, o)
	c.peer = acp.NewConn(mc, c, &acp.Options{Logger: s.opts.Logger, Answered: s.observer(o)})
	s.enter(c)
	defer s.leave(c)
	return c.run(ctx)
}

func (s *Server) observer(o ConnOptions) func(string, *acp.Error, time.Duration) {
	observe := s.opts.Observe
	if observe == nil {
		return nil
	}
	return func(method string, fault *acp.Error, took time.Duration) { observe(o, method, fault, took) }
}

func (s *Server) enter(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = struct{}{}
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *Server) all() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

// Settle waits, after the hub was drained, until every client has what its
// sessions had to say and the answers to its prompts, or ctx ends. The
// connections can be closed then.
func (s *Server) Settle(ctx context.Context) {
	for _, c := range s.all() {
		for _, v := range c.views() {
			v.settle(ctx)
		}
	}
}

// settle waits for the pump of a session that was closed.
func (v *view) settle(ctx context.Context) {
	if v.relay != nil {
		return
	}
	select {
	case <-v.pump.Load().done:
	case <-ctx.Done():
	case <-v.conn.peer.Done():
	}
}

// raw is shorthand for JSON that is passed on as it is.
type raw = jsontext.Value

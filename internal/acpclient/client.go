package acpclient

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/hands"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// person answers what only a person can. Methods return errNobody where there is
// none, errDismissed when the person will not answer, and the cause of ctx.
type person interface {
	// choose asks for one of the options of q and returns its index.
	choose(ctx context.Context, q question) (int, error)
	// line asks for a line of text.
	line(ctx context.Context, prompt string) (string, error)
}

var (
	errNobody    = errors.New("there is nobody to ask")
	errDismissed = errors.New("the question was dismissed")
)

// maxEarly is how many updates are kept of sessions that have no answer yet.
const maxEarly = 4096

// client is a connection to an agent with one session.
type client struct {
	opts   Options
	view   *view
	person person
	forms  bool // there is somebody to fill in forms
	server *server
	conn   *acp.Conn
	agent  v1.AgentConn
	hands  *hands.Hands
	over   chan struct{} // closed when the connection is over
	runErr error         // why, after over

	info     *v1.InitializeResponse
	mu       sync.Mutex
	session  v1.SessionID
	early    []*v1.SessionNotification
	modes    *v1.SessionModeState
	options  []v1.SessionConfigOption
	asking   context.Context // ends when the running turn is cancelled
	withdraw context.CancelCauseFunc
	denied   bool // a permission was denied because nobody could answer
}

// connect starts or dials the agent. The client is to be closed when err is nil.
func connect(ctx context.Context, o Options, v *view, p person, log func(string)) (*client, error) {
	h, err := hands.Open(hands.Options{Cwd: o.Cwd, Environ: o.Environ, Forbidden: o.Forbidden, Own: o.Own})
	if err != nil {
		return nil, err
	}
	c := &client{opts: o, view: v, person: p, forms: o.Terminal != nil, hands: h, over: make(chan struct{})}
	v.terminal = h.Output
	c.asking, c.withdraw = context.WithCancelCause(context.Background())
	pipe, err := c.reach(ctx, log)
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	if o.Wire {
		pipe = logged{MessageConn: pipe, redact: o.Redact, line: func(s string) { log(s) }}
	}
	c.conn = acp.NewConn(pipe, c.handler(), &acp.Options{Malformed: c.malformed})
	c.agent = v1.AgentConn{Conn: c.conn}
	go c.run()
	return c, nil
}

// reach returns the connection to the agent.
func (c *client) reach(ctx context.Context, log func(string)) (acp.MessageConn, error) {
	if c.opts.Dial != nil {
		return c.opts.Dial(ctx)
	}
	var lines func(string)
	if c.opts.ServerVerbose {
		lines = func(s string) { log("server: " + printable.Text(c.opts.Redact(s))) }
	}
	s, pipe, err := startServer(ctx, c.opts, lines)
	c.server = s
	return pipe, err
}

// run serves the connection. When the agent's output ends there is nobody left
// to answer, so that what is open is given up.
func (c *client) run() {
	defer close(c.over)
	done := make(chan struct{})
	go func() {
		select {
		case <-c.conn.Handled():
			_ = c.conn.Close()
		case <-done:
		}
	}()
	c.runErr = c.conn.Run(context.Background())
	close(done)
}

// close ends the session's commands, the connection and the server.
func (c *client) close() error {
	c.mu.Lock()
	c.withdraw(errCancelled)
	c.mu.Unlock()
	c.server.stop() // closes its input, which ends the connection in order
	err := c.conn.Close()
	<-c.over
	if c.server == nil {
		err = nil // a socket that is gone already
	}
	return errors.Join(err, c.hands.Close())
}

// malformed tells what the agent sent that is no message.
func (c *client) malformed(fault error) {
	c.view.say(warn("! the agent sent what is no message of ACP: " + printable.Line(fault.Error())))
}

// gone turns the failure of a call into what the person should know: how the
// server ended, where it has.
func (c *client) gone(err error) error {
	if err == nil || !errors.Is(err, acp.ErrClosed) {
		return err
	}
	<-c.over
	switch {
	case c.server != nil:
		err = c.server.epitaph()
	case c.runErr != nil:
		err = fmt.Errorf("the connection is over: %w", c.runErr)
	default:
		err = errors.New("the agent closed the connection")
	}
	return fmt.Errorf("%w: %w", ErrFailed, err)
}

// start makes the handshake and opens the session.
func (c *client) start(ctx context.Context) error {
	if err := c.initialize(ctx); err != nil {
		return err
	}
	if err := c.open(ctx); err != nil {
		return c.advise(c.gone(err))
	}
	return nil
}

func (c *client) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.StartTimeout, errSilent)
	defer cancel()
	info, err := c.agent.Initialize(ctx, &v1.InitializeRequest{
		ProtocolVersion: 1, ClientCapabilities: c.capabilities(),
		ClientInfo: &v1.Implementation{Name: "grapnel-acp-client", Version: "1"},
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(context.Cause(ctx), errSilent):
		if c.server == nil {
			return fmt.Errorf("the agent has not answered initialize for %v; does it speak ACP?", c.opts.StartTimeout)
		}
		return c.server.silent(c.opts.StartTimeout)
	case err != nil:
		return c.gone(err)
	case info.ProtocolVersion != 1:
		return fmt.Errorf("the agent speaks version %d of ACP, and this client only version 1; update grapnel, or use an older agent", info.ProtocolVersion)
	}
	c.info = info
	return nil
}

var errSilent = errors.New("no answer to initialize")

// capabilities announces exactly what is served.
func (c *client) capabilities() v1.ClientCapabilities {
	caps := v1.ClientCapabilities{
		FS:       v1.FileSystemCapabilities{ReadTextFile: c.opts.Files, WriteTextFile: c.opts.Files},
		Terminal: c.opts.Terminals,
	}
	if c.opts.Dial != nil && c.opts.Files {
		tools := "gateway"
		if c.opts.Terminals {
			tools = "client"
		}
		caps.Meta = jsontext.Value(`{"grapnel":{"clientFs":true,"tools":"` + tools + `"}}`)
	}
	if c.forms {
		caps.Elicitation = &v1.ElicitationCapabilities{Form: &v1.ElicitationFormCapabilities{}}
	}
	return caps
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

const (
	// firstVersion is the protocol version a server is greeted with: all of them
	// know that greeting. One that refuses it is greeted the newer way.
	firstVersion = "2025-11-25"
	// maxPages and maxListed bound a server's list of tools.
	maxPages  = 50
	maxListed = 2000
	// listBound is how long the list may take.
	listBound = 30 * time.Second
	// maxInstructions is how much of a server's instructions is kept, in bytes.
	maxInstructions = 4 << 10
	// maxStretch is how many timeouts a call may last whose server reports
	// progress all the time.
	maxStretch = 10
)

// connection is one server, connected.
type connection struct {
	conf    Server
	session *sdk.ClientSession
	link    link
	changed chan struct{} // holds one when the server says that its tools changed

	mu       sync.Mutex
	next     int64
	progress map[any]func(*sdk.ProgressNotificationParams)
}

// link is the transport below a connection, and what it knows of failures.
type link interface {
	transport() sdk.Transport
	// why adds to an error what the transport has seen.
	why(err error) error
	// free gives up what is left when the connection has ended.
	// stop ends a server of ours. The SDK closes a session only once everything it
	// had to say is written, which a server that reads nothing can put off.
	stop()
	free()
}

// connect starts or dials a server and shakes hands.
func connect(ctx context.Context, conf Server, o Options) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, connectBound)
	defer cancel()
	var secrets Secrets
	if conf.Secrets != nil {
		var err error
		if secrets, err = conf.Secrets(ctx); err != nil {
			return nil, &finalError{err}
		}
		secrets.teach(o.Redact)
	}
	if o.Connecting != nil {
		if err := o.Connecting(ctx, conf.Name, conf.place()); err != nil {
			return nil, err
		}
	}
	c, err := greet(ctx, conf, o, secrets, firstVersion)
	if refused := (*jsonrpc.Error)(nil); errors.As(err, &refused) {
		if newer, err := greet(ctx, conf, o, secrets, ""); err == nil {
			return newer, nil
		}
	}
	if err != nil && c != nil {
		err = c.explain(err)
	}
	return c, err
}

// place is the program or the host of a server: arguments and addresses may hold
// what is nobody's business.
func (s Server) place() string {
	if s.Transport == Stdio {
		return s.Command
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return string(s.Transport)
	}
	return u.Scheme + "://" + u.Host
}

// greet makes a connection in a version of the protocol, "" being the newest. With
// an error the connection may be there to explain it.
func greet(ctx context.Context, conf Server, o Options, secrets Secrets, version string) (*connection, error) {
	c := &connection{conf: conf, changed: make(chan struct{}, 1), progress: make(map[any]func(*sdk.ProgressNotificationParams))}
	var err error
	if c.link, err = newLink(ctx, conf, o, secrets); err != nil {
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "grapnel", Title: "Grapnel", Version: o.Version}, &sdk.ClientOptions{
		Capabilities:                capabilities(),
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { c.noteChange() },
		ProgressNotificationHandler: c.noteProgress,
		MultiRoundTrip:              &sdk.MultiRoundTripOptions{Disabled: true},
	})
	addRoots(client, o.Roots, conf.named().Writable)
	c.session, err = client.Connect(ctx, c.link.transport(), &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		c.link.free()
	}
	return c, err
}

func (c *connection) noteChange() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// wait returns when the connection has ended by itself.
func (c *connection) wait() error {
	if err := c.session.Wait(); err != nil {
		return err
	}
	return errors.New("it ended the connection")
}

func (c *connection) close() {
	c.link.stop()
	_ = c.session.Close() // it has ended one way or the other
	c.link.free()
}

// explain makes a failure one sentence for people.
func (c *connection) explain(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it gave no answer in time (%w)", err)
	}
	return c.link.why(err)
}

// list asks for all tools and hands them to take, page by page: what a server
// sends is longer than what is kept of it.
func (c *connection) list(ctx context.Context, take func([]*sdk.Tool)) error {
	if r := c.session.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Tools == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listBound)
	defer cancel()
	listed := 0
	params := &sdk.ListToolsParams{}
	for range maxPages {
		r, err := c.session.ListTools(ctx, params)
		if err != nil {
			return err
		}
		take(r.Tools)
		listed += len(r.Tools)
		if r.NextCursor == "" || r.NextCursor == params.Cursor || listed >= maxListed {
			break
		}
		params.Cursor = r.NextCursor
	}
	return nil
}

// instructions are what the server wants models to know, bounded.
func (c *connection) instructions() string {
	r := c.session.InitializeResult()
	if r == nil {
		return ""
	}
	return printable.Clip(strings.TrimSpace(r.Instructions), maxInstructions)
}

// call runs a tool. It ends with ctx at once, and otherwise when the server has
// given no sign of life for the server's timeout.
func (c *connection) call(ctx context.Context, name string, input []byte, progress func(string)) (*sdk.CallToolResult, error) {
	timeout := c.timeout()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	silent := time.AfterFunc(timeout, func() { end(&timeoutError{timeout}) })
	defer silent.Stop()
	last := time.AfterFunc(maxStretch*timeout, func() { end(&timeoutError{maxStretch * timeout}) })
	defer last.Stop()

	params := &sdk.CallToolParams{Name: name, Arguments: rawArguments(input)}
	token, forget := c.listen(func(p *sdk.ProgressNotificationParams) {
		silent.Reset(timeout)
		if progress != nil {
			progress(progressText(p))
		}
	})
	defer forget()
	params.SetProgressToken(token)
	r, err := c.session.CallTool(ctx, params)
	return r, c.late(ctx, err)
}

func (c *connection) timeout() time.Duration {
	if c.conf.Timeout <= 0 {
		return DefaultTimeout
	}
	return c.conf.Timeout
}

// bounded ends a request that has no progress to report at the server's timeout.
func (c *connection) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.timeout(), &timeoutError{c.timeout()})
}

// late is the error of a request, or that it took too long.
func (c *connection) late(ctx context.Context, err error) error {
	if late := (*timeoutError)(nil); err != nil && errors.As(context.Cause(ctx), &late) {
		return late
	}
	return err
}

// listen registers who hears of a call's progress.
func (c *connection) listen(f func(*sdk.ProgressNotificationParams)) (token any, forget func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	key := fmt.Sprintf("p%d", c.next)
	c.progress[key] = f
	return key, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.progress, key)
	}
}

func (c *connection) noteProgress(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
	key, ok := r.Params.ProgressToken.(string)
	if !ok {
		return
	}
	c.mu.Lock()
	f := c.progress[key]
	c.mu.Unlock()
	if f != nil {
		f(r.Params)
	}
}

func progressText(p *sdk.ProgressNotificationParams) string {
	text := printable.Line(printable.Clip(p.Message, 500))
	if p.Total > 0 {
		return strings.TrimSpace(fmt.Sprintf("%g/%g %s", p.Progress, p.Total, text))
	}
	return text
}

// timeoutError is a call that the server did not answer in time.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string {
	return fmt.Sprintf("no answer within %s; raise timeout_secs of the server if it needs longer", e.after)
}

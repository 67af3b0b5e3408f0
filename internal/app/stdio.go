package app

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	// stdioDrain is how long a turn may run on after the client closed its
	// side: editors wait about five seconds before they kill.
	stdioDrain = 3 * time.Second
	// closeBound is how long ending everything may take after that.
	closeBound = 1500 * time.Millisecond
)

// StdioOptions are what the command line says about a client on the two streams.
type StdioOptions struct {
	Agent string // alias of sessions that name none
	// Which session session/new means where it names none, as in
	// serve.ConnOptions.
	SessionKey, SessionLabel      string
	RequireExisting, ResetSession bool
}

// ServeStdio answers ACP on the two streams until the client closes its side. The
// end of quit counts as that too: what was accepted is finished or, past a
// bound, cancelled, and everything is answered.
func (a *App) ServeStdio(quit context.Context, in io.Reader, out io.Writer, o StdioOptions) error {
	ctx := context.WithoutCancel(quit)
	if err := a.listen(); err != nil {
		a.report(err)
	}
	mc := acp.NewStdio(untilDone(quit, in), out, a.conf.orDefault().ACP.MaxMessageBytes)
	err := a.server.Serve(ctx, mc, serve.ConnOptions{
		Owner: localOwner, Role: session.Approver, Agent: o.Agent, Drain: stdioDrain, Local: true,
		SessionKey: o.SessionKey, SessionLabel: o.SessionLabel, RequireExisting: o.RequireExisting, ResetSession: o.ResetSession,
	})
	if errors.Is(err, syscall.EPIPE) {
		return nil // the client is gone: that ends a connection as a close does
	}
	return err
}

// untilDone reads from r and ends when ctx does, although a read of r that is
// under way cannot be interrupted.
func untilDone(ctx context.Context, r io.Reader) io.Reader {
	pr, pw := io.Pipe()
	go func() {
		_, err := io.Copy(pw, r)
		_ = pw.CloseWithError(err) // nil is io.EOF
	}()
	context.AfterFunc(ctx, func() { _ = pw.Close() })
	return pr
}

// Shutdown is Close within the usual bound.
func (a *App) Shutdown() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeBound)
	defer cancel()
	return a.Close(ctx)
}

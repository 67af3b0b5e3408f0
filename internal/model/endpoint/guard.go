package endpoint

import (
	"context"
	"fmt"
	"io"
	"time"
)

// silentError reports a server that said nothing for too long.
type silentError struct{ after time.Duration }

func (e silentError) Error() string {
	return fmt.Sprintf("it sent nothing for %s", e.after)
}

// Guard ends a request whose server stays silent. The time the reader takes
// between reads does not count.
type Guard struct {
	timer   *time.Timer
	silence time.Duration
	cancel  context.CancelCauseFunc
}

func watch(parent context.Context, first, silence time.Duration) (context.Context, *Guard) {
	ctx, cancel := context.WithCancelCause(parent)
	g := &Guard{silence: silence, cancel: cancel}
	g.timer = g.after(first)
	return ctx, g
}

func (g *Guard) after(d time.Duration) *time.Timer {
	return time.AfterFunc(d, func() { g.cancel(silentError{d}) })
}

// Body watches the reads of a response's body. It is called once, when the
// header is there.
func (g *Guard) Body(r io.Reader) io.Reader {
	g.timer.Stop()
	g.timer = g.after(g.silence)
	g.timer.Stop()
	return &guardedBody{r: r, g: g}
}

// Stop ends the watch and releases the request.
func (g *Guard) Stop() {
	g.timer.Stop()
	g.cancel(context.Canceled)
}

type guardedBody struct {
	r io.Reader
	g *Guard
}

func (b *guardedBody) Read(p []byte) (int, error) {
	b.g.timer.Reset(b.g.silence)
	n, err := b.r.Read(p)
	b.g.timer.Stop()
	return n, err
}

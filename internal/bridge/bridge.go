package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
)

// Bridge carries one client. Make it with New; Run it once.
type Bridge struct {
	opts   Options
	origin origin
	client acp.MessageConn
	wanted chan struct{} // something waits to be sent; capacity 1
	idle   chan struct{} // the client closed its side and waits for nothing; capacity 1

	// sending is held while messages go to the gateway: what the client says, in
	// the order it came. It is taken before mu.
	sending sync.Mutex

	mu      sync.Mutex // never held while a message is written
	state   state
	now     *link // the connection that is made or there; nil without
	up      bool  // now takes what the client says
	number  int   // of connections made so far
	ids     int   // of ids of the bridge itself
	prompts int   // for their keys
	own     map[string]chan []byte
	fault   error // why there is no connection
	init    *greeting
	ended   bool    // the client has closed its side
	reset   bool    // the first session was asked to begin anew
	news    []moved // to tell behind the answer that is being written
	lost    int     // requests that were given up
}

// greeting is the client's initialize.
type greeting struct {
	params   []byte
	asked    string // the id of a request that waits for the answer; "" when it has it
	protocol uint64 // the highest version the client speaks
}

// New makes a bridge for the client at the other end of a connection.
func New(client acp.MessageConn, o Options) *Bridge {
	return &Bridge{
		opts: o.complete(), origin: newOrigin(), client: client, state: newState(),
		wanted: make(chan struct{}, 1), idle: make(chan struct{}, 1), own: make(map[string]chan []byte),
	}
}

// Run carries messages until the client closes its side and has its answers, or
// ctx ends, which counts as that. It closes neither the client's connection nor
// any session: what still runs goes on in the gateway. The error matches
// ErrUnfinished when answers are missing, and is a *RefusedError where trying
// again would not have helped.
func (b *Bridge) Run(ctx context.Context) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var tasks sync.WaitGroup
	tasks.Go(func() { b.connect(work) })
	read := make(chan error, 1)
	go func() { read <- b.readClient(work) }() // a read of stdin cannot be interrupted
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
	}
	if err == nil {
		b.drain(work)
	}
	stop()
	tasks.Wait()
	return errors.Join(err, b.finish())
}

// drain waits, within the bound, until the client has its answers.
func (b *Bridge) drain(ctx context.Context) {
	b.mu.Lock()
	b.ended = true
	b.mu.Unlock()
	b.checkIdle()
	timer := time.NewTimer(b.opts.Drain)
	defer timer.Stop()
	select {
	case <-b.idle:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// checkIdle says so when the client waits for nothing any more.
func (b *Bridge) checkIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended && len(b.state.calls) == 0 && (b.init == nil || b.init.asked == "") {
		signal(b.idle)
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// finish answers what is still open when the bridge ends, and says how it went.
func (b *Bridge) finish() error {
	b.greetAlone(ErrUnfinished)
	b.mu.Lock()
	calls, lost, fault := b.state.calls, b.lost, b.fault
	b.state.calls = nil
	b.mu.Unlock()
	running := 0
	for _, c := range calls {
		if c.id == "" {
			continue
		}
		lost++
		running++
		b.tell(failure(c.id, int(acp.CodeInternalError), "the client closed its side before this was answered; what was begun goes on in the gateway", dataDetached))
	}
	switch {
	case lost == 0:
		return nil
	case fault != nil:
		return fmt.Errorf("%w: %w", ErrUnfinished, fault)
	case running == 0:
		return ErrUnfinished
	}
	return fmt.Errorf("%w: %s open when the client closed its side, and what was begun goes on in the gateway", ErrUnfinished, plural(running, "request was", "requests were"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// Reasons in the data of errors of the bridge's own.
const (
	dataDetached    = `{"reason":"detached"}`
	dataUnreachable = `{"reason":"gateway_unreachable"}`
	dataInterrupted = `{"reason":"interrupted"}`
)

// readClient takes what the client says until it closes its side.
func (b *Bridge) readClient(ctx context.Context) error {
	for {
		msg, err := b.client.ReadMessage(ctx)
		tooLarge := (*acp.MessageTooLargeError)(nil)
		switch {
		case err == nil:
			b.fromClient(ctx, msg)
		case errors.As(err, &tooLarge):
			b.refuse(tooLarge)
		case errors.Is(err, io.EOF), errors.Is(err, acp.ErrClosed):
			return nil
		default:
			return fmt.Errorf("read from the client: %w", err)
		}
	}
}

// refuse answers a message over the limit, of which there is only the beginning.
func (b *Bridge) refuse(e *acp.MessageTooLargeError) {
	id := "null"
	for name, value := range members(e.Head, span{0, len(e.Head)}) {
		if string(name) == "id" {
			id = string(value.of(e.Head))
		}
	}
	b.tell(failure(id, int(acp.CodeInvalidRequest), e.Error(), ""))
}

// tell writes to the client. One that is gone closes its side, too.
func (b *Bridge) tell(msg []byte) {
	if err := b.client.WriteMessage(context.Background(), msg); err != nil && !errors.Is(err, syscall.EPIPE) {
		b.opts.Logger.Debug("not written to the client", "err", err)
	}
}

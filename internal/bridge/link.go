package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/ws"
)

// link is one connection to the gateway.
type link struct {
	conn acp.MessageConn
	far  bool
	used atomic.Bool // something came for the client
	made time.Time
	last atomic.Int64  // when something came at all: nanoseconds since made
	done chan struct{} // closed when nothing more comes
	err  error         // why; valid after done
}

// write sends a message. A failure ends the link, and what was to be sent is
// sent on the next one.
func (l *link) write(ctx context.Context, msg []byte) error {
	err := l.conn.WriteMessage(ctx, msg)
	if err != nil && !errors.Is(err, acp.ErrInvalidMessage) {
		_ = l.conn.Close() // the reader ends, and says why
	}
	return err
}

const (
	firstPause = 50 * time.Millisecond
	longPause  = 2 * time.Second // a person waits for a gateway that is back
)

// connect keeps a connection while there is use for one.
func (b *Bridge) connect(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		if !b.needed() {
			select {
			case <-ctx.Done():
				return
			case <-b.wanted:
			}
			continue
		}
		l, err := b.establish(ctx)
		if ctx.Err() != nil {
			if l != nil {
				_ = l.conn.Close()
			}
			return
		}
		if err != nil {
			b.giveUp(err)
			continue
		}
		begun := time.Now()
		select {
		case <-l.done:
			b.down(l)
		case <-ctx.Done():
			_ = l.conn.Close()
			<-l.done
			return
		}
		if pause = min(2*pause, longPause); l.used.Load() || time.Since(begun) > longPause {
			pause = firstPause // else what is sent may be what ends it
		}
		rest(ctx, pause)
	}
}

// rest waits about as long as pause: clients of a gateway that comes back do not
// all come at once.
func rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause/2 + rand.N(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// needed reports whether something waits for a connection.
func (b *Bridge) needed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.state.calls) > 0 || b.init != nil && b.init.asked != "" {
		return true
	}
	return b.fault == nil && b.state.live()
}

// establish makes a connection and brings it to where the last one was. Where
// sessions hang on it, it tries again up to the bound; else once.
func (b *Bridge) establish(ctx context.Context) (*link, error) {
	begun, pause := time.Now(), firstPause
	for {
		l, err := b.try(ctx)
		refused := (*RefusedError)(nil)
		if err == nil || ctx.Err() != nil || errors.As(err, &refused) {
			return l, err
		}
		b.mu.Lock()
		hangs := b.state.live()
		b.mu.Unlock()
		if !hangs || time.Since(begun) >= b.opts.Bound {
			return nil, err
		}
		b.opts.Logger.Debug("not connected", "err", err)
		rest(ctx, pause)
		pause = min(2*pause, longPause)
	}
}

// try makes one attempt. What the client waits for meanwhile is bounded: its
// initialize is answered without the gateway if need be.
func (b *Bridge) try(ctx context.Context) (*link, error) {
	greet := time.AfterFunc(greetBound, func() { b.greetAlone(fmt.Errorf("it does not answer yet")) })
	defer greet.Stop()
	dialing, cancel := context.WithTimeout(ctx, dialBound)
	defer cancel()
	t, err := b.opts.Target(dialing)
	if err != nil {
		return nil, err
	}
	conn, err := b.opts.Connect(dialing, t)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, far: t.Far, made: time.Now(), done: make(chan struct{})}
	b.mu.Lock()
	b.now = l
	b.number++
	b.mu.Unlock()
	go b.readGateway(ctx, l)
	stopClose := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stopClose()
	if err := b.handshake(ctx, l); err != nil {
		_ = conn.Close()
		<-l.done
		b.detach(l)
		return nil, err
	}
	if err := b.resume(ctx, l); err != nil {
		_ = conn.Close()
		<-l.done
		b.detach(l)
		return nil, err
	}
	b.catchUp(ctx, l)
	return l, nil
}

func (b *Bridge) readGateway(ctx context.Context, l *link) {
	defer close(l.done)
	for {
		msg, err := l.conn.ReadMessage(ctx)
		if err != nil {
			l.err = err
			return
		}
		l.heard()
		b.fromGateway(ctx, l, msg)
	}
}

// ownID makes an id of the bridge's own; mu is held.
func (b *Bridge) ownID() string {
	b.ids++
	return ownPrefix + strconv.Itoa(b.ids) + `"`
}

// ask makes a request of the bridge's own.
func (b *Bridge) ask(ctx context.Context, l *link, method string, params []byte) ([]byte, error) {
	waits := make(chan []byte, 1)
	b.mu.Lock()
	id := b.ownID()
	b.own[id] = waits
	b.mu.Unlock()
	b.sending.Lock()
	err := l.write(ctx, request(id, method, params))
	b.sending.Unlock()
	if err == nil {
		select {
		case msg := <-waits:
			return msg, nil
		case <-l.done:
		}
	}
	b.mu.Lock()
	delete(b.own, id)
	b.mu.Unlock()
	if err == nil {
		err = l.err
	}
	return nil, fmt.Errorf("the gateway closed the connection (%w)", err)
}

// handshake introduces the client, and answers its initialize with what the
// gateway says. A client that did not initialize is not introduced.
func (b *Bridge) handshake(ctx context.Context, l *link) error {
	b.mu.Lock()
	hello := b.init
	b.mu.Unlock()
	if hello == nil {
		return nil
	}
	params := hello.params
	if l.far && !b.opts.ClientFs && !b.opts.ToolsClient {
		params = withoutHands(params)
	}
	timer := time.AfterFunc(dialBound, func() { _ = l.conn.Close() })
	msg, err := b.ask(ctx, l, "initialize", params)
	if !timer.Stop() && err != nil {
		return errors.New("the gateway took the connection and does not answer: check that the address is that of a grapnel gateway")
	}
	if err != nil {
		return err
	}
	m := scan(msg)
	if speaks := number(msg, find(msg, m.result, "protocolVersion")); speaks > hello.protocol {
		return &RefusedError{fmt.Errorf("the gateway speaks version %d of ACP, and this client and bridge only %d: update grapnel here", speaks, hello.protocol)}
	}
	if m.result.isZero() && string(find(msg, m.failed, "code").of(msg)) == "-32022" {
		return &RefusedError{errors.New("the gateway does not speak this version of ACP any more: update grapnel here")}
	}
	b.mu.Lock()
	id := hello.asked
	hello.asked = ""
	b.mu.Unlock()
	if id != "" {
		b.tell(replace(msg, m.id, []byte(id)))
	}
	return nil
}

// down notes that a link has ended.
func (b *Bridge) down(l *link) {
	b.detach(l)
	why := l.err
	if errors.Is(why, io.EOF) {
		why = errors.New("closed by the gateway")
	}
	b.opts.Logger.Warn("the connection to the gateway was lost", "err", why)
	closed := (*ws.CloseError)(nil)
	if errors.As(l.err, &closed) && closed.Code == ws.CodeTooBig {
		b.dropLargest(closed.Reason)
	}
}

// detach forgets a link. Requests of its gateway that do not outlive it are
// withdrawn from the client.
func (b *Bridge) detach(l *link) {
	var withdrawn []string
	b.mu.Lock()
	if b.now == l {
		b.now, b.up = nil, false
	}
	for _, c := range b.state.calls {
		c.repeated = c.repeated || c.sent
	}
	for key, a := range b.state.asks {
		if !a.lasting {
			a.offered = 0
			withdrawn = append(withdrawn, key)
		}
	}
	b.mu.Unlock()
	for _, key := range withdrawn {
		b.tell(notification("$/cancel_request", `{"requestId":`+key+`}`))
	}
}

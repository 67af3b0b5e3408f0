package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
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
	used atomic.Bool   // something came for the client
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
	longPause  = 5 * time.Second
	// settleBound is how long after a session was resumed the gateway offers again
	// what is still open in it.
	settleBound = time.Second
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
	l := &link{conn: conn, far: t.Far, done: make(chan struct{})}
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
	if b.resume(ctx, l) {
		b.catchUp(ctx, l)
	}
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

// resume goes on with every session after what the client has of it. It returns
// false when the connection is gone again.
func (b *Bridge) resume(ctx context.Context, l *link) bool {
	type one struct {
		id     string
		params []byte
	}
	var again []one
	b.mu.Lock()
	for id, s := range b.state.sessions {
		if !s.live || b.state.restoring(id) != nil {
			continue
		}
		s.floor = s.last
		again = append(again, one{id, s.resumption(id)})
	}
	b.mu.Unlock()
	for _, s := range again {
		msg, err := b.ask(ctx, l, "session/resume", s.params)
		if err != nil {
			return false
		}
		if m := scan(msg); m.result.isZero() {
			b.gone(s.id, text(msg, find(msg, m.failed, "message")))
		}
	}
	b.settleSoon(l)
	return true
}

// resumption is what resumes a session: without the directory, which the gateway
// knows.
func (s *session) resumption(id string) []byte {
	params := []byte(`{"sessionId":` + quote(id) + `,"mcpServers":[]}`)
	if s.servers != "" {
		params = set(params, s.servers, "mcpServers")
	}
	if s.roots != "" {
		params = set(params, s.roots, "additionalDirectories")
	}
	return set(params, strconv.FormatUint(s.last, 10), "_meta", "grapnel", "after")
}

// gone forgets a session that the gateway does not go on with, and says so.
func (b *Bridge) gone(id, why string) {
	b.mu.Lock()
	delete(b.state.sessions, id)
	b.mu.Unlock()
	b.opts.Logger.Warn("a session is gone from the gateway", "session", id, "err", why)
	b.tell(b.notice(id, "error", "This session could not be taken up again", why))
}

// settleSoon withdraws what the gateway does not offer any more.
func (b *Bridge) settleSoon(l *link) {
	b.mu.Lock()
	open := len(b.state.asks) > 0
	b.mu.Unlock()
	if open {
		time.AfterFunc(settleBound, func() { b.settle(l) })
	}
}

func (b *Bridge) settle(l *link) {
	var withdrawn [][]byte
	b.mu.Lock()
	for key, a := range b.state.asks {
		if b.now != l || a.offered == b.number {
			continue
		}
		delete(b.state.asks, key)
		if a.answer == nil {
			withdrawn = append(withdrawn, notification("$/cancel_request", `{"requestId":`+key+`}`))
		}
	}
	b.mu.Unlock()
	for _, msg := range withdrawn {
		b.tell(msg)
	}
}

// catchUp sends what the client said while there was no connection, and again
// what was not answered on the last one; then the link is open.
func (b *Bridge) catchUp(ctx context.Context, l *link) {
	b.sending.Lock()
	defer b.sending.Unlock()
	b.mu.Lock()
	waiting := b.state.calls
	b.state.calls = nil
	var lost []*call
	for _, c := range waiting {
		if c.sent && !c.repeatable() {
			lost = append(lost, c)
		} else {
			b.state.calls = append(b.state.calls, c)
		}
	}
	waiting = slices.Clone(b.state.calls)
	b.up, b.fault = true, nil
	b.mu.Unlock()
	b.fail(lost, func(c *call) []byte {
		return failure(c.id, int(acp.CodeInternalError), "the connection to the gateway was lost while it worked on "+
			c.method+": it may have been done, look before you do it again", dataInterrupted)
	})
	for _, c := range waiting {
		b.sendAgain(ctx, l, c)
	}
}

// sendAgain sends a call on a new link; sending is held.
func (b *Bridge) sendAgain(ctx context.Context, l *link, c *call) {
	b.mu.Lock()
	msg, again := c.msg, c.sent
	if s := b.state.sessions[c.session]; s != nil && c.restores() {
		msg = s.restored(c)
	}
	if c.id == "" {
		b.state.calls = slices.DeleteFunc(b.state.calls, func(o *call) bool { return o == c })
	}
	cancelled := again && c.cancelled
	b.mu.Unlock()
	b.put(ctx, l, c, msg)
	if cancelled {
		_ = l.write(ctx, notification("$/cancel_request", `{"requestId":`+c.id+`}`))
	}
}

// restored is a load or resume as it is sent on a new link: one that was under
// way goes on where it was.
func (s *session) restored(c *call) []byte {
	s.floor = 0
	if !c.sent || s.last == 0 || !c.begun && c.method == "session/load" || !s.live && c.method == "session/resume" {
		return c.msg
	}
	s.floor = s.last
	return set(c.msg, strconv.FormatUint(s.last, 10), "params", "_meta", "grapnel", "after")
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

// dropLargest fails the request that the gateway found too large, which would
// end the next connection, too.
func (b *Bridge) dropLargest(reason string) {
	b.mu.Lock()
	var largest *call
	for _, c := range b.state.calls {
		if c.sent && (largest == nil || len(c.msg) > len(largest.msg)) {
			largest = c
		}
	}
	if largest != nil {
		b.state.take(largest.id)
	}
	b.mu.Unlock()
	if largest != nil {
		b.fail([]*call{largest}, func(c *call) []byte {
			return failure(c.id, int(acp.CodeInvalidRequest), fmt.Sprintf(
				"the message has %d bytes, and the gateway takes fewer (%s): raise acp.max_message_bytes there", len(c.msg), reason), "")
		})
	}
}

// giveUp fails what waits for a gateway that is not there. Sessions are kept:
// the next request tries again.
func (b *Bridge) giveUp(err error) {
	b.greetAlone(err)
	b.sending.Lock()
	defer b.sending.Unlock()
	b.mu.Lock()
	first := b.fault == nil
	b.fault = err
	calls := b.state.calls
	b.state.calls = nil
	var told []string
	for id, s := range b.state.sessions {
		if s.live && first {
			told = append(told, id)
		}
	}
	b.mu.Unlock()
	b.opts.Logger.Error(err.Error())
	for _, id := range told {
		b.tell(b.notice(id, "error", "The gateway cannot be reached", err.Error()))
	}
	b.fail(calls, func(c *call) []byte {
		return failure(c.id, int(acp.CodeInternalError), err.Error(), dataUnreachable)
	})
}

// fail answers requests that are given up.
func (b *Bridge) fail(calls []*call, answer func(*call) []byte) {
	for _, c := range calls {
		if c.id == "" {
			continue
		}
		b.mu.Lock()
		b.lost++
		b.unmark(c)
		b.mu.Unlock()
		b.tell(answer(c))
	}
	b.checkIdle()
}

// greetAlone answers initialize for a gateway that is not there.
func (b *Bridge) greetAlone(why error) {
	b.mu.Lock()
	id := ""
	if b.init != nil {
		id = b.init.asked
		b.init.asked = ""
	}
	b.mu.Unlock()
	if id == "" {
		return
	}
	b.opts.Logger.Debug("initialize is answered without the gateway", "err", why)
	b.tell(response(id, b.opts.initializeResult()))
	b.checkIdle()
}

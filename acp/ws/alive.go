package ws

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// control is what is still to be sent beside messages.
type control struct {
	kick chan struct{} // holds one token when there is something

	mu   sync.Mutex
	pong []byte // the answer to the last ping, nil when it was sent
}

// pinged remembers the peer's ping. The reader does not answer itself: it would
// wait for a long write, and a peer that is reading it might wait for the reader.
// Of several pings only the last needs an answer (RFC 6455, section 5.5.3).
func (c *Conn) pinged(_ context.Context, payload []byte) bool {
	c.control.mu.Lock()
	c.control.pong = append(make([]byte, 0, len(payload)+1), payload...)
	c.control.mu.Unlock()
	select {
	case c.control.kick <- struct{}{}:
	default:
	}
	return false
}

// takePong returns the payload of the pong that is due, nil for none.
func (ct *control) takePong() []byte {
	ct.mu.Lock()
	defer ct.mu.Unlock()
	pong := ct.pong
	ct.pong = nil
	return pong
}

// keepAlive sends pings and pongs, and gives a peer up from which nothing has come
// from before a ping to one interval after it.
func (c *Conn) keepAlive() {
	timer := time.NewTimer(max(c.ping, 0))
	defer timer.Stop()
	if c.ping < 0 {
		timer.Stop()
	}
	var asked time.Time // just before the last ping
	for {
		ping := false
		select {
		case <-c.closed:
			return
		case <-c.control.kick:
		case <-timer.C:
			if !asked.IsZero() && c.wire.silentSince(asked) {
				c.drop(&CloseError{Code: CodeLost, Reason: fmt.Sprintf("the peer did not answer a ping within %v", c.ping)})
				return
			}
			ping = true
		}
		sent, err := c.sendControl(ping)
		if err != nil {
			return
		}
		if ping {
			asked = sent
			timer.Reset(c.ping)
		}
	}
}

// sendControl sends the pong that is due, and a ping. It returns when it began to.
func (c *Conn) sendControl(ping bool) (time.Time, error) {
	if err := c.acquire(context.Background()); err != nil {
		return time.Time{}, err
	}
	defer c.release()
	began := time.Now()
	if pong := c.control.takePong(); pong != nil {
		if err := c.out.add(opPong, pong); err != nil {
			return began, c.writeFailed(err)
		}
	}
	if ping {
		c.out.trim()
		if err := c.out.add(opPing, nil); err != nil {
			return began, c.writeFailed(err)
		}
	}
	if err := c.out.flush(); err != nil {
		return began, c.writeFailed(err)
	}
	return began, nil
}

package serve

import (
	"context"
	"math"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// pump writes what one attachment of a view meets. One goroutine at a time uses
// what is below stop.
type pump struct {
	att  session.Attachment
	done chan struct{}      // closed when it does not run any more
	stop context.CancelFunc // ends its wait for events; a delivery is finished
	wait context.Context

	replay session.Seq // what is the past for this client
	begun  bool        // that has been written
	at     session.Seq // everything up to here has been written
	// ready, if not nil, is called once: when the past has been written, or
	// with the reason why it cannot be.
	ready func(error)
	// reports are for this client alone, once it has its response.
	reports []raw
}

// everything is beyond all events.
const everything session.Seq = math.MaxUint64

func newPump(att session.Attachment, replay session.Seq, ready func(error)) *pump {
	p := &pump{att: att, replay: replay, ready: ready}
	if replay == 0 {
		p.at = att.Start()
	}
	return p
}

// prepare makes the pump one that will run.
func (p *pump) prepare(ctx context.Context) {
	p.done = make(chan struct{})
	p.wait, p.stop = context.WithCancel(ctx)
}

// halt stops the pump between two deliveries.
func (p *pump) halt() {
	p.stop()
	<-p.done
}

// pump is what shows a session that is run here to this client, or nil.
func (c *conn) pump(id string) *pump {
	if v, ok := c.local(id); ok {
		return v.pump.Load()
	}
	return nil
}

// finish waits until the pump of a session that was closed has written what is
// left. It does nothing on nil.
func (p *pump) finish() {
	if p != nil {
		<-p.done
	}
}

// run writes until the attachment ends or the pump is stopped.
func (v *view) run(p *pump) {
	defer close(p.done)
	err := v.follow(p, p.wait, everything)
	if p.wait.Err() == nil {
		p.fail(err)
		v.end(err)
	}
}

// fail gives up what of the past has not been written.
func (p *pump) fail(err error) {
	if !p.begun && p.ready != nil {
		p.ready(err)
	}
	p.begun = true
}

// follow writes the session's events up to a number.
func (v *view) follow(p *pump, wait context.Context, until session.Seq) error {
	v.reached(p)
	for p.at < until {
		events, cursor, err := p.att.Next(wait)
		if err != nil {
			return err
		}
		if err := v.show(p, events, until); err != nil {
			return err
		}
		p.at = cursor
		v.reached(p)
	}
	return nil
}

// show writes a page of events up to a number.
func (v *view) show(p *pump, events []session.Event, until session.Seq) error {
	out := v.conn.server.takeFrames()
	defer v.conn.server.giveFrames(out)
	for i := range events {
		e := &events[i]
		if e.Seq > until {
			break
		}
		if e.Seq > p.replay && !p.begun {
			if err := out.write(v.conn); err != nil {
				return err
			}
			p.at = max(p.at, p.replay)
			v.reached(p)
		}
		if err := v.deliver(out, e, e.Seq != 0 && e.Seq <= p.replay); err != nil {
			return err
		}
	}
	return out.write(v.conn)
}

// reached says where the pump stands. At the end of the past the client gets its
// response, commands, and the requests still open.
func (v *view) reached(p *pump) {
	if p.begun || p.at < p.replay {
		return
	}
	p.begun = true
	if p.ready != nil {
		p.ready(nil)
	}
	v.begin(p)
}

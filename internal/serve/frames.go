package serve

import "github.com/grapnel-ai/grapnel/internal/session"

// frameBytes is how much of a burst goes out with one write: enough to make the
// write cheap, little enough that sessions which share a connection take turns.
const frameBytes = 32 << 10

// frames are updates that wait to be written together.
type frames struct {
	buf  []byte
	msgs []raw // parts of buf, or of what buf was before it grew
}

// add adds the frame of an event, if the client is to see it.
func (f *frames) add(v *view, e *session.Event, replayed bool) {
	from := len(f.buf)
	f.buf = v.appendFrame(f.buf, e, replayed)
	if to := len(f.buf); to > from {
		f.msgs = append(f.msgs, raw(f.buf[from:to:to]))
	}
}

// full reports that it is time to write.
func (f *frames) full() bool { return len(f.buf) >= frameBytes }

// write sends what waits.
func (f *frames) write(c *conn) error {
	if len(f.msgs) == 0 {
		return nil
	}
	err := c.peer.WriteRaw(c.context(), f.msgs...)
	f.reset()
	return err
}

func (f *frames) reset() {
	clear(f.msgs)
	f.msgs = f.msgs[:0]
	f.buf = f.buf[:0]
}

// takeFrames returns empty frames with the memory of earlier ones: pumps that
// have nothing to write hold none.
func (s *Server) takeFrames() *frames {
	if f, ok := s.frames.Get().(*frames); ok {
		return f
	}
	return new(frames)
}

// giveFrames takes them back, unless one giant update made them large.
func (s *Server) giveFrames(f *frames) {
	if cap(f.buf) <= 2*frameBytes {
		f.reset()
		s.frames.Put(f)
	}
}

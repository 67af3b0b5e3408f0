package ws

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// chunkBytes is how much is given to the socket at once: its progress is seen in
// steps of this size, which is also that of a TLS record.
const chunkBytes = 16 << 10

// squeezed is how long a write takes at least that waited for the peer to read.
const squeezed = 20 * time.Millisecond

// wire is the socket of a connection. It sees what the socket takes and gives,
// which tells whether the peer is there, and keeps the frames of several writers
// apart.
type wire struct {
	rw      io.ReadWriteCloser
	writing chan struct{} // holds one token while frames are written
	stall   time.Duration
	stalled func() // called when a write makes no progress

	waiting atomic.Int64 // when the read that is waiting began; 0 while none is
	putting atomic.Int64 // when the write that is under way began; 0 while none is
	squeeze atomic.Int64 // when a write that had to wait for the peer was last taken
	lost    atomic.Bool  // a read has failed
	closing atomic.Bool  // the close frame was written: nothing may follow

	watch *time.Timer // runs while the socket holds a write; owned by the writer
	close sync.Once
}

// Read reads from the socket.
func (w *wire) Read(p []byte) (int, error) {
	w.waiting.Store(time.Now().UnixNano())
	n, err := w.rw.Read(p)
	w.waiting.Store(0)
	if err != nil {
		w.lost.Store(true)
	}
	return n, err
}

// silentSince reports whether the peer gave and took nothing since t. While
// nobody reads here, nothing can be said about it; and while a write waits for the
// peer, the stall time judges. A write that did not have to wait proves nothing:
// the system takes some without the peer.
func (w *wire) silentSince(t time.Time) bool {
	waiting, putting := w.waiting.Load(), w.putting.Load()
	if putting != 0 && time.Since(time.Unix(0, putting)) >= squeezed {
		return false
	}
	return waiting != 0 && waiting <= t.UnixNano() && w.squeeze.Load() <= t.UnixNano()
}

// Write is what the WebSocket library writes with: only the frame that closes,
// since everything else is written by Conn.
func (w *wire) Write(p []byte) (int, error) {
	w.writing <- struct{}{} // released when the socket closes, at the latest
	defer func() { <-w.writing }()
	w.closing.Store(true)
	if err := w.put(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// put writes p. The caller holds the token.
func (w *wire) put(p []byte) error {
	for len(p) > 0 {
		n, err := w.chunk(p[:min(len(p), chunkBytes)])
		if err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// chunk writes p under the watch of the stall timer.
func (w *wire) chunk(p []byte) (int, error) {
	switch {
	case w.stall < 0:
	case w.watch == nil:
		w.watch = time.AfterFunc(w.stall, w.stalled)
	default:
		w.watch.Reset(w.stall)
	}
	began := time.Now()
	w.putting.Store(began.UnixNano())
	n, err := w.rw.Write(p)
	w.putting.Store(0)
	if w.watch != nil {
		w.watch.Stop()
	}
	if now := time.Now(); now.Sub(began) >= squeezed {
		w.squeeze.Store(now.UnixNano())
	}
	return n, err
}

// Close closes the socket at once, which ends every read and write on it.
func (w *wire) Close() error {
	var err error
	w.close.Do(func() { err = w.rw.Close() })
	return err
}

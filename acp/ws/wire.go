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

// wire is the socket of a connection. It sees what the socket takes and gives,
// which tells whether the peer is there, and keeps the frames of several writers
// apart.
type wire struct {
	rw      io.ReadWriteCloser
	writing chan struct{} // holds one token while frames are written
	stall   time.Duration
	stalled func() // called when a write makes no progress

	waiting atomic.Int64 // when the read that is waiting began; 0 while none is
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

// silentSince reports whether a read has been waiting since t or longer. While
// nobody reads, nothing can be said about the peer.
func (w *wire) silentSince(t time.Time) bool {
	began := w.waiting.Load()
	return began != 0 && began <= t.UnixNano()
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
	n, err := w.rw.Write(p)
	if w.watch != nil {
		w.watch.Stop()
	}
	return n, err
}

// Close closes the socket at once, which ends every read and write on it.
func (w *wire) Close() error {
	var err error
	w.close.Do(func() { err = w.rw.Close() })
	return err
}

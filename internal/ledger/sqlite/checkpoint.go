package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// walBytes is how much is written to the log before it is moved into the
	// database while others go on writing.
	walBytes = 8 << 20
	// pageSize is what each row adds to the log at least: the page it is on.
	pageSize = 4 << 10
	// commitBytes is about what a commit adds besides its rows: now and then a
	// page above theirs.
	commitBytes = 1 << 10
	// idleDelay without a commit makes the store idle: the log is emptied.
	idleDelay = 200 * time.Millisecond
	// maxIdleDelay is the longest pause between attempts while another program
	// reads and so keeps the log from being emptied.
	maxIdleDelay = 10 * time.Second
	// readerWait is how long emptying the log waits for readers; commits wait
	// with it.
	readerWait = 20 * time.Millisecond
)

// checkpointer keeps the write-ahead log small. SQLite's own checkpoints are
// off, so that no commit has to wait for one. Of several processes only one
// checkpoints at a time: SQLite sees to it in the concurrent part, the commit
// lock in the other.
type checkpointer struct {
	l       *Ledger
	limit   int64        // of the log: walBytes
	pending atomic.Int64 // bytes written since the log was last moved
	kick    chan struct{}
	stop    chan struct{}
	stopped sync.WaitGroup
}

func startCheckpointer(l *Ledger) *checkpointer {
	c := &checkpointer{l: l, limit: l.walLimit, kick: make(chan struct{}, 1), stop: make(chan struct{})}
	c.stopped.Go(c.run)
	return c
}

func (c *checkpointer) close() {
	close(c.stop)
	c.stopped.Wait()
}

// wrote counts a commit. It wakes the checkpointer for the first and when the
// log is full.
func (c *checkpointer) wrote(bytes int) {
	n := int64(bytes + commitBytes)
	sum := c.pending.Add(n)
	if sum == n || sum >= c.limit && sum-n < c.limit {
		select {
		case c.kick <- struct{}{}:
		default:
		}
	}
}

func (c *checkpointer) run() {
	timer := time.NewTimer(idleDelay)
	defer timer.Stop()
	var seen int64
	delay := idleDelay
	for {
		select {
		case <-c.stop:
			return
		case <-c.kick:
			delay = idleDelay
		case <-timer.C:
		}
		switch n := c.pending.Load(); {
		case n >= c.limit:
			c.move()
		case n == 0:
			continue // nothing to do until kicked
		case n == seen && c.empty(n):
			_ = c.l.emptyTrash(context.Background()) // tried again when next idle
		case n == seen:
			delay = min(2*delay, maxIdleDelay)
		}
		seen = c.pending.Load()
		timer.Reset(delay)
	}
}

// move copies the log into the database while others write, then stops them
// for what they added meanwhile, so that the log starts again from its
// beginning. A failure leaves the log to the next attempt.
func (c *checkpointer) move() {
	if conn, err := c.l.writes.Conn(context.Background()); err == nil {
		_, _ = checkpoint(conn, "PASSIVE")
		_ = conn.Close()
	}
	_ = c.l.writer.do(context.Background(), &request{alone: c.l.writer.restart})
}

// empty truncates the log; false while a reader is in the way.
func (c *checkpointer) empty(n int64) bool {
	var done bool
	_ = c.l.writer.do(context.Background(), &request{alone: func() (err error) {
		done, err = c.l.writer.checkpoint("TRUNCATE")
		return err
	}})
	if done {
		c.pending.Add(-n)
	}
	return done
}

// overdue reports whether so much was written while the log is being moved that
// the next commit has to wait for it.
func (c *checkpointer) overdue() bool { return c.pending.Load() >= 2*c.limit }

// restart starts the log again from its beginning, for the writer's leader.
func (w *writer) restart() error {
	n := w.l.checkpointer.pending.Load()
	_, err := w.checkpoint("RESTART")
	// Counted as done also when a reader was in the way: the next attempt comes
	// after as much again.
	w.l.checkpointer.pending.Add(-n)
	return err
}

// checkpoint runs on the writer's connection, for its leader.
func (w *writer) checkpoint(mode string) (bool, error) {
	if err := w.waitFor(readerWait); err != nil {
		return false, err
	}
	done, err := checkpoint(w.conn, mode)
	return done, errors.Join(err, w.waitFor(busyTimeout))
}

// waitFor sets how long the writer's connection waits for locks.
func (w *writer) waitFor(d time.Duration) error {
	_, err := w.conn.ExecContext(context.Background(), "PRAGMA busy_timeout="+strconv.FormatInt(d.Milliseconds(), 10))
	return err
}

func checkpoint(conn *sql.Conn, mode string) (bool, error) {
	var busy, log, moved int
	err := conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &log, &moved)
	return err == nil && busy == 0, err
}

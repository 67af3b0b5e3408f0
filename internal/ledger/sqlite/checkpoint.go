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
	pending atomic.Int64 // bytes in the log since its beginning; set by the writer's leader
	overdue int64        // pending from which the next commit waits for the log; the leader's
	moving  sync.Mutex   // held during the concurrent part; after the commit lock, if both
	kick    chan struct{}
	stop    chan struct{}
	stopped sync.WaitGroup
}

func newCheckpointer(l *Ledger) *checkpointer {
	c := &checkpointer{l: l, limit: l.walLimit, kick: make(chan struct{}, 1), stop: make(chan struct{})}
	c.overdue = 2 * c.limit
	return c
}

// start begins the work, once the ledger is open and its locks are free.
func (c *checkpointer) start() { c.stopped.Go(c.run) }

func (c *checkpointer) close() {
	close(c.stop)
	c.stopped.Wait()
}

// wrote counts a commit, for the writer's leader. It wakes the checkpointer for
// the first and whenever the log has grown by its limit.
func (c *checkpointer) wrote(bytes int) {
	n := int64(bytes + commitBytes)
	sum := c.pending.Add(n)
	if sum == n || sum/c.limit != (sum-n)/c.limit {
		select {
		case c.kick <- struct{}{}:
		default:
		}
	}
}

// run moves the log when it is full and empties it when nothing was written for
// a while, first after opening; then it sleeps until the next commit.
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
			if c.pending.Load() >= c.limit {
				c.move()
			}
		case <-timer.C:
			if c.pending.Load() != seen {
				break
			}
			if c.checkpoint("TRUNCATE") {
				_ = c.l.emptyTrash(context.Background()) // tried again when next idle
				continue
			}
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
	c.moving.Lock()
	if conn, err := c.l.writes.Conn(context.Background()); err == nil {
		_, _ = checkpoint(conn, "PASSIVE")
		_ = conn.Close()
	}
	c.moving.Unlock()
	c.checkpoint("RESTART")
}

// checkpoint stops commits for a checkpoint of the whole log; false while a
// reader is in the way.
func (c *checkpointer) checkpoint(mode string) (done bool) {
	_ = c.l.writer.do(context.Background(), &request{alone: func() (err error) {
		done, err = c.l.writer.checkpoint(mode)
		return err
	}})
	return done
}

// catchUp makes a commit wait for the log when the checkpointer does not keep
// up with what is written.
func (w *writer) catchUp() {
	c := w.l.checkpointer
	if c.pending.Load() < c.overdue {
		return
	}
	c.moving.Lock()
	defer c.moving.Unlock()
	_, _ = w.checkpoint("RESTART") // commits do not depend on it
}

// checkpoint runs on the writer's connection, for its leader.
func (w *writer) checkpoint(mode string) (bool, error) {
	if err := w.waitFor(readerWait); err != nil {
		return false, err
	}
	done, err := checkpoint(w.conn, mode)
	c := w.l.checkpointer
	if done {
		c.pending.Store(0)
		c.overdue = 2 * c.limit
	} else {
		// A reader is in the way: commits do not wait for it each time.
		c.overdue = c.pending.Load() + c.limit
	}
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

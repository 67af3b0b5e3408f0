package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// Limits of one transaction, so that none takes more than a few milliseconds
// and nobody waits behind a long one.
const (
	maxGroup      = 512
	maxGroupBytes = 1 << 20
)

// op is what a request does in a transaction. It refuses (returns an error)
// before it writes anything; once it writes it only fails with the transaction.
type op func(*tx) error

// request is one caller's part of a group.
type request struct {
	op      op
	alone   func() error // instead of op: runs by itself and in no transaction
	bytes   int
	durable bool
	err     error
	turn    chan verdict // capacity 1
}

// verdict is what a waiting caller is told.
type verdict int

const (
	settled verdict = iota // the request was committed or refused
	lead                   // the caller runs the next group
)

// writer runs one transaction at a time. A caller that finds it idle runs its
// own request at once, without a switch of goroutines; those that come
// meanwhile wait, and the first of them runs all of theirs in one transaction.
type writer struct {
	l     *Ledger
	lock  *os.File // shared between processes
	gate  *filelock.Waiter
	bound time.Duration // of the wait for lock
	conn  *sql.Conn
	stmts *statements

	mu      sync.Mutex
	idle    sync.Cond
	leading bool
	closed  bool
	waiting []*request

	// The rest belongs to the leader.
	full  bool // PRAGMA synchronous is FULL, else NORMAL
	owned map[string]*owned
}

// owned is a session this instance appends to.
type owned struct {
	num   int64
	fence session.Fence
	last  session.Seq
}

func newWriter(l *Ledger, lock *os.File, conn *sql.Conn) *writer {
	w := &writer{l: l, lock: lock, gate: filelock.NewWaiter(lock), bound: lockBound, conn: conn, stmts: newStatements(conn), owned: make(map[string]*owned)}
	w.idle.L = &w.mu
	return w
}

// do runs a request in a transaction, together with others. When ctx ends
// before its transaction has begun it is withdrawn; later it is waited for, so
// that the answer is always the truth.
func (w *writer) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.l.readOnly {
		return fmt.Errorf("%w: %s", session.ErrReadOnly, w.l.path)
	}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	if w.leading {
		r.turn = make(chan verdict, 1)
		w.waiting = append(w.waiting, r)
		w.mu.Unlock()
		if done, err := w.wait(ctx, r); done {
			return err
		}
	} else {
		w.leading = true
		w.mu.Unlock()
	}
	w.lead(r)
	return r.err
}

// wait returns true when r needs nothing more, false when its caller leads.
func (w *writer) wait(ctx context.Context, r *request) (bool, error) {
	select {
	case v := <-r.turn:
		return v == settled, r.err
	case <-ctx.Done():
	}
	if w.withdraw(r) {
		return true, ctx.Err()
	}
	return <-r.turn == settled, r.err
}

func (w *writer) withdraw(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, q := range w.waiting {
		if q == r {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// lead runs first and what waits, then hands the lead on.
func (w *writer) lead(first *request) {
	group := w.gather(first)
	w.run(group)
	for _, r := range group[1:] {
		r.turn <- settled
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		w.leading = false
		w.idle.Broadcast()
		return
	}
	next := w.waiting[0]
	w.waiting = w.waiting[1:]
	next.turn <- lead
}

// gather takes waiting requests in order, as many as one transaction may have.
func (w *writer) gather(first *request) []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, bytes := 0, first.bytes
	for first.alone == nil && n < len(w.waiting) && n+1 < maxGroup {
		next := w.waiting[n]
		if next.alone != nil || bytes+next.bytes > maxGroupBytes {
			break
		}
		bytes += next.bytes
		n++
	}
	group := make([]*request, 1, n+1)
	group[0] = first
	group = append(group, w.waiting[:n]...)
	w.waiting = w.waiting[n:]
	return group
}

// run commits a group. When its transaction fails, each request gets one of its
// own, so that none fails for another's sake.
func (w *writer) run(group []*request) {
	if err := w.gate.Lock(w.bound); err != nil {
		settle(group, w.l.lockError(err))
		return
	}
	defer unlock(w.lock)
	if group[0].alone != nil {
		group[0].err = group[0].alone()
		return
	}
	w.catchUp()
	err := w.transact(group)
	if err == nil || len(group) == 1 {
		return
	}
	for i := range group {
		_ = w.transact(group[i : i+1])
	}
}

func settle(group []*request, err error) {
	for _, r := range group {
		r.err = err
	}
}

// transact runs a group in one transaction. It returns, and leaves with every
// request, the error that undid it all; refusals are the requests' own.
func (w *writer) transact(group []*request) error {
	t := &tx{w: w}
	err := w.begin(t, group)
	if err == nil {
		for _, r := range group {
			if r.err = r.op(t); t.failed != nil {
				break
			}
		}
		t.exec("COMMIT")
		err = t.failed
	}
	if err != nil {
		// SQLite has undone it already after some errors; then this one fails.
		_, _ = w.stmts.exec("ROLLBACK")
		for _, id := range t.touched {
			delete(w.owned, id)
		}
		err = w.l.storeError(err)
		settle(group, err)
		return err
	}
	w.l.checkpointer.wrote(t.bytes)
	return nil
}

func (w *writer) begin(t *tx, group []*request) error {
	full := false
	for _, r := range group {
		full = full || r.durable
	}
	if err := w.synchronous(full); err != nil {
		return err
	}
	t.exec("BEGIN IMMEDIATE")
	return t.failed
}

// synchronous chooses whether commits are flushed. The pragma acts when it is
// prepared, so it is not kept.
func (w *writer) synchronous(full bool) error {
	if w.full == full {
		return nil
	}
	level := "NORMAL"
	if full {
		level = "FULL"
	}
	if _, err := w.conn.ExecContext(context.Background(), "PRAGMA synchronous="+level); err != nil {
		return err
	}
	w.full = full
	return nil
}

// close refuses later requests, waits for those that came before, runs a last
// one and closes the connection.
func (w *writer) close(last op) error {
	w.mu.Lock()
	w.closed = true
	for w.leading {
		w.idle.Wait()
	}
	w.mu.Unlock()
	r := &request{op: last}
	w.run([]*request{r})
	return errors.Join(r.err, w.stmts.close(), w.conn.Close())
}

// tx is the running transaction, for its ops only. After its first error it
// does nothing more.
type tx struct {
	w       *writer
	failed  error
	touched []string // sessions to read anew if it fails
	bytes   int      // written, about
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(query string, args ...any) int64 {
	if t.failed != nil {
		return 0
	}
	n, err := t.w.stmts.exec(query, args...)
	t.failed = err
	return n
}

// row reads one row into dest; false when there is none.
func (t *tx) row(query string, args []any, dest ...any) bool {
	if t.failed != nil {
		return false
	}
	ok, err := t.w.stmts.row(query, args, dest...)
	t.failed = err
	return ok
}

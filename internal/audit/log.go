package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// The names of the log's files in its directory.
const (
	FileName = "audit.jsonl"
	lockName = "audit.lock"
)

const (
	// maxBytes is how long a file gets before the next one is begun.
	maxBytes = 16 << 20
	// lockBound is how long an append waits for other processes. They hold the
	// lock for microseconds; one that holds it longer was stopped.
	lockBound = 3 * time.Second
	filePerm  = 0o600
)

// Options say where and how a Log is written.
type Options struct {
	Dir      string           // the data directory; made when it is missing
	Redact   *secret.Redactor // takes secrets out of every line; nil does not
	Now      func() time.Time // nil: time.Now
	MaxBytes int64            // of one file; 0 means 16 MiB
}

// Log appends to the audit log of a data directory. It is safe for concurrent
// use, and any number of processes may have one on the same directory. A nil Log
// records nothing.
type Log struct {
	opts Options

	mu   sync.Mutex
	last mark
	file os.FileInfo // of the file last ended at, to see whether others wrote
}

// New returns the Log of a directory. It opens nothing: each append does.
func New(o Options) *Log {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = maxBytes
	}
	return &Log{opts: o}
}

// Path returns where the log is written.
func (l *Log) Path() string { return filepath.Join(l.opts.Dir, FileName) }

// Record appends an entry, after all there are. When it returns nil, the entry
// survives the end of this process, however that ends. It does not end with its
// context: what was cancelled is on record too. The error says in one
// sentence that the log cannot be written and why.
func (l *Log) Record(_ context.Context, e Entry) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.record(e); err != nil {
		return fmt.Errorf("the audit log %s cannot be written: %w", l.Path(), err)
	}
	return nil
}

func (l *Log) record(e Entry) (err error) {
	lock, err := l.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }() // which unlocks
	f, err := l.open(lock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return l.append(f, lock, e)
}

// lock takes the lock that all processes share.
func (l *Log) lock() (*os.File, error) {
	if err := os.MkdirAll(l.opts.Dir, 0o700); err != nil {
		return nil, err
	}
	f, err := filelock.Open(filepath.Join(l.opts.Dir, lockName))
	if err != nil {
		return nil, err
	}
	err = filelock.LockWithin(f, filelock.Exclusive, lockBound)
	if err == nil {
		return f, nil
	}
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("another process does not let it go (%w): if one was stopped, continue or end it", err)
	}
	return nil, errors.Join(err, f.Close())
}

// open opens the file to append to: begun, mended or rotated where that is due,
// with l.last what it ends with.
func (l *Log) open(lock *os.File) (*os.File, error) {
	f, err := os.OpenFile(l.Path(), os.O_RDWR|os.O_APPEND|os.O_CREATE, filePerm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !l.isLast(info) {
		err = l.catchUp(f, lock, info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if info.Size() < l.opts.MaxBytes {
		return f, nil
	}
	return l.rotate(f, lock)
}

// isLast reports whether the file is as this Log left it.
func (l *Log) isLast(info os.FileInfo) bool {
	return l.file != nil && os.SameFile(l.file, info) && l.file.Size() == info.Size()
}

// append writes one line, and what it ends the log with beside it.
func (l *Log) append(f, lock *os.File, e Entry) error {
	e.Seq, e.Prev = l.last.seq+1, l.last.hash
	e.Time = l.opts.Now().UTC().Truncate(time.Microsecond)
	line, hash, err := e.encode(l.opts.Redact)
	if err != nil {
		return err
	}
	if err := l.write(f, append(line, '\n')); err != nil {
		return err
	}
	l.last = mark{e.Seq, hash}
	return l.last.write(lock)
}

// write appends data with one write, or nothing.
func (l *Log) write(f *os.File, data []byte) error {
	before, err := f.Seek(0, 2)
	if err != nil {
		return err
	}
	if n, err := f.Write(data); err != nil {
		l.file = nil
		if n > 0 { // a full disk took a part of it
			err = errors.Join(err, f.Truncate(before))
		}
		return err
	}
	l.file, err = f.Stat()
	return err
}

// rotate puts a file that is long enough aside and begins the next one. Where it
// cannot be renamed, it goes on growing.
func (l *Log) rotate(f, lock *os.File) (*os.File, error) {
	name := oldName(l.last.seq)
	if err := os.Rename(l.Path(), filepath.Join(l.opts.Dir, name)); err != nil {
		return f, nil
	}
	next, err := os.OpenFile(l.Path(), os.O_RDWR|os.O_APPEND|os.O_CREATE, filePerm)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	err = errors.Join(f.Close(), l.append(next, lock, Entry{Event: Rotated, What: name}))
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// oldName is the name of a file that ends with the line numbered seq.
func oldName(seq uint64) string { return fmt.Sprintf("audit.%012d.jsonl", seq) }

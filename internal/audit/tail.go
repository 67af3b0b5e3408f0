package audit

import (
	"bytes"
	"fmt"
	"os"
)

// mark says which line the log ends with. It is kept in the lock file too, so
// that lines missing at the end are missed.
type mark struct {
	seq  uint64
	hash string
}

// write keeps the mark in the lock file. It is of fixed length, so one write
// replaces it.
func (m mark) write(lock *os.File) error {
	_, err := lock.WriteAt(fmt.Appendf(nil, "%020d %s\n", m.seq, m.hash), 0)
	return err
}

// readMark returns the mark in the lock file, the zero one where there is none.
func readMark(lock *os.File) mark {
	buf := make([]byte, 20+1+hashDigits+1)
	var m mark
	if n, _ := lock.ReadAt(buf, 0); n < len(buf) {
		return mark{}
	}
	if _, err := fmt.Sscanf(string(buf), "%d %s", &m.seq, &m.hash); err != nil || len(m.hash) != hashDigits {
		return mark{}
	}
	return m
}

// catchUp finds out what the file ends with. What a crash left of a line is
// closed by a line that says so.
func (l *Log) catchUp(f, lock *os.File, size int64) error {
	kept := readMark(lock)
	end, torn, err := lastLine(f, size)
	if err != nil {
		return err
	}
	l.last = end
	if kept.seq > end.seq || end.hash == "" {
		l.last = kept // lines are gone: the numbers go on, and the gap shows
	}
	if l.last.hash == "" {
		l.last.hash = origin()
	}
	if len(torn) == 0 {
		return nil
	}
	return l.repair(f, lock, torn)
}

// repair ends a torn line and says so, in one write.
func (l *Log) repair(f, lock *os.File, torn []byte) error {
	e := Entry{
		Seq: l.last.seq + 1, Prev: l.last.hash, Time: l.opts.Now().UTC(), Event: Repaired, Digest: DigestOf(torn),
		What: fmt.Sprintf("%d bytes of a line that was cut short stand before this one", len(torn)),
	}
	line, hash, err := e.encode(nil)
	if err != nil {
		return err
	}
	if err := l.write(f, append(append([]byte{'\n'}, line...), '\n')); err != nil {
		return err
	}
	l.last = mark{e.Seq, hash}
	return l.last.write(lock)
}

// lastLine returns the mark of the last good line of a file, and what stands
// after the last line that is whole.
func lastLine(f *os.File, size int64) (end mark, torn []byte, err error) {
	from := max(0, size-2*longestLine)
	buf := make([]byte, size-from)
	if _, err := f.ReadAt(buf, from); err != nil {
		return mark{}, nil, err
	}
	whole := bytes.LastIndexByte(buf, '\n') + 1
	buf, torn = buf[:whole], buf[whole:]
	for len(buf) > 0 {
		start := bytes.LastIndexByte(buf[:len(buf)-1], '\n') + 1
		if e, err := parse(buf[start : len(buf)-1]); err == nil {
			return mark{e.Seq, e.Hash}, torn, nil
		}
		buf = buf[:start]
	}
	return mark{}, torn, nil
}

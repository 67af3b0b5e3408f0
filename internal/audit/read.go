package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Line is one line of the log as it was read.
type Line struct {
	File   string // base name
	Number int    // in the file, from 1
	Entry  Entry  // where Err is nil
	Text   []byte // without the newline; valid until the next line is read
	Err    error  // why it is no good line
	// Torn is set on what a crash left of a line, which the Repaired entry after
	// it accounts for.
	Torn bool
}

// Files returns the paths of a directory's log, the oldest first.
func Files(dir string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "audit.[0-9]*.jsonl"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names) // the numbers have leading zeros
	current := filepath.Join(dir, FileName)
	if _, err := os.Stat(current); err == nil {
		names = append(names, current)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return names, nil
}

// Read yields every line of a directory's log in order, as they are at the time;
// an error of yield ends it and is returned.
func Read(dir string, yield func(Line) error) error {
	names, err := Files(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := readFile(name, yield); err != nil {
			return err
		}
	}
	return nil
}

func readFile(name string, yield func(Line) error) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	return readLines(f, filepath.Base(name), yield)
}

// readLines yields the lines of one file. A line is held back until the next
// one tells whether it was torn.
func readLines(r io.Reader, file string, yield func(Line) error) error {
	in := bufio.NewReaderSize(r, longestLine+1)
	var held *Line
	for number := 1; ; number++ {
		text, whole, err := nextLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the audit log: %w", err)
		}
		if len(text) == 0 && errors.Is(err, io.EOF) {
			break
		}
		line := Line{File: file, Number: number, Text: text}
		if line.Entry, line.Err = parse(text); !whole && line.Err == nil {
			line.Err = errors.New("it has no end")
		}
		if held != nil {
			held.Torn = line.accountsFor(held.Text)
			if err := yield(*held); err != nil {
				return err
			}
		}
		if held = nil; line.Err != nil {
			line.Text = bytes.Clone(text)
			held = &line
		} else if err := yield(line); err != nil {
			return err
		}
		if err != nil {
			break
		}
	}
	if held != nil {
		return yield(*held)
	}
	return nil
}

// accountsFor reports whether a line says of the one before it that it was torn.
func (l *Line) accountsFor(torn []byte) bool {
	return l.Err == nil && l.Entry.Event == Repaired && l.Entry.Digest == DigestOf(torn)
}

// nextLine returns the next line without its newline; of one that is too long
// for an entry, a part that is too long too. whole is false at the end of a file
// that does not end in a newline.
func nextLine(in *bufio.Reader) (text []byte, whole bool, err error) {
	text, err = in.ReadSlice('\n')
	if err == nil {
		return text[:len(text)-1], true, nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return text, false, err
	}
	text = append([]byte(nil), text...)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	return text, err == nil, err
}

// endMark returns what the log should end with, as its writers know.
func endMark(dir string) mark {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return mark{}
	}
	defer f.Close()
	return readMark(f)
}

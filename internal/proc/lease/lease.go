// Package lease keeps the record of an instance's children in a file, so that
// the next start finds what a crash left running.
//
// The file has a head of quoted lines that says where the numbers in it mean
// something, and then one line of fixed length for each child: a line is written
// when a child starts and blanked when it has ended, so the file is never longer
// than the most children at once. A process that is killed leaves whole lines.
// Nothing is flushed to disk: after a power cut there are no children.
package lease

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// Suffix ends the names of lease files. Before it is the instance's id.
const Suffix = ".lease"

const (
	magic    = "grapnel-lease 1"
	lineSize = 96 // five numbers of at most 10 and 20 digits, and room
	filePerm = 0o600
)

// Head says where the children of a file live.
type Head struct {
	Boot   string // names this boot of the machine
	Space  string // names the space of process ids
	Groups string // the directory of their control groups; may be empty
	Temp   string // the directory of their temporary files; may not exist
}

// Child is one recorded child. A process id alone names nobody for long; with
// the time of its start it names one process for ever.
type Child struct {
	Serial     uint64 // its number within the instance
	Pid        int    // the leader of its own session and process group
	Start      uint64 // as the system counts; 0 when not known
	Guard      int    // its guard process, see package shim
	GuardStart uint64
}

// File is the open record of this instance. It is safe for concurrent use.
type File struct {
	path string
	base int64 // where the lines begin

	mu    sync.Mutex
	f     *os.File
	lines []bool // which are taken
}

// Create makes the record at path.
func Create(path string, h Head) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, fmt.Errorf("make the record of child processes: %w", err)
	}
	head := h.text()
	if _, err := f.Write(head); err != nil {
		return nil, errors.Join(fmt.Errorf("write the record of child processes: %w", err), f.Close(), os.Remove(path))
	}
	return &File{path: path, base: int64(len(head)), f: f}, nil
}

func (h Head) text() []byte {
	return fmt.Appendf(nil, "%s\n%q\n%q\n%q\n%q\n", magic, h.Boot, h.Space, h.Groups, h.Temp)
}

// Put records a child and returns the number of its line.
func (f *File) Put(c Child) (line int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for line < len(f.lines) && f.lines[line] {
		line++
	}
	if line == len(f.lines) {
		f.lines = append(f.lines, false)
	}
	f.lines[line] = true
	text := fmt.Sprintf("%d %d %d %d %d", c.Serial, c.Pid, c.Start, c.Guard, c.GuardStart)
	return line, f.write(line, text)
}

// Clear forgets the child of a line.
func (f *File) Clear(line int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lines[line] = false
	return f.write(line, "")
}

func (f *File) write(line int, text string) error {
	_, err := f.f.WriteAt(fmt.Appendf(nil, "%-*s\n", lineSize-1, text), f.base+int64(line)*lineSize)
	if err != nil {
		return fmt.Errorf("record a child process: %w", err)
	}
	return nil
}

// Close closes the file and, when no child is recorded any more, removes it.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.f.Close()
	for _, taken := range f.lines {
		if taken {
			return err
		}
	}
	return errors.Join(err, os.Remove(f.path))
}

// errForm is what a file is refused for.
var errForm = errors.New("it is no record of child processes")

// Read reads the record of another instance. Lines that are not whole are left
// out.
func Read(path string) (Head, []Child, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Head{}, nil, fmt.Errorf("read the record of child processes: %w", err)
	}
	h, children, err := parse(text)
	if err != nil {
		return h, nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, children, nil
}

func parse(text []byte) (Head, []Child, error) {
	var h Head
	first, rest, ok := bytes.Cut(text, []byte("\n"))
	if !ok || string(first) != magic {
		return h, nil, errForm
	}
	for _, field := range []*string{&h.Boot, &h.Space, &h.Groups, &h.Temp} {
		var line []byte
		if line, rest, ok = bytes.Cut(rest, []byte("\n")); !ok {
			return h, nil, errForm
		}
		var err error
		if *field, err = strconv.Unquote(string(line)); err != nil {
			return h, nil, errForm
		}
	}
	var children []Child
	for ; len(rest) >= lineSize; rest = rest[lineSize:] {
		if c, ok := parseChild(string(rest[:lineSize])); ok {
			children = append(children, c)
		}
	}
	return h, children, nil
}

func parseChild(line string) (Child, bool) {
	fields := strings.Fields(line)
	if len(fields) != 5 || !strings.HasSuffix(line, "\n") {
		return Child{}, false
	}
	var n [5]uint64
	for i, field := range fields {
		bits := 64
		if i == 1 || i == 3 { // process ids
			bits = 31
		}
		var err error
		if n[i], err = strconv.ParseUint(field, 10, bits); err != nil {
			return Child{}, false
		}
	}
	return Child{Serial: n[0], Pid: int(n[1]), Start: n[2], Guard: int(n[3]), GuardStart: n[4]}, true
}

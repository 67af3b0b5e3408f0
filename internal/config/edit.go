package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// editor changes one setting in the text of a file and nothing around it.
type editor struct {
	*document
	newline string
}

// edit returns text with the setting at p written as literal. Comments, order,
// layout and line ends stay. The text must parse.
func edit(text []byte, p Path, literal string) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	e := editor{document: d, newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		e.newline = "\r\n"
	}
	if at := e.exact(p); at != nil {
		return e.splice(at.value.start, at.value.end, literal), nil
	}
	if e.isSection(p) {
		return nil, fmt.Errorf("%s is a section in the file; set its keys one by one", p)
	}
	if around := e.around(p); around != nil {
		return e.inInlineTable(around, p, literal)
	}
	return e.inSection(p, literal)
}

func (e *editor) splice(start, end int, with string) []byte {
	out := make([]byte, 0, len(e.text)+len(with))
	out = append(out, e.text[:start]...)
	out = append(out, with...)
	return append(out, e.text[end:]...)
}

// exact returns the entry that sets p.
func (e *editor) exact(p Path) *entry {
	for i := range e.entries {
		if at := &e.entries[i]; len(at.path) == len(p) && at.path.hasPrefix(p) {
			return at
		}
	}
	return nil
}

// isSection reports whether p has keys or a header of its own.
func (e *editor) isSection(p Path) bool {
	for _, t := range e.tables {
		if t.path.hasPrefix(p) {
			return true
		}
	}
	for _, at := range e.entries {
		if at.path.hasPrefix(p) {
			return true
		}
	}
	return false
}

// around returns the innermost entry whose value p would be inside.
func (e *editor) around(p Path) *entry {
	var found *entry
	for i := range e.entries {
		at := &e.entries[i]
		if p.hasPrefix(at.path) && (found == nil || len(at.path) > len(found.path)) {
			found = at
		}
	}
	return found
}

func (e *editor) inInlineTable(around *entry, p Path, literal string) ([]byte, error) {
	if around.value.kind != unstable.InlineTable {
		return nil, fmt.Errorf("%s is inside the list %s; edit the file by hand", p, around.path)
	}
	text := p[len(around.path):].String() + " = " + literal
	last := -1
	for _, at := range e.entries {
		if at.inline && len(at.path) > len(around.path) && at.path.hasPrefix(around.path) {
			last = max(last, at.value.end)
		}
	}
	if last < 0 {
		return e.splice(around.value.start, around.value.end, "{ "+text+" }"), nil
	}
	return e.splice(last, last, ", "+text), nil
}

// inSection adds a key to the section it belongs to, which may be new.
func (e *editor) inSection(p Path, literal string) ([]byte, error) {
	parent := p[:len(p)-1]
	if i := e.header(parent); i >= 0 {
		return e.addLine(i, Path{p[len(p)-1]}, literal), nil
	}
	// A section spelled with dotted keys takes no header: go on as it began.
	for i := len(e.entries) - 1; i >= 0; i-- {
		at := &e.entries[i]
		if !at.inline && at.path.hasPrefix(parent) {
			return e.addAfter(at, p[len(e.tables[at.table].path):], literal), nil
		}
	}
	if err := e.insideList(parent); err != nil {
		return nil, err
	}
	return e.addSection(parent, p[len(p)-1], literal), nil
}

func (e *editor) header(p Path) int {
	for i, t := range e.tables {
		if len(t.path) == len(p) && t.path.hasPrefix(p) {
			return i
		}
	}
	return -1
}

// insideList refuses a new section in a list: a header cannot say which entry.
func (e *editor) insideList(p Path) error {
	for i := range p {
		if n, err := schema().lookup(p[:i]); err == nil && n.kind == kindTables {
			return fmt.Errorf("%s does not exist; add a [[%s]] to the file by hand", p[:i+1], p[:i])
		}
	}
	return nil
}

// addLine adds a key at the end of a section that has a header.
func (e *editor) addLine(at int, key Path, literal string) []byte {
	for i := len(e.entries) - 1; i >= 0; i-- {
		if last := &e.entries[i]; last.table == at && !last.inline {
			return e.addAfter(last, key, literal)
		}
	}
	line := key.String() + " = " + literal + e.newline
	if at > 0 {
		return e.insert(e.tables[at].body, line)
	}
	if len(e.tables) == 1 {
		return e.insert(len(e.text), line)
	}
	return e.insert(e.above(e.tables[1].start), line+e.newline)
}

// addAfter adds a line below an entry, indented like it.
func (e *editor) addAfter(last *entry, key Path, literal string) []byte {
	indent := e.text[e.lineStart(last.start):last.start]
	return e.insert(e.lineEnd(last.value.end), string(indent)+key.String()+" = "+literal+e.newline)
}

// insert adds whole lines at the beginning of a line.
func (e *editor) insert(offset int, lines string) []byte {
	if offset > 0 && e.text[offset-1] != '\n' {
		lines = e.newline + lines
	}
	return e.splice(offset, offset, lines)
}

// addSection adds a header and a key after the section most like it, or at the
// end.
func (e *editor) addSection(parent Path, key, literal string) []byte {
	best, shared := -1, 0
	for i, t := range e.tables {
		if n := common(t.path, parent); n > 0 && n >= shared {
			best, shared = i, n
		}
	}
	offset := len(e.text)
	if best >= 0 && best+1 < len(e.tables) {
		offset = e.above(e.tables[best+1].start)
	}
	offset = len(bytes.TrimRight(e.text[:offset], " \t\r\n"))
	if offset > 0 {
		offset = e.lineEnd(offset - 1)
	}
	lines := "[" + parent.String() + "]" + e.newline + quoteKey(key) + " = " + literal + e.newline
	if offset > 0 {
		lines = e.newline + lines
	}
	return e.insert(offset, lines)
}

// above returns where the comment lines right above a header begin.
func (e *editor) above(header int) int {
	for header > 0 {
		start := e.lineStart(header - 1)
		if !strings.HasPrefix(strings.TrimLeft(string(e.text[start:header]), " \t"), "#") {
			break
		}
		header = start
	}
	return header
}

func common(a, b Path) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// changed returns text with the setting at p changed, and the configuration
// that follows from it. It refuses a result that would not load.
func changed(home Home, text []byte, p Path, raw string) ([]byte, []Problem, error) {
	n, err := schema().lookup(p)
	if err != nil {
		return nil, nil, err
	}
	value, err := literal(n, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %w", p, err)
	}
	out, err := edit(text, p, value)
	if err != nil {
		return nil, nil, explained(home, text, err)
	}
	problems, err := loads(home, out, p)
	return out, problems, err
}

// explained says where a text that cannot be edited is broken.
func explained(home Home, text []byte, err error) error {
	syntax, ok := errors.AsType[*syntaxError](err)
	if !ok {
		return err
	}
	line, column := position(text, syntax.offset)
	return &Error{Problems: []Problem{{File: home.File(), Line: line, Column: column, Message: syntax.message + "; mend the file first, it was left as it is"}}}
}

// loads returns what a changed text is warned of, or why it would not load.
func loads(home Home, text []byte, p Path) ([]Problem, error) {
	_, problems := load(home, text, nil)
	fatal := withoutWarnings(problems)
	for _, bad := range fatal {
		if bad.Path == p.String() {
			return nil, errors.New(bad.Message) // it stands nowhere: the file is not changed
		}
	}
	if len(fatal) > 0 {
		return nil, &Error{Problems: fatal}
	}
	return problems, nil
}

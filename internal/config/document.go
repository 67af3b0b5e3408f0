package config

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a parsed TOML text that knows where everything stands.
type document struct {
	text    []byte
	tables  []table // in order; the first is the root, before any header
	entries []entry // in order, those of inline tables right after their parent
}

// table is a [header] or [[header]]; list entries carry their index in path.
type table struct {
	path  Path
	list  bool // [[header]]
	start int  // offset of the header's line
	key   int  // offset of its last key part
	body  int  // offset of the line after the header
}

// entry is a key and its value.
type entry struct {
	path   Path
	table  int  // index in document.tables
	inline bool // inside an inline table
	key    int  // offset of the last part of the key
	start  int  // offset of the whole key
	value  value
}

// value is what stands right of the equals sign.
type value struct {
	kind       unstable.Kind
	start, end int     // offsets; zero inside arrays where the parser gives none
	text       string  // of a scalar, unquoted
	items      []value // of an array
	size       int     // keys of an inline table
}

// syntaxError is a text that is not TOML.
type syntaxError struct {
	offset  int
	message string
}

func (e *syntaxError) Error() string { return e.message }

// parseDocument reads text, which it keeps. The error is a *syntaxError.
func parseDocument(text []byte) (*document, error) {
	text = text[:len(text):len(text)] // offsets are computed from capacities
	d := &document{text: text, tables: []table{{}}}
	b := builder{document: d, lists: map[string]int{}}
	b.parser.Reset(text)
	for b.parser.NextExpression() {
		b.add(b.parser.Expression())
	}
	if err := b.parser.Error(); err != nil {
		syntax := &syntaxError{message: err.Error()}
		var perr *unstable.ParserError
		if errors.As(err, &perr) {
			syntax.offset = min(max(0, len(text)-cap(perr.Highlight)), len(text))
		}
		return nil, syntax
	}
	return d, nil
}

// builder fills a document from the parser's expressions.
type builder struct {
	*document
	parser unstable.Parser
	lists  map[string]int // [[header]] path to the index of its last entry
}

func (b *builder) add(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		b.addTable(n)
	case unstable.KeyValue:
		at := len(b.tables) - 1
		b.addEntry(n, b.tables[at].path, at, false)
	}
}

func (b *builder) addTable(n *unstable.Node) {
	path, start, key, end := keyOf(n)
	list := n.Kind == unstable.ArrayTable
	parent := b.indexed(path[:len(path)-1])
	full := parent.with(path[len(path)-1])
	name := full.String()
	if i, seen := b.lists[name]; list {
		if seen {
			i++
		}
		b.lists[name] = i
		full = full.with(strconv.Itoa(i))
	}
	b.tables = append(b.tables, table{
		path: full, list: list, key: key,
		start: b.lineStart(start), body: b.lineEnd(end),
	})
}

// indexed adds to a header's path the index of the list entry it is inside.
func (b *builder) indexed(path Path) Path {
	full := Path{}
	for _, part := range path {
		full = full.with(part)
		if i, ok := b.lists[full.String()]; ok {
			full = full.with(strconv.Itoa(i))
		}
	}
	return full
}

func (b *builder) addEntry(n *unstable.Node, parent Path, at int, inline bool) {
	path, start, key, keyEnd := keyOf(n)
	full := append(append(Path{}, parent...), path...)
	v := b.value(n.Value())
	equals := bytes.IndexByte(b.text[keyEnd:], '=')
	v.start = keyEnd + equals + 1
	v.start += len(b.text[v.start:]) - len(bytes.TrimLeft(b.text[v.start:], " \t"))
	v.end = int(n.Raw.Offset + n.Raw.Length)
	b.entries = append(b.entries, entry{
		path: full, table: at, inline: inline, key: key, start: start, value: v,
	})
	if v.kind == unstable.InlineTable {
		for it := n.Value().Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				b.addEntry(it.Node(), full, at, true)
			}
		}
	}
}

func (b *builder) value(n *unstable.Node) value {
	v := value{kind: n.Kind, start: int(n.Raw.Offset), end: int(n.Raw.Offset + n.Raw.Length)}
	switch n.Kind {
	case unstable.Array:
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				v.items = append(v.items, b.value(it.Node()))
			}
		}
	case unstable.InlineTable:
		for it := n.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue {
				v.size++
			}
		}
	default:
		v.text = string(n.Data)
	}
	return v
}

// keyOf returns the key of a header or key-value, and the offsets of its first
// part, of its last part and of its end.
func keyOf(n *unstable.Node) (path Path, start, last, end int) {
	start = -1
	for it := n.Key(); it.Next(); {
		raw := it.Node().Raw
		if start < 0 {
			start = int(raw.Offset)
		}
		last, end = int(raw.Offset), int(raw.Offset+raw.Length)
		path = append(path, string(it.Node().Data))
	}
	return path, start, last, end
}

// lineStart returns the offset at which the line of offset begins.
func (d *document) lineStart(offset int) int {
	return bytes.LastIndexByte(d.text[:offset], '\n') + 1
}

// lineEnd returns the offset after the newline of offset's line.
func (d *document) lineEnd(offset int) int {
	if i := bytes.IndexByte(d.text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(d.text)
}

// position returns the line and column of an offset, both from 1; columns
// count characters.
func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

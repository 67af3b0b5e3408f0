package config

import (
	"bytes"
	"fmt"
)

// Unset takes one setting out of config.toml, keeping everything around it. It
// reports false when the file does not set it; like Set, it leaves a file alone
// that does not parse, or would not load without the setting.
func Unset(home Home, p Path) (bool, error) {
	removed := false
	_, err := rewrite(home, func(text []byte) ([]byte, []Problem, error) {
		out, err := remove(text, p)
		removed = err == nil && !bytes.Equal(out, text)
		if err != nil || !removed {
			return out, nil, explained(home, text, err)
		}
		problems, err := loads(home, out, p)
		return out, problems, err
	})
	return removed && err == nil, err
}

// remove returns text without the setting at p, as it is when it is not set.
func remove(text []byte, p Path) ([]byte, error) {
	d, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	e := editor{document: d}
	at := e.exact(p)
	switch {
	case at == nil && e.isSection(p):
		return nil, fmt.Errorf("%s is a section in the file; name one of its keys", p)
	case at == nil:
		return text, nil
	case !at.inline:
		start, end := e.lineStart(at.start), e.lineEnd(at.value.end)
		if e.onlyOfMap(at) {
			start = e.tables[at.table].start
		}
		return e.splice(start, end, ""), nil
	}
	return e.removeInline(at), nil
}

// removeInline takes a key out of an inline table, with the comma that belongs
// to it.
func (e *editor) removeInline(at *entry) []byte {
	before, after := e.text[:at.start], e.text[at.value.end:]
	if rest := bytes.TrimLeft(after, " \t"); bytes.HasPrefix(rest, []byte(",")) {
		rest = bytes.TrimLeft(rest[1:], " \t")
		return e.splice(at.start, len(e.text)-len(rest), "")
	}
	start := len(bytes.TrimSuffix(bytes.TrimRight(before, " \t"), []byte(",")))
	if start == len(bytes.TrimRight(before, " \t")) { // the only key: there was no comma
		start = len(before)
	}
	return e.splice(start, at.value.end, "")
}

// onlyOfMap reports whether an entry is all there is below the header of a map,
// such as [mcp.servers.x.env]: left alone, the header would still name a server.
func (e *editor) onlyOfMap(at *entry) bool {
	t := e.tables[at.table]
	n, err := schema().lookup(t.path)
	if at.table == 0 || err != nil || n.kind != kindMap || n.elem.kind == kindTable {
		return false
	}
	end := len(e.text)
	if at.table+1 < len(e.tables) {
		end = e.tables[at.table+1].start
	}
	return len(bytes.TrimSpace(e.text[t.body:e.lineStart(at.start)])) == 0 && len(bytes.TrimSpace(e.text[e.lineEnd(at.value.end):end])) == 0
}

package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// finding is a problem at an offset of a document.
type finding struct {
	offset  int
	path    Path
	message string
}

// check compares the document with the schema: unknown keys, wrong types,
// values outside their set or range, bad names.
func (d *document) check(root *node) []finding {
	c := checker{root: root}
	for i := range d.tables[1:] {
		c.table(&d.tables[i+1])
	}
	for i := range d.entries {
		e := &d.entries[i]
		if n := c.known(e.path, e.key); n != nil {
			c.value(n, e.path, e.value, e.value.start)
		}
	}
	slices.SortStableFunc(c.found, func(a, b finding) int { return a.offset - b.offset })
	return c.found
}

type checker struct {
	root  *node
	found []finding
	bad   []Path // paths reported already; what is below them is not
}

func (c *checker) report(offset int, p Path, format string, args ...any) {
	c.found = append(c.found, finding{offset, p, fmt.Sprintf(format, args...)})
}

// known returns the schema of p, or reports why it has none. Everything below
// a reported path stays silent.
func (c *checker) known(p Path, offset int) *node {
	for _, bad := range c.bad {
		if p.hasPrefix(bad) {
			return nil
		}
	}
	n, err := c.root.lookup(p)
	if unknown := (*unknownKeyError)(nil); errors.As(err, &unknown) {
		c.bad = append(c.bad, unknown.path)
		c.report(offset, unknown.path, "%s", unknown.Error())
		return nil
	}
	if len(p) >= 2 && p[0] == "agents" && !ValidAlias(p[1]) {
		c.bad = append(c.bad, p[:2])
		c.report(offset, p[:2], "%s is not an agent alias; use 1 to 63 of a-z, 0-9 and single _ between them", strconv.Quote(p[1]))
		return nil
	}
	return n
}

func (c *checker) table(t *table) {
	p := t.path
	if t.list {
		p = p[:len(p)-1] // without the index
	}
	n := c.known(p, t.key)
	switch {
	case n == nil:
	case t.list && n.kind != kindTables:
		c.mismatch(t.key, p, n, "a list of sections")
	case !t.list && n.kind != kindTable && n.kind != kindMap:
		c.mismatch(t.key, p, n, "a section")
	}
}

func (c *checker) mismatch(offset int, p Path, n *node, got string) {
	c.bad = append(c.bad, p)
	c.report(offset, p, "%s must be %s, not %s", p, n.kind, got)
}

func (c *checker) value(n *node, p Path, v value, offset int) {
	if !fits(n.kind, v.kind) {
		c.mismatch(offset, p, n, describe(v.kind))
		return
	}
	switch n.kind {
	case kindString:
		c.enum(n, p, v.text, offset)
	case kindStrings:
		for _, item := range v.items {
			c.item(n, p, item, offset)
		}
	case kindInt:
		c.number(n, p, v.text, offset)
	case kindSecret:
		if err := secret.NewRef(v.text).Check(); err != nil {
			c.report(offset, p, "%s: %v", p, err)
		}
	case kindTables:
		c.items(n, p, v, offset)
	}
}

func (c *checker) item(n *node, p Path, item value, offset int) {
	if item.start > 0 {
		offset = item.start
	}
	if item.kind != unstable.String {
		c.report(offset, p, "%s must be %s, but one of them is %s", p, n.kind, describe(item.kind))
		return
	}
	c.enum(n, p, item.text, offset)
	if err := wellFormed(n.form, item.text); err != nil {
		c.report(offset, p, "%s: %v", p, err)
	}
}

// wellFormed checks an item that has a form of its own: one that nobody can read
// would be an entry that is missing.
func wellFormed(form, text string) error {
	switch form {
	case "pattern":
		_, err := policy.ParsePattern(text)
		return err
	case "command":
		if trimmed := strings.TrimSpace(text); trimmed == "" || trimmed != "*" && strings.ContainsAny(trimmed, "*()") {
			return fmt.Errorf("%q is no command; write a program such as git, the beginning of a command such as git status, or * alone for any", text)
		}
	}
	return nil
}

// items checks a list of sections written as an array: what is in them is left
// to the decoder.
func (c *checker) items(n *node, p Path, v value, offset int) {
	for _, item := range v.items {
		if item.kind != unstable.InlineTable {
			c.report(offset, p, "%s must be %s, but one of them is %s", p, n.kind, describe(item.kind))
		}
	}
}

func (c *checker) enum(n *node, p Path, got string, offset int) {
	if n.enum == nil || slices.Contains(n.enum, got) {
		return
	}
	c.report(offset, p, "%s cannot be %s; it is one of %s", p, strconv.Quote(got), strings.Join(n.enum, ", "))
}

func (c *checker) number(n *node, p Path, text string, offset int) {
	v, err := strconv.ParseInt(text, 0, 64)
	switch {
	case err != nil: // the decoder says what is wrong with it
	case n.min != nil && n.max != nil && (v < *n.min || v > *n.max):
		c.report(offset, p, "%s must be between %d and %d, not %d", p, *n.min, *n.max, v)
	case n.min != nil && v < *n.min:
		c.report(offset, p, "%s must be at least %d, not %d", p, *n.min, v)
	}
}

func fits(want kind, got unstable.Kind) bool {
	switch want {
	case kindTable, kindMap:
		return got == unstable.InlineTable
	case kindTables, kindStrings:
		return got == unstable.Array
	case kindInt:
		return got == unstable.Integer
	case kindBool:
		return got == unstable.Bool
	default:
		return got == unstable.String
	}
}

func describe(k unstable.Kind) string {
	switch k {
	case unstable.String:
		return "a string"
	case unstable.Integer:
		return "a number"
	case unstable.Float:
		return "a number with a fraction"
	case unstable.Bool:
		return "true or false"
	case unstable.Array:
		return "a list"
	case unstable.InlineTable:
		return "a section"
	default:
		return "a date or time"
	}
}

// maxAlias bounds an alias so that it fits file names and headers.
const maxAlias = 63

// ValidAlias reports whether s can name an agent: 1 to 63 of a-z, 0-9 and
// single underscores between them.
func ValidAlias(s string) bool {
	if s == "" || len(s) > maxAlias || s[0] == '_' || s[len(s)-1] == '_' || strings.Contains(s, "__") {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_')
	}) < 0
}

package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// literal writes a value given as plain text, in a variable or on a command
// line, as TOML: strings need no quotes, and lists may be written a,b,c.
func literal(n *node, raw string) (string, error) {
	text := strings.TrimSpace(raw)
	switch n.kind {
	case kindString, kindSecret:
		return stringLiteral(raw), nil
	case kindInt:
		return intLiteral(text)
	case kindBool:
		if text != "true" && text != "false" {
			return "", errors.New("must be true or false")
		}
		return text, nil
	case kindStrings:
		return stringsLiteral(text)
	case kindTables:
		return valueLiteral(text, unstable.Array, "must be a list of sections, such as [{ agent = \"codex\" }]")
	default:
		return valueLiteral(text, unstable.InlineTable, "must be a section, such as { key = \"value\" }, or be set key by key")
	}
}

// stringLiteral takes text as it is, and without its quotes when the whole is
// a TOML string already.
func stringLiteral(raw string) string {
	text := strings.TrimSpace(raw)
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		if v, ok := parseValue(text); ok && v.kind == unstable.String {
			return text
		}
	}
	return quote(strings.ToValidUTF8(raw, "\ufffd"))
}

func intLiteral(text string) (string, error) {
	v, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		return "", errors.New("must be a whole number")
	}
	return strconv.FormatInt(v, 10), nil
}

func stringsLiteral(text string) (string, error) {
	if strings.HasPrefix(text, "[") {
		return valueLiteral(text, unstable.Array, "must be a list of strings, such as [\"a\", \"b\"] or a,b")
	}
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, stringLiteral(item))
		}
	}
	return "[" + strings.Join(items, ", ") + "]", nil
}

func valueLiteral(text string, kind unstable.Kind, otherwise string) (string, error) {
	if v, ok := parseValue(text); !ok || v.kind != kind {
		return "", errors.New(otherwise)
	}
	return text, nil
}

// parseValue parses text that must be one TOML value and nothing else.
func parseValue(text string) (value, bool) {
	d, err := parseDocument([]byte("v = " + text))
	if err != nil || len(d.tables) != 1 || len(d.entries) == 0 {
		return value{}, false
	}
	if v := d.entries[0].value; v.end == len(d.text) && entriesOf(d) == 1 {
		return v, true
	}
	return value{}, false
}

// entriesOf counts the entries outside inline tables.
func entriesOf(d *document) int {
	count := 0
	for _, e := range d.entries {
		if !e.inline {
			count++
		}
	}
	return count
}

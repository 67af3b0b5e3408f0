package tool

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// isNotebook reports a Jupyter notebook by its name.
func isNotebook(path string) bool { return strings.EqualFold(filepath.Ext(path), ".ipynb") }

// notebook is what matters of a Jupyter notebook (nbformat 4) for editing it as
// text: where the cells' sources stand, and what running them gave.
type notebook struct {
	text    string
	sources []source
	outputs map[string]bool // the outputs of its cells, in canonical form
}

// source is the source of one cell.
type source struct {
	cell       int    // from 1
	text       string // decoded
	list       bool   // it is an array of lines, not one string
	start, end int    // of its JSON value in the notebook's text
}

// errNoNotebook is what readNotebook says of other JSON.
var errNoNotebook = errors.New(`it has no array "cells" of objects with a source`)

func readNotebook(text string) (*notebook, error) {
	n := &notebook{text: text, outputs: make(map[string]bool)}
	dec := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	found := false
	err := members(dec, func(name string) error {
		if name != "cells" || dec.PeekKind() != '[' {
			return dec.SkipValue()
		}
		found = true
		return n.readCells(dec)
	})
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("something follows its end"), err)
	}
	if !found {
		return nil, errNoNotebook
	}
	return n, nil
}

// members reads an object; member reads the value of each name.
func members(dec *jsontext.Decoder, member func(name string) error) error {
	if kind := dec.PeekKind(); kind != '{' && kind != 0 {
		return errNoNotebook
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for {
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() == '}' {
			return err
		}
		if err := member(tok.String()); err != nil {
			return err
		}
	}
}

func (n *notebook) readCells(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for cell := 1; dec.PeekKind() != ']'; cell++ {
		if err := n.readCell(dec, cell); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func (n *notebook) readCell(dec *jsontext.Decoder, cell int) error {
	hasSource := false
	err := members(dec, func(name string) error {
		if name != "source" && name != "outputs" {
			return dec.SkipValue()
		}
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if name == "outputs" {
			n.outputs[canonicalJSON(v)] = true
			return nil
		}
		hasSource = true
		return n.addSource(v, cell, int(dec.InputOffset()))
	})
	if err == nil && !hasSource {
		err = errNoNotebook
	}
	return err
}

func (n *notebook) addSource(v jsontext.Value, cell, end int) error {
	s := source{cell: cell, list: v.Kind() == '[', start: end - len(v), end: end}
	if s.list {
		var lines []string
		if err := json.Unmarshal(v, &lines); err != nil {
			return errNoNotebook
		}
		s.text = strings.Join(lines, "")
	} else if err := json.Unmarshal(v, &s.text); err != nil {
		return errNoNotebook
	}
	n.sources = append(n.sources, s)
	return nil
}

// canonicalJSON makes the same JSON the same text.
func canonicalJSON(v jsontext.Value) string {
	c := v.Clone()
	if err := c.Canonicalize(jsontext.AllowDuplicateNames(true)); err != nil {
		return string(v)
	}
	return string(c)
}

// editedNotebook applies edits to a notebook, all of them or none.
func editedNotebook(text string, edits []edit) (string, error) {
	edited, err := applyEdits(text, edits, editNotebook)
	if err != nil {
		return "", err
	}
	return edited, checkNotebook(text, edited)
}

// editNotebook applies an edit to the sources of a notebook's cells, as they
// are when decoded. An edit that matches none of them is one of the JSON text.
func editNotebook(text string, e edit) (string, error) {
	n, err := readNotebook(text)
	if err != nil || e.old == "" {
		return applyEdit(text, e) // it may be the edit that mends it
	}
	var hits []int
	for i, s := range n.sources {
		for range matches(toLF(s.text), toLF(e.old)) {
			hits = append(hits, i)
		}
	}
	switch {
	case len(hits) == 0:
		return applyEdit(text, e)
	case len(hits) > 1 && !e.all:
		return "", fmt.Errorf("old_text has %s matches in the cells (%s); add lines around it until it is unique, or set replace_all",
			countWords(len(hits)), n.cellList(hits))
	}
	return n.editCells(hits, e)
}

// editCells edits the sources that hits names, in the order of the text; one
// that is named again is done already.
func (n *notebook) editCells(hits []int, e edit) (string, error) {
	var out strings.Builder
	done := 0
	for _, hit := range slices.Compact(hits) {
		s := n.sources[hit]
		edited, err := applyEdit(s.text, e)
		if err != nil {
			return "", err
		}
		out.WriteString(n.text[done:s.start])
		out.WriteString(s.encode(edited, n.text[s.start:s.end]))
		done = s.end
		if out.Len() > max(maxEdited, len(n.text)) {
			return "", errGrown
		}
	}
	out.WriteString(n.text[done:])
	return out.String(), nil
}

// cellList names the cells of the first few hits.
func (n *notebook) cellList(hits []int) string {
	const most = 5
	var names []string
	for i, h := range hits {
		if i > 0 && hits[i-1] == h {
			continue
		}
		if len(names) == most {
			names = append(names, "…")
			break
		}
		names = append(names, fmt.Sprintf("cell %d", n.sources[h].cell))
	}
	return strings.Join(names, ", ")
}

// encode writes a source in the form the old one has: one string or a line each,
// indented alike.
func (s source) encode(text, old string) string {
	if !s.list {
		return quoteJSON(text)
	}
	if text == "" {
		return "[]"
	}
	const blanks = " \t\r\n"
	inner := old[1 : len(old)-1]
	before := inner[:len(inner)-len(strings.TrimLeft(inner, blanks))]
	after := inner[len(strings.TrimRight(inner, blanks)):]
	if before == inner { // there was no line
		before, after = "", ""
	}
	between := "," + before
	if before == "" && strings.Contains(inner, `", "`) {
		between = ", "
	}
	var items []string
	for line := range strings.Lines(text) {
		items = append(items, quoteJSON(line))
	}
	return "[" + before + strings.Join(items, between) + after + "]"
}

func quoteJSON(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // only for text that is not UTF-8, which no document holds
		b, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return string(b)
}

// checkNotebook refuses to make a notebook into something that is none, and to
// change what running its cells gave. Outputs may be cleared. What was no
// notebook before may become anything.
func checkNotebook(before, after string) error {
	old, err := readNotebook(before)
	if err != nil {
		return nil
	}
	if err := wantNotebook(after); err != nil {
		return err
	}
	now, err := readNotebook(after)
	if err != nil {
		return err
	}
	for outputs := range now.outputs {
		if outputs != "[]" && !old.outputs[outputs] {
			return errors.New("the edit would change what a cell's run gave (outputs), and only running it may do that; edit its source, or clear its outputs")
		}
	}
	return nil
}

// wantNotebook refuses text that is no notebook.
func wantNotebook(text string) error {
	_, err := readNotebook(text)
	if err == nil {
		return nil
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("this would break the notebook: it is no valid JSON at line %d (%w); lines of a source are JSON strings: "+
			"escape quotes and line breaks, or give the plain source of a cell", lineOf(text, min(int(syntax.ByteOffset), len(text))), syntax.Err)
	}
	return fmt.Errorf("this would break the notebook: %w", err)
}

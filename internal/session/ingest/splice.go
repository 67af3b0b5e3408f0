package ingest

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Edit replaces the bytes of a span.
type Edit struct {
	At   session.Span
	With []byte
}

// Splice returns body with edits applied, as a new slice; every other byte
// stays as it was. Edits must not overlap; those that mark nothing are left out.
func Splice(body jsontext.Value, edits ...Edit) jsontext.Value {
	edits = slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { return Raw(body, e.At) == nil })
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(a.At.From, b.At.From) })
	size := len(body)
	for _, e := range edits {
		size += len(e.With) - int(e.At.To-e.At.From)
	}
	out := make(jsontext.Value, 0, size)
	done := uint32(0)
	for _, e := range edits {
		out = append(out, body[done:e.At.From]...)
		out = append(out, e.With...)
		done = e.At.To
	}
	return append(out, body[done:]...)
}

// callKeys are the members that name a tool call, in the protocol and in the
// _meta of known agents.
func isCallKey(name []byte) bool {
	switch string(name) {
	case `"toolCallId"`, `"parentToolCallId"`, `"parentToolUseId"`, `"toolUseId"`:
		return true
	}
	return false
}

// opaqueKey reports members whose value is the tool's own data and never ours
// to edit.
func opaqueKey(name []byte) bool {
	switch string(name) {
	case `"rawInput"`, `"rawOutput"`, `"content"`:
		return true
	}
	return false
}

// RenameCalls replaces tool call ids in every member of body that names one.
// to maps an id to its replacement and reports whether it has one. body was
// looked at before; the same slice is returned when nothing changed.
func RenameCalls(body jsontext.Value, to func(id string) (string, bool)) jsontext.Value {
	sc := scanners.Get().(*scanner)
	defer sc.release()
	sc.reset(body)
	var edits []Edit
	var walk func(name []byte) error
	walk = func(name []byte) error {
		switch {
		case isCallKey(name) && sc.dec.PeekKind() == jsontext.KindString:
			var at session.Span
			if err := sc.mark(&at); err != nil {
				return err
			}
			if id, ok := to(Text(body, at)); ok {
				with, _ := jsontext.AppendQuote(nil, id)
				edits = append(edits, Edit{At: at, With: with})
			}
			return nil
		case opaqueKey(name):
			return sc.dec.SkipValue()
		}
		return sc.descend(walk)
	}
	if err := sc.descend(walk); err != nil || len(edits) == 0 {
		return body
	}
	return Splice(body, edits...)
}

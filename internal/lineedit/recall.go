package lineedit

import "strings"

// vertical goes up or down a line of the text, and beyond it through the
// history.
func (e *Editor) vertical(by int) {
	switch {
	case by < 0 && e.lineStart() > 0:
		column := e.pos - e.lineStart()
		e.pos = e.lineStart() - 1
		e.pos = e.settle(min(e.lineStart()+column, e.pos))
	case by > 0 && e.lineEnd() < len(e.text):
		column := e.pos - e.lineStart()
		e.pos = e.lineEnd() + 1
		e.pos = e.settle(min(e.pos+column, e.lineEnd()))
	default:
		e.recall(e.at + by)
	}
}

// recall shows a line of the history, or what was being written.
func (e *Editor) recall(at int) {
	if at < 0 || at > len(e.history) {
		return
	}
	if e.at == len(e.history) {
		e.draft = e.text
	}
	e.at = at
	if at == len(e.history) {
		e.Set(e.draft)
		return
	}
	e.Set(e.history[at])
}

// complete puts in what all candidates have in common.
func (e *Editor) complete() Action {
	if e.Complete == nil {
		return None
	}
	before := e.text[:e.pos]
	found := e.Complete(before)
	if len(found) == 0 {
		return None
	}
	word := before[strings.LastIndexAny(before, " \n\t")+1:]
	common := found[0]
	for _, f := range found[1:] {
		common = shared(common, f)
	}
	rest, more := strings.CutPrefix(common, word)
	if len(found) == 1 {
		e.insert(rest + " ")
		return None
	}
	if more && rest != "" {
		e.insert(rest)
		return None
	}
	e.Candidates = found
	return Choices
}

// shared is what two words begin with alike.
func shared(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return strings.ToValidUTF8(a[:n], "")
}

package tool

import (
	"errors"
	"fmt"
	"strings"
)

// edit is one replacement in a file.
type edit struct {
	old, new string
	all      bool // every occurrence; otherwise there must be one
}

// maxEdited bounds a text that edits are being made in, in bytes, for a few of
// them could make gigabytes of it. It leaves room for what a later edit removes;
// how much may be written is a matter of the file.
const maxEdited = 32 << 20

// maxEdits is how many edits are made at once: each goes through the whole text.
const maxEdits = 200

var errGrown = fmt.Errorf("the text would grow beyond %d bytes; give the edits a smaller new_text or fewer places", maxEdited)

// applyEdits applies edits one after the other, each to what the one before it
// left, or none of them. Line ends are matched alike whether LF or CRLF; the
// text keeps the ones it has, and new lines get the ending of their
// surroundings. apply makes one edit, usually applyEdit. Errors are for the
// model.
func applyEdits(text string, edits []edit, apply func(string, edit) (string, error)) (string, error) {
	if len(edits) == 0 {
		return "", errors.New("there is no edit; give old_text and new_text, or edits")
	}
	if len(edits) > maxEdits {
		return "", fmt.Errorf("there are %d edits; give at most %d at once", len(edits), maxEdits)
	}
	before := text
	for i, e := range edits {
		next, err := apply(text, e)
		if err == nil && len(next) > max(maxEdited, len(text)) {
			err = errGrown
		}
		if err != nil && len(edits) > 1 {
			return "", fmt.Errorf("edit %d of %d: %w; nothing was changed", i+1, len(edits), err)
		}
		if err != nil {
			return "", err
		}
		text = next
	}
	if text == before {
		return "", errors.New("the edits change nothing: the new text is the old text")
	}
	return text, nil
}

func applyEdit(text string, e edit) (string, error) {
	if e.old == "" {
		return "", errors.New("old_text is empty; use file_write for a new file")
	}
	lf := unifyLines(text)
	old, repl := toLF(e.old), toLF(e.new)
	if e.all {
		return replaceAll(text, lf, old, repl)
	}
	at := matches(lf.text, old)
	switch len(at) {
	case 0:
		return "", fmt.Errorf("old_text has 0 matches%s", nearMiss(lf.text, old))
	case 1:
		i := at[0]
		return text[:lf.raw(i)] + lf.restore(repl, i) + text[lf.raw(i+len(old)):], nil
	}
	return "", fmt.Errorf("old_text has %s matches (lines %s); add lines around it until it is unique, or set replace_all",
		countWords(len(at)), lineList(lf.text, at))
}

func replaceAll(text string, lf *lfText, old, repl string) (string, error) {
	var out strings.Builder
	done := 0
	for {
		i := strings.Index(lf.text[done:], old)
		if i < 0 {
			break
		}
		i += done
		out.WriteString(text[lf.raw(done):lf.raw(i)])
		out.WriteString(lf.restore(repl, i))
		done = i + len(old)
		if out.Len() > max(maxEdited, len(text)) {
			return "", errGrown
		}
	}
	if done == 0 {
		return "", fmt.Errorf("old_text has 0 matches%s", nearMiss(lf.text, old))
	}
	out.WriteString(text[lf.raw(done):])
	return out.String(), nil
}

// maxMatches is how many matches are counted before it is just too many.
const maxMatches = 1000

// matches returns where old occurs in text, overlapping occurrences included:
// two of them are as ambiguous as two apart.
func matches(text, old string) []int {
	var at []int
	for from := 0; len(at) < maxMatches; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		at = append(at, from+i)
		from += i + 1
	}
	return at
}

func countWords(n int) string {
	if n == maxMatches {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

// lfText is a text with all its line ends made LF, and the way back.
type lfText struct {
	text  string
	crlf  []int // offsets in text of the line ends that were CRLF, ascending
	mixed bool  // some line ends were LF already

	from, end int // the line end last looked for: the first at or after from is at end, len(text) when there is none
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func unifyLines(raw string) *lfText {
	l := &lfText{end: -1}
	if !strings.Contains(raw, "\r\n") {
		l.text = raw
		return l
	}
	l.text = toLF(raw)
	for i, removed := 0, 0; i < len(raw); i++ {
		if raw[i] != '\n' {
			continue
		}
		if i > 0 && raw[i-1] == '\r' {
			removed++
			l.crlf = append(l.crlf, i-removed)
		} else {
			l.mixed = true
		}
	}
	return l
}

// raw returns the offset in the original text for one in the LF text. An
// offset at a line end means before its CR.
func (l *lfText) raw(i int) int { return i + l.crlfBefore(i) }

// crlfBefore counts the CRLF line ends before offset i.
func (l *lfText) crlfBefore(i int) int {
	lo, hi := 0, len(l.crlf)
	for lo < hi {
		if mid := (lo + hi) / 2; l.crlf[mid] < i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// restore gives the new text put at offset i the line ends used there: in a
// text of both kinds those of the line it is in.
func (l *lfText) restore(s string, i int) string {
	if len(l.crlf) == 0 {
		return s
	}
	if l.mixed {
		n := l.crlfBefore(i)
		if n == len(l.crlf) || l.crlf[n] != l.lineEnd(i) {
			return s
		}
	}
	return strings.ReplaceAll(s, "\n", "\r\n")
}

// lineEnd returns where the line that offset i is in ends. It remembers, so that
// many places in one long line are not each the whole way from its end.
func (l *lfText) lineEnd(i int) int {
	if i < l.from || i > l.end {
		l.from, l.end = i, len(l.text)
		if n := strings.IndexByte(l.text[i:], '\n'); n >= 0 {
			l.end = i + n
		}
	}
	return l.end
}

// lineList names the lines of the first few offsets.
func lineList(text string, at []int) string {
	const most = 5
	var b strings.Builder
	for k, i := range at {
		if k == most {
			b.WriteString(", …")
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, lineOf(text, i))
	}
	return b.String()
}

// lineOf returns the number, from 1, of the line that offset i is in.
func lineOf(text string, i int) int { return 1 + strings.Count(text[:i], "\n") }

// nearMiss says where old would match if blanks did not count, or what to do.
func nearMiss(text, old string) string {
	want := squeezeLines(strings.Trim(old, "\n"))
	if strings.TrimSpace(want) != "" {
		text = squeezeLines(text)
		if i := strings.Index(text, want); i >= 0 {
			return fmt.Sprintf("; line %d differs from it only in blanks: copy the text exactly as file_read shows it", lineOf(text, i))
		}
	}
	return "; read the file again and copy the text exactly"
}

// squeezeLines makes runs of blanks within lines one space each and takes away
// those at their ends. Every line has a line end before it and after it.
func squeezeLines(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('\n')
	for line := range strings.SplitSeq(s, "\n") {
		between := ""
		for word := range strings.FieldsSeq(line) {
			b.WriteString(between)
			b.WriteString(word)
			between = " "
		}
		b.WriteByte('\n')
	}
	return b.String()
}

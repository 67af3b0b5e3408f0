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
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func unifyLines(raw string) *lfText {
	l := &lfText{}
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
		next := strings.IndexByte(l.text[i:], '\n')
		n := l.crlfBefore(i)
		if next < 0 || n == len(l.crlf) || l.crlf[n] != i+next {
			return s
		}
	}
	return strings.ReplaceAll(s, "\n", "\r\n")
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
	lines, want := squeezeLines(text), squeezeLines(strings.Trim(old, "\n"))
	for i := 0; i+len(want) <= len(lines); i++ {
		if equalLines(lines[i:i+len(want)], want) && strings.Join(want, "") != "" {
			return fmt.Sprintf("; line %d differs from it only in blanks: copy the text exactly as file_read shows it", i+1)
		}
	}
	return "; read the file again and copy the text exactly"
}

func squeezeLines(s string) []string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return lines
}

func equalLines(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

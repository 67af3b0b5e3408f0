package web

import (
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Markdown reads an HTML page as Markdown: headings, lists, code, links with
// their addresses made whole. Scripts, styles, pictures and forms are left out;
// broken HTML is read as far as it goes. cut says that the rest of a page of
// more than maxText bytes is missing.
func Markdown(page string, base *url.URL) (title, text string, cut bool) {
	w := &writer{base: base, z: html.NewTokenizer(strings.NewReader(page))}
	for !cut && w.next() {
		cut = w.out.Len() > maxText
	}
	w.endLink()
	return strings.Join(strings.Fields(w.title.String()), " "), strings.TrimSpace(w.out.String()), cut
}

const (
	// maxText is about how long the text of a page gets, in bytes: whole
	// addresses are longer than those on the page.
	maxText = 512 << 10
	// maxTitle bounds a title, in bytes.
	maxTitle = 500
	// maxLists bounds how deep lists are indented.
	maxLists = 8
)

// writer turns tokens into Markdown as they come.
type writer struct {
	z     *html.Tokenizer
	base  *url.URL
	out   strings.Builder
	title strings.Builder

	inTitle bool
	skip    atom.Atom // the element that is left out, 0 when none is
	depth   int       // how many of them are open
	pre     int
	lists   []int // open lists: the next number, 0 for bullets
	gap     int   // newlines due before the next text
	space   bool  // a space is due before the next text
	fresh   bool  // only a mark has been written on this line
	row     bool  // the table row has a cell already
	link    string
	linked  bool // the link has text
}

// next reads one token and reports whether there was one.
func (w *writer) next() bool {
	switch w.z.Next() {
	case html.ErrorToken:
		return false
	case html.TextToken:
		w.onText(string(w.z.Text()))
	case html.StartTagToken:
		w.start(false)
	case html.SelfClosingTagToken:
		w.start(true)
	case html.EndTagToken:
		name, _ := w.z.TagName()
		w.end(atom.Lookup(name))
	}
	return true
}

func (w *writer) onText(s string) {
	switch {
	case w.inTitle:
		if w.title.Len() < maxTitle {
			w.title.WriteString(strings.ToValidUTF8(s[:min(len(s), maxTitle)], ""))
		}
	case w.skip != 0:
	case w.pre > 0:
		w.write(s)
	default:
		w.words(s)
	}
}

// words writes text with runs of white space as one space.
func (w *writer) words(s string) {
	words := strings.Fields(s)
	if len(words) == 0 {
		w.space = w.space || s != ""
		return
	}
	w.space = w.space || isSpace(s[0])
	w.write(strings.Join(words, " "))
	w.space = isSpace(s[len(s)-1])
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// write puts out what is due and then s.
func (w *writer) write(s string) {
	if w.link != "" && !w.linked && strings.TrimSpace(s) != "" {
		w.linked = true
		s = "[" + s
	}
	switch {
	case w.out.Len() == 0:
	case w.gap > 0:
		w.out.WriteString(strings.Repeat("\n", w.gap))
	case w.space && !w.fresh:
		w.out.WriteByte(' ')
	}
	w.gap, w.space, w.fresh = 0, false, false
	w.out.WriteString(s)
}

// mark begins a line with a mark that the text belongs to.
func (w *writer) mark(gap int, s string) {
	w.gap, w.fresh = max(w.gap, gap), false
	w.write(s)
	w.fresh = true
}

// line makes the next text begin on a new line, paragraph after an empty one,
// except in lists.
func (w *writer) line() {
	if !w.fresh {
		w.gap = max(w.gap, 1)
	}
}

func (w *writer) paragraph() {
	if w.line(); !w.fresh && len(w.lists) == 0 {
		w.gap = 2
	}
}

func (w *writer) start(closed bool) {
	name, attributes := w.z.TagName()
	tag := atom.Lookup(name)
	if w.skip != 0 {
		if tag == w.skip && !closes(tag, closed) {
			w.depth++
		}
		return
	}
	if leftOut(tag) {
		if !closes(tag, closed) {
			w.skip, w.depth = tag, 1
		}
		return
	}
	switch tag {
	case atom.Title:
		w.inTitle = w.title.Len() == 0
	case atom.A:
		w.endLink()
		if attributes {
			w.link = w.href()
		}
	default:
		w.open(tag)
	}
}

// leftOut reports elements whose content is nothing to read.
func leftOut(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Canvas, atom.Select, atom.Textarea:
		return true
	}
	return false
}

// closes reports whether a tag ends its element with a slash. That of a script
// and its like does not: what follows is its text all the same.
func closes(tag atom.Atom, slash bool) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Iframe, atom.Textarea:
		return false
	}
	return slash
}

// open writes what begins an element.
func (w *writer) open(tag atom.Atom) {
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.mark(2, strings.Repeat("#", int(tag.String()[1]-'0'))+" ")
	case atom.Ul, atom.Ol:
		w.list(tag)
	case atom.Li:
		w.item()
	case atom.Pre:
		w.mark(1, "```\n")
		w.pre++
	case atom.Code:
		w.tick()
	case atom.Br:
		w.line()
	case atom.Hr:
		w.paragraph()
		w.write("---")
		w.paragraph()
	case atom.Td, atom.Th:
		w.cell()
	case atom.Tr, atom.Dt, atom.Dd:
		w.row = false
		w.line()
	default:
		if isBlock(tag) {
			w.paragraph()
		}
	}
}

func (w *writer) list(tag atom.Atom) {
	if len(w.lists) == 0 {
		w.paragraph()
	}
	first := 0
	if tag == atom.Ol {
		first = 1
	}
	w.lists = append(w.lists, first)
}

func (w *writer) item() {
	mark := "- "
	if n := len(w.lists); n > 0 && w.lists[n-1] > 0 {
		mark = fmt.Sprintf("%d. ", w.lists[n-1])
		w.lists[n-1]++
	}
	w.mark(1, strings.Repeat("  ", min(max(len(w.lists)-1, 0), maxLists))+mark)
}

func (w *writer) cell() {
	if w.row {
		w.gap, w.space = 0, false
		w.write(" | ")
	}
	w.row, w.fresh = true, true
}

func (w *writer) tick() {
	if w.pre == 0 {
		w.write("`")
	}
}

func (w *writer) end(tag atom.Atom) {
	switch {
	case w.skip != 0:
		if tag == w.skip {
			if w.depth--; w.depth == 0 {
				w.skip = 0
			}
		}
		return
	case tag == atom.Title:
		w.inTitle = false
	case tag == atom.A:
		w.endLink()
	case tag == atom.Pre && w.pre > 0:
		w.pre--
		w.line()
		w.write("```")
		w.paragraph()
	case tag == atom.Code:
		w.space = false
		w.tick()
	case (tag == atom.Ul || tag == atom.Ol) && len(w.lists) > 0:
		if w.lists = w.lists[:len(w.lists)-1]; len(w.lists) == 0 {
			w.paragraph()
		}
	case isBlock(tag):
		w.paragraph()
	}
}

// isBlock reports elements that stand on lines of their own. Inside a list they
// do not part it.
func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Div, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside,
		atom.Blockquote, atom.Table, atom.Dl, atom.Figure, atom.Figcaption, atom.Form, atom.Details, atom.Summary,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Address, atom.Fieldset, atom.Body:
		return true
	}
	return false
}

// href returns the whole address of a link to another page, or "".
func (w *writer) href() string {
	for {
		key, value, more := w.z.TagAttr()
		if string(key) == "href" {
			return w.resolve(string(value))
		}
		if !more {
			return ""
		}
	}
}

func (w *writer) resolve(ref string) string {
	u, err := url.Parse(strings.TrimSpace(ref))
	if err != nil || strings.HasPrefix(ref, "#") {
		return ""
	}
	if w.base != nil {
		u = w.base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return ""
	}
	return strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "\n", "", "<", "%3C", ">", "%3E").Replace(u.String())
}

// endLink closes the link that is open; one without text leaves nothing.
func (w *writer) endLink() {
	if w.linked {
		w.out.WriteString("](" + w.link + ")")
	}
	w.link, w.linked = "", false
}

package memory

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Search implements session.Ledger. It finds the messages that have every word
// of text, in any order; words in double quotes must follow each other.
func (l *Ledger) Search(ctx context.Context, text string, f session.Filter, limit int) ([]session.Hit, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if err := l.usable(ctx); err != nil {
		return nil, err
	}
	terms := termsOf(text)
	if len(terms) == 0 || limit <= 0 {
		return nil, nil
	}
	var hits []session.Hit
	for _, r := range l.matching(f) {
		for _, d := range r.newestDocs() {
			at, to, ok := find(d.Text, terms)
			if !ok {
				continue
			}
			hits = append(hits, session.Hit{Info: r.view(), Seq: d.Seq, Role: d.Role, Snippet: snippet(d.Text, at, to)})
			if len(hits) == limit {
				return hits, nil
			}
		}
	}
	return hits, nil
}

func (r *record) newestDocs() []session.Doc {
	docs := make([]session.Doc, 0, len(r.docs))
	for _, d := range r.docs {
		docs = append(docs, d)
	}
	slices.SortFunc(docs, func(a, b session.Doc) int { return int(int64(b.Seq) - int64(a.Seq)) })
	return docs
}

// maxTerms bounds the work of one search: more words than anyone types.
const maxTerms = 64

// termsOf splits what a person typed into terms of words that must follow each
// other.
func termsOf(text string) [][]string {
	var terms [][]string
	for i, part := range strings.Split(text, `"`) {
		words := []string{part}
		if i%2 == 0 {
			words = strings.FieldsFunc(part, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		}
		for _, w := range words {
			var term []string
			for _, t := range tokens(w) {
				term = append(term, t.word)
			}
			if len(term) > 0 && len(terms) < maxTerms {
				terms = append(terms, term)
			}
		}
	}
	return terms
}

// token is a word of a text and where it stands.
type token struct {
	word     string // lower case
	from, to int
}

func tokens(text string) []token {
	var out []token
	from := -1
	for i, r := range text {
		word := unicode.IsLetter(r) || unicode.IsNumber(r)
		switch {
		case word && from < 0:
			from = i
		case !word && from >= 0:
			out = append(out, token{strings.ToLower(text[from:i]), from, i})
			from = -1
		}
	}
	if from >= 0 {
		out = append(out, token{strings.ToLower(text[from:]), from, len(text)})
	}
	return out
}

// find looks for all terms and returns where the first of them stands.
func find(text string, terms [][]string) (from, to int, ok bool) {
	have := tokens(text)
	for n, term := range terms {
		i := indexOf(have, term)
		if i < 0 {
			return 0, 0, false
		}
		if n == 0 {
			from, to = have[i].from, have[i+len(term)-1].to
		}
	}
	return from, to, true
}

func indexOf(have []token, term []string) int {
	for i := range have {
		if i+len(term) > len(have) {
			return -1
		}
		same := true
		for j, w := range term {
			same = same && have[i+j].word == w
		}
		if same {
			return i
		}
	}
	return -1
}

// around is how many bytes of a message a snippet shows on either side.
const around = 60

func snippet(text string, at, end int) string {
	from := boundary(text, max(0, at-around))
	to := boundary(text, min(len(text), end+around))
	return text[from:at] + "«" + text[at:end] + "»" + text[end:to]
}

// boundary moves i back to the start of a character.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

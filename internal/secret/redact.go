package secret

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// MinRedacted is the length in bytes below which a value is not replaced in
// text: a shorter one would tear ordinary words apart, and is no secret that
// could be kept anyway.
const MinRedacted = 6

// Redactor replaces the values of secrets in text that is shown, logged or sent
// to a model. It finds them as they are and in the forms they travel in (base64
// at any alignment, URL-escaped, JSON-escaped, line by line), and also the piece
// of one, of 8 bytes or more, that a cut or a line's end has left.
//
// Secrets are added where they are resolved and never taken out. A Redactor is
// safe for concurrent use; a nil one replaces nothing.
type Redactor struct {
	mu    sync.Mutex
	known map[string]bool
	forms map[string]bool
	now   atomic.Pointer[matcher] // nil while nothing is known
}

// NewRedactor returns a Redactor that knows the given secrets.
func NewRedactor(values ...string) *Redactor {
	r := &Redactor{}
	r.Add(values...)
	return r
}

// Add makes the Redactor know further secrets. Values shorter than MinRedacted
// are left out. Of a URL only its password and the secrets of its query count,
// and "Bearer x" is also known as x.
func (r *Redactor) Add(values ...string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	grown := false
	for _, v := range values {
		for _, part := range partsOf(strings.TrimSpace(v)) {
			grown = r.learn(part) || grown
		}
	}
	if grown {
		r.now.Store(newMatcher(r.forms))
	}
}

// learn adds a value with its forms, and reports whether it was new.
func (r *Redactor) learn(value string) bool {
	if len(value) < MinRedacted || r.known[value] {
		return false
	}
	if r.known == nil {
		r.known, r.forms = make(map[string]bool), make(map[string]bool)
	}
	r.known[value] = true
	for _, form := range formsOf(value) {
		r.forms[form] = true
	}
	return true
}

// Replace returns text with every secret in it replaced by Redacted.
func (r *Redactor) Replace(text string) string {
	if r == nil {
		return text
	}
	m := r.now.Load()
	if m == nil {
		return text
	}
	found := m.find(text)
	if len(found) == 0 {
		return text
	}
	return cutOut(text, found)
}

// Error returns err as it is when its text holds no secret, else an error with
// the text that is left and nothing behind it.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	if text, clean := err.Error(), r.Replace(err.Error()); clean != text {
		return errors.New(clean)
	}
	return err
}

// cutOut replaces the spans, which may overlap, each run of them by one marker.
func cutOut(text string, found []span) string {
	slices.SortFunc(found, func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	b.Grow(len(text))
	done := 0
	for i := 0; i < len(found); {
		start, end := found[i].start, found[i].end
		for i++; i < len(found) && found[i].start <= end; i++ {
			end = max(end, found[i].end)
		}
		b.WriteString(text[done:start])
		b.WriteString(Redacted)
		done = end
	}
	b.WriteString(text[done:])
	return b.String()
}

// Writer returns a writer that redacts what is written through it to w. Each
// Write should be whole lines, as loggers write them. It is as safe for
// concurrent use as w.
func (r *Redactor) Writer(w io.Writer) io.Writer { return redactingWriter{r, w} }

type redactingWriter struct {
	r *Redactor
	w io.Writer
}

func (w redactingWriter) Write(p []byte) (int, error) {
	clean := w.r.Replace(string(p))
	if _, err := io.WriteString(w.w, clean); err != nil {
		return 0, err
	}
	return len(p), nil
}

package memory

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// defaultPage is the length of a page when none is asked for.
const defaultPage = 100

// List implements session.Ledger. A cursor names the last row given and the
// filter it belongs to.
func (l *Ledger) List(ctx context.Context, f session.Filter, cursor string, limit int) ([]session.Info, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	all := l.matching(f)
	start, err := after(all, f, cursor)
	if err != nil {
		return nil, "", err
	}
	if limit <= 0 {
		limit = defaultPage
	}
	page := all[start:]
	if len(page) <= limit {
		return page, "", nil
	}
	page = page[:limit]
	return page, cursorFor(f, page[limit-1]), nil
}

func (l *Ledger) matching(f session.Filter) []session.Info {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var out []session.Info
	for _, r := range l.sessions {
		if matches(f, r.info) {
			out = append(out, r.view())
		}
	}
	slices.SortFunc(out, newestFirst)
	return out
}

func newestFirst(a, b session.Info) int {
	return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(a.ID, b.ID))
}

func matches(f session.Filter, info session.Info) bool {
	same := func(want, have string) bool { return want == "" || want == have }
	switch {
	case f.Archived == session.ExcludeArchived && info.Archived,
		f.Archived == session.OnlyArchived && !info.Archived:
		return false
	}
	return same(f.Owner, info.Owner) && same(f.Agent, info.Agent) && same(f.Cwd, info.Cwd) &&
		same(f.Key, info.Key) && same(f.Label, info.Label) && same(f.Parent, info.Parent)
}

// cursorFor is opaque to callers: the filter's hash, the time and the id of the
// last row given.
func cursorFor(f session.Filter, last session.Info) string {
	raw := fmt.Sprintf("%x %d %s", filterHash(f), last.UpdatedAt.UnixNano(), last.ID)
	return base64.RawURLEncoding.EncodeToString([]byte(raw))
}

func filterHash(f session.Filter) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q", []string{f.Owner, f.Agent, f.Cwd, f.Key, f.Label, f.Parent, fmt.Sprint(f.Archived)})
	return h.Sum64()
}

// after finds the row a cursor continues at. The row it names may be gone or
// have moved since; its place in the order still counts.
func after(all []session.Info, f session.Filter, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return 0, session.ErrBadCursor
	}
	var hash uint64
	var nanos int64
	var id string
	if _, err := fmt.Sscanf(string(raw), "%x %d %s", &hash, &nanos, &id); err != nil || hash != filterHash(f) {
		return 0, session.ErrBadCursor
	}
	for i, info := range all {
		older := cmp.Or(cmp.Compare(nanos, info.UpdatedAt.UnixNano()), cmp.Compare(info.ID, id))
		if older > 0 {
			return i, nil
		}
	}
	return len(all), nil
}

// Search implements session.Ledger: messages that hold every word, those with
// the whole phrase first.
func (l *Ledger) Search(ctx context.Context, text string, f session.Filter, limit int) ([]session.Hit, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return nil, ctx.Err()
	}
	if limit <= 0 {
		limit = defaultPage
	}
	var phrase, rest []session.Hit
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, r := range l.sessions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !matches(f, r.info) {
			continue
		}
		for _, d := range r.docs {
			hit, exact, ok := find(d, words)
			hit.Info = r.view()
			switch {
			case ok && exact:
				phrase = append(phrase, hit)
			case ok:
				rest = append(rest, hit)
			}
		}
	}
	newest := func(a, b session.Hit) int { return cmp.Or(newestFirst(a.Info, b.Info), cmp.Compare(a.Seq, b.Seq)) }
	slices.SortFunc(phrase, newest)
	slices.SortFunc(rest, newest)
	hits := append(phrase, rest...)
	return hits[:min(limit, len(hits))], nil
}

// find looks for all words in a message and reports whether they stand there
// as one phrase.
func find(d session.Doc, words []string) (hit session.Hit, exact, ok bool) {
	low := strings.ToLower(d.Text)
	for _, w := range words {
		if !strings.Contains(low, w) {
			return hit, false, false
		}
	}
	needle := strings.Join(words, " ")
	at := strings.Index(low, needle)
	exact = at >= 0
	if !exact {
		needle = words[0]
		at = strings.Index(low, needle)
	}
	hit = session.Hit{Seq: d.Seq, Role: d.Role, Snippet: snippet(d.Text, low, at, len(needle))}
	return hit, exact, true
}

// around is how many bytes of a message a snippet shows on either side.
const around = 60

// snippet marks the match. Lower-casing may change lengths; then the start of
// the message is shown unmarked.
func snippet(text, low string, at, n int) string {
	if len(text) != len(low) {
		return text[:boundary(text, min(len(text), 2*around))]
	}
	from := boundary(text, max(0, at-around))
	to := boundary(text, min(len(text), at+n+around))
	return text[from:at] + "«" + text[at:at+n] + "»" + text[at+n:to]
}

// boundary moves i back to the start of a character.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

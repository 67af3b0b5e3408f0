package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"unicode"

	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	// maxTerms bounds the work of one search: more words than anyone types.
	maxTerms = 64
	// snippetTokens is about a line of text around a match.
	snippetTokens = "16"
)

// Search implements [session.Ledger]. It finds the messages that have every
// word of text, in any order; words in double quotes must follow each other.
func (l *Ledger) Search(ctx context.Context, text string, f session.Filter, limit int) ([]session.Hit, error) {
	match := matchQuery(text)
	if match == "" || limit <= 0 {
		return nil, nil
	}
	where, args := conditions(f)
	where = append([]string{"docs_index MATCH ?"}, where...)
	query := `SELECT ` + infoColumns + `, docs_index.rowid & 4294967295, d.role,
			snippet(docs_index, 0, '«', '»', '…', ` + snippetTokens + `)
		FROM docs_index
		JOIN docs d ON d.id = docs_index.rowid
		JOIN sessions s ON s.num = docs_index.rowid >> 32` + whereClause(where) + `
		ORDER BY docs_index.rank, docs_index.rowid DESC LIMIT ?`
	var hits []session.Hit
	alive := l.liveness()
	args = append(append([]any{match}, args...), limit)
	err := l.reader.each(ctx, query, args, func(rows *sql.Rows) (err error) {
		var h session.Hit
		h.Info, err = scanInfo(rows, alive, &h.Seq, &h.Role, &h.Snippet)
		hits = append(hits, h)
		return err
	})
	if err != nil {
		return nil, l.storeError(err)
	}
	return hits, nil
}

// matchQuery is an FTS5 expression for what a person typed: every word becomes
// a quoted string, so that nothing in it is taken for query syntax. It is empty
// when there is no word to look for.
func matchQuery(text string) string {
	var terms []string
	for i, part := range strings.Split(strings.ToValidUTF8(text, " "), `"`) {
		// What stands between a pair of quotes is one phrase.
		words := []string{part}
		if i%2 == 0 {
			words = strings.FieldsFunc(part, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
		}
		for _, w := range words {
			if strings.ContainsFunc(w, isToken) && len(terms) < maxTerms {
				terms = append(terms, `"`+strings.ReplaceAll(w, "\x00", " ")+`"`)
			}
		}
	}
	return strings.Join(terms, " ")
}

// isToken reports whether the index's tokenizer takes r for part of a word; a
// term without one would match nothing.
func isToken(r rune) bool { return unicode.In(r, unicode.L, unicode.N, unicode.Co) }

// index stores messages for search; one that is there already is replaced.
func (t *tx) index(num int64, docs []session.Doc) {
	for _, d := range docs {
		key := eventKey(num, uint64(d.Seq))
		t.unindex(key)
		t.exec(`INSERT INTO docs (id, role, text) VALUES (?, ?, ?)`, key, d.Role, d.Text)
		t.exec(`INSERT INTO docs_index (rowid, text) VALUES (?, ?)`, key, d.Text)
		t.bytes += 3*pageSize + 2*len(d.Text)
	}
}

// unindex removes a message. The index does not keep texts, so it is told what
// it had.
func (t *tx) unindex(key int64) {
	var old string
	if t.row(`SELECT text FROM docs WHERE id = ?`, []any{key}, &old) {
		t.exec(`INSERT INTO docs_index (docs_index, rowid, text) VALUES ('delete', ?, ?)`, key, old)
		t.exec(`DELETE FROM docs WHERE id = ?`, key)
	}
}

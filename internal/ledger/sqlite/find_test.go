package sqlite

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestMatchQuery(t *testing.T) {
	for text, want := range map[string]string{
		`brown fox`:           `"brown" "fox"`,
		`say "brown fox" now`: `"say" "brown fox" "now"`,
		`"open phrase`:        `"open phrase"`,
		`NEAR(a b) -c *`:      `"NEAR(a" "b)" "-c"`,
		"a\x00b\tc\u00a0d":    `"a" "b" "c" "d"`,
		"\xffa":               `"a"`,
		`-> "" " " ***`:       ``,
	} {
		if got := matchQuery(text); got != want {
			t.Errorf("matchQuery(%q) = %s, want %s", text, got, want)
		}
	}
}

// FuzzSearch checks that no text a person types is an error.
func FuzzSearch(f *testing.F) {
	for _, s := range []string{"", "a", `"`, `"a b`, "a* OR b", "NEAR(a b, 3)", "a\x00b", "{x y}:z", "\xff", "日本 語"} {
		f.Add(s)
	}
	l := openIn(f, f.TempDir())
	fence, err := l.Create(f.Context(), session.Info{ID: "s_1"})
	if err != nil {
		f.Fatal(err)
	}
	docs := []session.Doc{{Seq: 1, Role: "user", Text: "a b c near 日本 語"}}
	if _, err := l.Append(f.Context(), "s_1", fence, session.Batch{Events: samples(1), Docs: docs}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hits, err := l.Search(t.Context(), text, session.Filter{}, 5)
		if err != nil {
			t.Fatalf("Search(%q) as %s: %v", text, matchQuery(text), err)
		}
		for _, h := range hits {
			if !utf8.ValidString(h.Snippet) {
				t.Errorf("snippet %q is not UTF-8", h.Snippet)
			}
		}
	})
}

// FuzzCursor checks that a cursor is either one of ours or refused.
func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add("AAAA")
	f.Add("AWAAA\nGGGGGG\n\nAAA")
	f.Add(makeCursor(session.Filter{Owner: "me"}, session.Info{ID: "s_1", UpdatedAt: time.Unix(1, 2)}))
	f.Fuzz(func(t *testing.T, cursor string) {
		updated, id, err := parseCursor(session.Filter{Owner: "me"}, cursor)
		if err != nil {
			return
		}
		if again := makeCursor(session.Filter{Owner: "me"}, session.Info{ID: id, UpdatedAt: fromUnixNano(updated)}); again != cursor {
			t.Errorf("cursor %q is also %q", cursor, again)
		}
	})
}

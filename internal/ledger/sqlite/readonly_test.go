package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func lookAt(t *testing.T, path string) (*Ledger, error) {
	t.Helper()
	run := filepath.Join(filepath.Dir(filepath.Dir(path)), "run")
	l, err := OpenReadOnly(t.Context(), path, instance.Observe(run))
	if err == nil {
		t.Cleanup(func() {
			if err := l.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	return l, err
}

func mustLookAt(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := lookAt(t, path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestReadOnly reads a store that others have open and one that nobody has.
func TestReadOnly(t *testing.T) {
	for _, live := range []bool{true, false} {
		t.Run(fmt.Sprint("live=", live), func(t *testing.T) {
			dir := t.TempDir()
			path := storeWith(t, dir, 5)
			if live {
				owner := mustReopen(t, path)
				if _, err := owner.Acquire(t.Context(), "s_1"); err != nil {
					t.Fatal(err)
				}
				if _, err := owner.Create(t.Context(), session.Info{ID: "s_2"}); err != nil {
					t.Fatal(err)
				}
			}
			l := mustLookAt(t, path)
			if got := countEvents(t, l, "s_1"); got != 5 {
				t.Errorf("%d events, want 5", got)
			}
			infos, _, err := l.List(t.Context(), session.Filter{}, "", 10)
			if err != nil || len(infos) == 0 || slices.IndexFunc(infos, func(i session.Info) bool { return i.ID == "s_1" && i.Active == live }) < 0 {
				t.Errorf("List: %+v, %v", infos, err)
			}
			if err := l.Check(t.Context()); err != nil {
				t.Errorf("Check: %v", err)
			}
			title := "t"
			for name, err := range map[string]error{
				"Delete": l.Delete(t.Context(), "s_1"),
				"Update": l.Update(t.Context(), "s_1", 0, session.InfoChange{Title: &title}),
			} {
				if !errors.Is(err, session.ErrReadOnly) {
					t.Errorf("%s: %v, want ErrReadOnly", name, err)
				}
			}
		})
	}
}

// TestReadOnlyChangesNothing looks at what is no sound store of ours.
func TestReadOnlyChangesNothing(t *testing.T) {
	path := storeWith(t, t.TempDir(), 200)
	for _, c := range []struct {
		name   string
		change func(t *testing.T, path string)
		want   any
	}{
		{"damaged", func(t *testing.T, path string) { overwrite(t, path, 0, 100) }, new(*DamagedError)},
		{"log without a database", func(t *testing.T, path string) {
			write(t, path+walSuffix, []byte("log"))
			write(t, path, nil)
		}, new(*DamagedError)},
		{"another program's", func(t *testing.T, path string) {
			write(t, path, nil)
			script(t, path, "CREATE TABLE bookmarks (url TEXT)")
		}, new(*ForeignError)},
		{"newer", func(t *testing.T, path string) { script(t, path, "UPDATE schema_version SET version = 99") }, new(*ForeignError)},
		{"older", func(t *testing.T, path string) { script(t, path, "UPDATE schema_version SET version = 0") }, new(*OutdatedError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "data", "sessions.db")
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, to, readFile(t, path))
			c.change(t, to)
			before := readFile(t, to)
			if _, err := lookAt(t, to); !errors.As(err, c.want) {
				t.Errorf("OpenReadOnly: %v, want %T", err, c.want)
			}
			if !bytes.Equal(before, readFile(t, to)) {
				t.Error("the file was changed")
			}
		})
	}
}

func script(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(text)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadOnlyNothingThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "sessions.db")
	if _, err := lookAt(t, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no store: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, path, nil)
	if _, err := lookAt(t, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty store: %v", err)
	}
}

// TestCheckFindsDamage damages a page that nothing else reads.
func TestCheckFindsDamage(t *testing.T) {
	path := storeWith(t, t.TempDir(), 400)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, path, st.Size()/2&^4095, 4096)
	err = mustLookAt(t, path).Check(t.Context())
	if damaged := (*DamagedError)(nil); !errors.As(err, &damaged) || damaged.Moved != "" {
		t.Errorf("Check: %v, want a DamagedError that moved nothing", err)
	}
	if _, err := os.Stat(path + suspectSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Error("looking left a note behind")
	}
}

package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// storeWith makes a store with one session of n events in dir, closes it and
// returns its path.
func storeWith(t *testing.T, dir string, n int) string {
	t.Helper()
	l := openIn(t, dir)
	fence, err := l.Create(t.Context(), session.Info{ID: "s_1", Owner: "local"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: samples(1)}); err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.path
}

func reopen(t *testing.T, path string) (*Ledger, error) {
	t.Helper()
	l, err := Open(t.Context(), path, openInstance(t, filepath.Dir(filepath.Dir(path))))
	if err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return l, err
}

func mustReopen(t *testing.T, path string) *Ledger {
	t.Helper()
	l, err := reopen(t, path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func countEvents(t *testing.T, l *Ledger, id string) int {
	t.Helper()
	n := 0
	for {
		page, err := l.Read(t.Context(), id, session.Seq(n), 500)
		if err != nil {
			t.Fatalf("Read after %d: %v", n, err)
		}
		if len(page) == 0 {
			return n
		}
		n += len(page)
	}
}

func TestReopen(t *testing.T) {
	// Names that mean something in a URI are names here.
	dir := filepath.Join(t.TempDir(), "a b+c%41?x=1#y&z")
	path := storeWith(t, dir, 5)
	if filepath.Dir(filepath.Dir(path)) != dir {
		t.Fatalf("store is at %s", path)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	l := mustReopen(t, path)
	if got := countEvents(t, l, "s_1"); got != 5 {
		t.Errorf("%d events, want 5", got)
	}
	if info, err := l.Info(t.Context(), "s_1"); err != nil || info.Active {
		t.Errorf("after Close the session is active: %v, %v", info.Active, err)
	}
}

// TestOneStoreByTwoNames opens a store through a link: both names share locks.
func TestOneStoreByTwoNames(t *testing.T) {
	dir := t.TempDir()
	path := storeWith(t, dir, 1)
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	in := openInstance(t, dir)
	l, err := Open(t.Context(), link, in)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	want, err := filepath.EvalSymlinks(path)
	if err != nil || l.Path() != want {
		t.Errorf("Path is %s, want %s (%v)", l.Path(), want, err)
	}
	if stray, _ := filepath.Glob(link + "?*"); len(stray) > 0 {
		t.Errorf("files beside the link: %v", stray)
	}
}

func TestOwnFilesOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir := t.TempDir()
	path := storeWith(t, dir, 1)
	for _, p := range []string{path, path + commitSuffix} {
		if err := os.Chmod(p, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := mustReopen(t, path)
	if _, err := l.Create(t.Context(), session.Info{ID: "s_2"}); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", walSuffix, shmSuffix} {
		st, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", filepath.Base(path+suffix), st.Mode().Perm())
		}
	}
	if st, err := os.Stat(filepath.Dir(path)); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v, want 0700", st.Mode().Perm(), err)
	}
}

// TestDamagedIsMovedAside opens stores damaged in several ways: each is moved
// with all its bytes, said by name, and the next Open starts a new store.
func TestDamagedIsMovedAside(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
	}{
		{"not a database", func(t *testing.T, path string) {
			write(t, path, bytes.Repeat([]byte("this is no database. "), 500))
		}},
		{"header overwritten", func(t *testing.T, path string) { overwrite(t, path, 0, 100) }},
		{"schema page overwritten", func(t *testing.T, path string) { overwrite(t, path, 100, 3900) }},
		{"cut in half", func(t *testing.T, path string) { truncate(t, path, 2) }},
		{"newest events overwritten", func(t *testing.T, path string) {
			db, err := openDB(path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("UPDATE events SET data = x'01' WHERE id = (SELECT max(id) FROM events)"); err != nil {
				t.Fatal(err)
			}
		}},
		{"database gone, log left", func(t *testing.T, path string) {
			write(t, path+walSuffix, []byte("what was committed last"))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := storeWith(t, t.TempDir(), 200)
			c.damage(t, path)
			before := readFile(t, path)
			l, err := reopen(t, path)
			var damaged *DamagedError
			if !errors.As(err, &damaged) {
				t.Fatalf("Open: %v (%v), want a DamagedError", err, l)
			}
			if !strings.HasPrefix(damaged.Moved, path+".damaged-") || !strings.Contains(err.Error(), damaged.Moved) {
				t.Errorf("moved to %q, said as %q", damaged.Moved, err)
			}
			if got := readFile(t, damaged.Moved); !bytes.Equal(got, before) {
				t.Errorf("the moved file has %d bytes, had %d, or they differ", len(got), len(before))
			}
			l = mustReopen(t, path)
			if _, err := l.Create(t.Context(), session.Info{ID: "s_1"}); err != nil {
				t.Errorf("the new store: %v", err)
			}
		})
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}

func overwrite(t *testing.T, path string, offset int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{0xa5}, n), offset); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, path string, by int64) {
	t.Helper()
	st, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, st.Size()/by)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamageFoundLater damages pages Open does not look at: reading them says
// so, and the next Open finds and moves the store.
func TestDamageFoundLater(t *testing.T) {
	dir := t.TempDir()
	path := storeWith(t, dir, 400)
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// Leave the first pages (schema) and the last ones (the newest events).
	overwrite(t, path, st.Size()/2&^4095, 4096)
	l := mustReopen(t, path)
	var found error
	for after := session.Seq(0); found == nil && after < 400; after += 10 {
		_, found = l.Read(t.Context(), "s_1", after, 10)
	}
	var damaged *DamagedError
	if !errors.As(found, &damaged) || damaged.Moved != "" {
		t.Fatalf("Read: %v, want a DamagedError that moved nothing", found)
	}
	if _, err := reopen(t, path); !errors.As(err, new(*InUseError)) || !errors.As(err, &damaged) && !isDamage(err) {
		t.Errorf("Open while another has it open: %v, want an InUseError", err)
	}
	l.Close()
	if _, err := reopen(t, path); !errors.As(err, &damaged) || damaged.Moved == "" {
		t.Errorf("Open after it was found: %v, want a DamagedError that moved it", err)
	}
	mustReopen(t, path)
}

func TestFalseAlarmIsForgotten(t *testing.T) {
	path := storeWith(t, t.TempDir(), 3)
	markSuspect(path)
	mustReopen(t, path)
	if _, err := os.Stat(path + suspectSuffix); !os.IsNotExist(err) {
		t.Errorf("the note is still there: %v", err)
	}
}

// TestForeignIsLeftAlone opens what is not ours to change.
func TestForeignIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name, script, says string
	}{
		{"another program's", "CREATE TABLE bookmarks (url TEXT)", "another program"},
		{"another program's, marked", "PRAGMA application_id = 7; CREATE TABLE schema_version (version)", "another program"},
		{"a newer version", fmt.Sprintf("PRAGMA application_id = %d; %s; UPDATE schema_version SET version = 99", applicationID, schema), "version 99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "sessions.db")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(c.script); err != nil {
				t.Fatal(err)
			}
			db.Close()
			before := readFile(t, path)
			_, err = reopen(t, path)
			var foreign *ForeignError
			if !errors.As(err, &foreign) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Open: %v, want a ForeignError that says %q", err, c.says)
			}
			if !bytes.Equal(before, readFile(t, path)) {
				t.Error("the file was changed")
			}
		})
	}
}

// next is a layout after the current one, to upgrade to.
func next() layout {
	return layout{version: schemaVersion + 1, steps: map[int]string{schemaVersion: "ALTER TABLE sessions ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'"}}
}

func openLayout(t *testing.T, path string, to layout) (*Ledger, error) {
	t.Helper()
	l := &Ledger{path: path, inst: openInstance(t, filepath.Dir(filepath.Dir(path))), layout: to, walLimit: walBytes}
	l, err := l.opened(t.Context())
	if err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return l, err
}

func TestUpgrade(t *testing.T) {
	dir := t.TempDir()
	path := storeWith(t, dir, 7)
	old := mustReopen(t, path)

	var inUse *InUseError
	if _, err := openLayout(t, path, next()); !errors.As(err, &inUse) {
		t.Fatalf("upgrade while another has it open: %v, want an InUseError", err)
	} else if !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) || !strings.Contains(err.Error(), old.inst.ID()) {
		t.Errorf("it does not say who: %v", err)
	}
	old.Close()
	old.inst.Close()

	l, err := openLayout(t, path, next())
	if err != nil {
		t.Fatal(err)
	}
	if got := countEvents(t, l, "s_1"); got != 7 || l.epoch != 2 {
		t.Errorf("after the upgrade: %d events in epoch %d, want 7 in 2", got, l.epoch)
	}
	backups, _ := filepath.Glob(path + fmt.Sprintf(".backup-v%d-*", schemaVersion))
	if len(backups) != 1 {
		t.Fatalf("backups: %v, want one", backups)
	}
	if st, err := os.Stat(backups[0]); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v, want 0600", st.Mode(), err)
	}
	if _, err := reopen(t, path); !errors.As(err, new(*ForeignError)) {
		t.Errorf("the older program opens the newer store: %v, want a ForeignError", err)
	}
	l.Close()

	// The backup is a whole store of the old version.
	if err := os.Rename(backups[0], path); err != nil {
		t.Fatal(err)
	}
	if got := countEvents(t, mustReopen(t, path), "s_1"); got != 7 {
		t.Errorf("the backup has %d events, want 7", got)
	}
}

func TestUpgradeFailsWhole(t *testing.T) {
	path := storeWith(t, t.TempDir(), 7)
	bad := next()
	bad.steps[schemaVersion] += "; ALTER TABLE nothing ADD COLUMN x"
	if _, err := openLayout(t, path, bad); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(".backup-v%d-", schemaVersion)) {
		t.Fatalf("a failing upgrade: %v, want an error that names the backup", err)
	}
	l := mustReopen(t, path)
	if got := countEvents(t, l, "s_1"); got != 7 || l.epoch != 1 {
		t.Errorf("afterwards: %d events in epoch %d, want 7 in 1", got, l.epoch)
	}
}

// TestEpochIsChecked changes the schema's epoch under an open ledger, as an
// upgrade that somehow did not see it would: it writes nothing any more.
func TestEpochIsChecked(t *testing.T) {
	l := openIn(t, t.TempDir())
	fence, err := l.Create(t.Context(), session.Info{ID: "s_1"})
	if err != nil {
		t.Fatal(err)
	}
	setEpoch := func(n int) {
		if _, err := l.writes.Exec("UPDATE schema_version SET epoch = ?", n); err != nil {
			t.Fatal(err)
		}
	}
	setEpoch(2)
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"Append events":   func() error { _, err := l.Append(ctx, "s_1", fence, session.Batch{Events: samples(1)}); return err },
		"Append snapshot": func() error { _, err := l.Append(ctx, "s_1", fence, session.Batch{Snapshot: []byte("x")}); return err },
		"Create":          func() error { _, err := l.Create(ctx, session.Info{ID: "s_2"}); return err },
		"Update":          func() error { return l.Update(ctx, "s_1", fence, session.InfoChange{}) },
		"Delete":          func() error { return l.Delete(ctx, "s_1") },
		"Acquire":         func() error { _, err := l.Acquire(ctx, "s_1"); return err },
		"Release":         func() error { return l.Release(ctx, "s_1", fence) },
	} {
		if err := call(); !errors.Is(err, ErrUpgraded) {
			t.Errorf("%s: %v, want ErrUpgraded", name, err)
		}
	}
	setEpoch(1)
	if got := countEvents(t, l, "s_1"); got != 0 {
		t.Errorf("%d events were stored", got)
	}
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data", "sessions.db")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := reopen(t, path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Open of a directory: %v", err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&DamagedError{Path: "/d/s.db", Moved: "/d/s.db.damaged-1", Err: errRow}, "/d/s.db.damaged-1"},
		{&DamagedError{Path: "/d/s.db", Err: errRow}, "restart grapnel"},
		{&ForeignError{Path: "/d/s.db", Version: 3, Known: 1}, "upgrade grapnel"},
		{&ForeignError{Path: "/d/s.db"}, "another program"},
		{&NetworkError{Path: "/n/s.db", FileSystem: "nfs"}, "(nfs)"},
		{&UnreadableError{Path: "/d/s.db", Err: os.ErrPermission}, "permissions"},
		{&InUseError{Path: "/d/s.db", Reason: "upgraded from version 1", Peers: []instance.Peer{{ID: "i_a", PID: 42}}}, "process 42 (instance i_a)"},
		{&InUseError{Path: "/d/s.db", Reason: "moved aside"}, "another process"},
	} {
		if got := c.err.Error(); !strings.Contains(got, c.want) || !strings.Contains(got, "s.db") {
			t.Errorf("%T says %q, want it to name the store and %q", c.err, got, c.want)
		}
	}
}

// TestUpgradeFromVersion1 takes a store from before subagents.
func TestUpgradeFromVersion1(t *testing.T) {
	path := storeWith(t, t.TempDir(), 3)
	old := mustReopen(t, path)
	if _, err := old.writes.Exec(`DROP TABLE shares; ALTER TABLE sessions DROP COLUMN subagent; UPDATE schema_version SET version = 1`); err != nil {
		t.Fatal(err)
	}
	old.Close()
	old.inst.Close()

	l := mustReopen(t, path)
	if got := countEvents(t, l, "s_1"); got != 3 {
		t.Errorf("%d events afterwards", got)
	}
	child := session.Info{ID: "s_2", Parent: "s_1", Subagent: true}
	if _, err := l.Create(t.Context(), child); err != nil {
		t.Fatal(err)
	}
	list, _, err := l.List(t.Context(), session.Filter{}, "", 10)
	if err != nil || len(list) != 1 || list[0].ID != "s_1" {
		t.Errorf("listed %v, %v", list, err)
	}
}

// TestUpgradeFromVersion2 takes a store from before shares, whose sessions had no
// keys unless somebody gave them one.
func TestUpgradeFromVersion2(t *testing.T) {
	path := storeWith(t, t.TempDir(), 3)
	old := mustReopen(t, path)
	for _, in := range []session.Info{{ID: "s_2", Owner: "me", Agent: "main", Subagent: true}, {ID: "s_3", Owner: "me", Agent: "main", Key: "mine"}} {
		if _, err := old.Create(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := old.writes.Exec(`DROP TABLE shares; UPDATE schema_version SET version = 2`); err != nil {
		t.Fatal(err)
	}
	old.Close()
	old.inst.Close()

	l := mustReopen(t, path)
	uuid := `[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`
	for id, want := range map[string]string{"s_1": "agent:.*:acp:" + uuid, "s_2": "agent:main:subagent:" + uuid, "s_3": "mine"} {
		got, err := l.Info(t.Context(), id)
		if err != nil || !regexp.MustCompile("^"+want+"$").MatchString(got.Key) {
			t.Errorf("%s has the key %q, %v", id, got.Key, err)
		}
	}
	share := session.InfoChange{Shares: []session.ShareChange{{Share: session.Share{Owner: "bob", Role: session.Prompter}}}}
	if err := l.Update(t.Context(), "s_1", 0, share); err != nil {
		t.Error(err)
	}
}

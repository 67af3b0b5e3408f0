package fieldtest

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reports are the lines an agent wrote to stderr.
func (a *Agent) reports() []string {
	return strings.Split(strings.TrimSuffix(a.Stderr(), "\n"), "\n")
}

// wantReport expects one sentence on stderr and nothing else.
func wantReport(t *testing.T, a *Agent, pattern string) {
	t.Helper()
	if got := a.reports(); len(got) != 1 || !regexp.MustCompile("^"+pattern+"$").MatchString(got[0]) {
		t.Errorf("stderr has %d lines, want one like %s:\n%s", len(got), pattern, a.Stderr())
	}
}

// checkInMemory works with an agent that has no store: what is offered is true,
// and turns run.
func checkInMemory(t *testing.T, a *Agent) {
	t.Helper()
	var r struct {
		Capabilities map[string]json.RawMessage `json:"agentCapabilities"`
	}
	a.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}, &r)
	if string(r.Capabilities["loadSession"]) != "false" || r.Capabilities["sessionCapabilities"] != nil {
		t.Errorf("it offers %s", r.Capabilities)
	}
	s := a.New()
	for range 2 {
		if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
			t.Errorf("the turn ended with %s", got)
		}
	}
	for _, method := range []string{"session/load", "session/resume", "session/close"} {
		if m := a.Call(method, a.w.LoadParams(s)); m.Error == nil || m.Error.Code != -32002 {
			t.Errorf("%s: %s %+v", method, m.Result, m.Error)
		}
	}
	a.Quit()
}

// storeOf has an agent make a store with one session, and returns both.
func storeOf(w *World) (path, session string) {
	w.T.Helper()
	a, s := w.Opened()
	a.Prompt(s, "D:SAY stored")
	a.Quit()
	return filepath.Join(w.Home, "data", "sessions.db"), s
}

func TestStoreReadOnlyHome(t *testing.T) {
	if !CanFreeze() {
		t.Skip("this user cannot be kept from writing")
	}
	for _, c := range []struct {
		name string
		used bool // there is a store
	}{{"fresh", false}, {"used", true}} {
		t.Run(c.name, func(t *testing.T) {
			w := NewWorld(t)
			if c.used {
				storeOf(w)
			}
			undo, err := Freeze(w.Home)
			if err != nil {
				t.Fatal(err)
			}
			defer undo()
			a := w.Start()
			checkInMemory(t, a)
			wantReport(t, a, "grapnel: sessions are kept in memory only: .*(read-only|permission).*")
		})
	}
}

// TestStoreReadOnly: only the store cannot be written.
func TestStoreReadOnly(t *testing.T) {
	if !CanFreeze() {
		t.Skip("this user cannot be kept from writing")
	}
	w := NewWorld(t)
	path, s := storeOf(w)
	undo, err := Freeze(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	a := w.Start()
	checkInMemory(t, a)
	wantReport(t, a, "grapnel: sessions are kept in memory only: .*"+regexp.QuoteMeta(path)+".*")
	undo()
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	if got := b.Said(s, 0); got != "stored" {
		t.Errorf("afterwards it says %q", got)
	}
}

func TestStoreUnreadable(t *testing.T) {
	w := NewWorld(t)
	path, s := storeOf(w)
	if err := os.Chmod(filepath.Dir(path), 0); err != nil {
		t.Fatal(err)
	}
	restore := func() { _ = os.Chmod(filepath.Dir(path), 0o700) }
	defer restore()
	if os.Getuid() == 0 { // whom modes bind only without these
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("root reads everything")
		}
		w.Wrap = []string{setpriv, "--bounding-set=-dac_override,-dac_read_search"}
	}
	a := w.Start()
	checkInMemory(t, a)
	wantReport(t, a, "grapnel: sessions are kept in memory only: session store "+regexp.QuoteMeta(path)+" cannot be opened: .*")
	restore()
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
}

func TestStoreDamaged(t *testing.T) {
	w := NewWorld(t)
	path, s := storeOf(w)
	junk := []byte(strings.Repeat("no database ", 1000))
	if err := os.WriteFile(path, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	a, fresh := w.Opened()
	if m := a.Call("session/load", w.LoadParams(s)); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("the lost session: %s %+v", m.Result, m.Error)
	}
	if got := a.Prompt(fresh, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	a.Quit()
	moved, _ := filepath.Glob(path + ".damaged-*")
	if len(moved) != 1 {
		t.Fatalf("moved: %v", moved)
	}
	wantReport(t, a, "grapnel: session store "+regexp.QuoteMeta(path)+" is damaged and was moved to "+regexp.QuoteMeta(moved[0])+": .*")
	if got, err := os.ReadFile(moved[0]); err != nil || string(got) != string(junk) {
		t.Errorf("what was moved aside is not what was there: %v", err)
	}
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(fresh), nil)
	b.Quit()
	if b.Stderr() != "" {
		t.Errorf("the next start says %q", b.Stderr())
	}
}

// TestStoreDamagedInUse: it cannot be moved while another process has it open.
func TestStoreDamagedInUse(t *testing.T) {
	w := NewWorld(t)
	first, s := w.Opened()
	if got := first.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	path := filepath.Join(w.Home, "data", "sessions.db")
	waitFor(t, "an empty log", func() bool { return fileSize(path+"-wal") == 0 })
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(strings.Repeat("junk", 25)), 0); err != nil {
		t.Fatal(err)
	}
	second := w.Start()
	checkInMemory(t, second)
	wantReport(t, second, `grapnel: sessions are kept in memory only: session store \S+ must be moved aside, for it is damaged, but is in use by process \d+ \(instance \w+\): close it and start again`)
}

func TestStoreOfANewerVersion(t *testing.T) {
	w := NewWorld(t)
	path, _ := storeOf(w)
	setVersion(t, path, 99)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := w.Start()
	checkInMemory(t, a)
	wantReport(t, a, `grapnel: sessions are kept in memory only: session store \S+ has version 99, this grapnel knows up to 3: upgrade grapnel`)
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the store was changed: %v", err)
	}
}

func TestStoreOfABrokenConfiguration(t *testing.T) {
	w := NewWorld(t)
	w.Configure("[acp]\nmax_sesions = 1\nnope = 2\n")
	a := w.Start()
	a.Init()
	if m := a.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}); m.Error == nil || !strings.Contains(m.Error.Message, "config.toml:2:1: acp.max_sesions") {
		t.Errorf("session/new: %s %+v", m.Result, m.Error)
	}
	a.Quit()
	got := a.reports()
	if len(got) != 3 || !strings.Contains(got[0], "config.toml:2:1: ") || !strings.Contains(got[1], "config.toml:3:1: ") ||
		got[2] != "grapnel: sessions are kept in memory only: config.toml cannot be used; correct it, then start grapnel anew" {
		t.Errorf("stderr:\n%s", a.Stderr())
	}
	for _, line := range got {
		if !strings.HasPrefix(line, "grapnel: ") {
			t.Errorf("a line without a name: %s", line)
		}
	}
}

// TestFullDisk fills the disk below a running session: the turn fails and says
// why, the session is there, and goes on once there is room.
func TestFullDisk(t *testing.T) {
	w := NewWorld(t)
	data := filepath.Join(w.Home, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	resize, undo, err := SmallDisk(data, "1m")
	if err != nil {
		t.Skipf("no disk of a test's own: %v", err)
	}
	defer undo()
	a, s := w.Opened()
	if got := a.Prompt(s, "D:SAY before").StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	for _, c := range []struct{ name, prompt string }{
		{"a prompt that does not fit", "D:SAY x\n" + strings.Repeat("x", 2<<20)},
		{"an answer that does not fit", "D:SAY " + strings.Repeat("y", 4000)},
	} {
		m := a.Prompt(s, c.prompt)
		for n := 0; m.Error == nil && n < 1000; n++ {
			m = a.Prompt(s, c.prompt)
		}
		if m.Error == nil || !strings.Contains(m.Error.Message, "disk that holds the session store is full") {
			t.Fatalf("%s: %s %+v", c.name, m.Result, m.Error)
		}
		if strings.Contains(m.Error.Message, "\n") {
			t.Errorf("more than a sentence: %s", m.Error.Message)
		}
	}
	if err := resize("50m"); err != nil {
		t.Fatal(err)
	}
	from := a.Lines()
	if got := a.Prompt(s, "D:SAY after").StopReason(); got != "end_turn" || a.Said(s, from) != "after" {
		t.Errorf("with room again: %s, said %q", got, a.Said(s, from))
	}
	a.Quit()
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	if got := b.Said(s, 0); !strings.HasPrefix(got, "before") || !strings.HasSuffix(got, "after") {
		t.Errorf("a new process shows %q", got)
	}
	b.Quit()
}

// setVersion marks a store as one of another version.
func setVersion(t *testing.T, path string, version int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec("UPDATE schema_version SET version = ?", version)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

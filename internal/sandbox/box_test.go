package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// expect runs a script that has to succeed.
func (w *world) expect(want Want, script string) string {
	w.t.Helper()
	out, code := w.sh(want, script)
	if code != 0 {
		w.t.Errorf("%s: exit code %d: %s", script, code, out)
	}
	return out
}

// refuses runs a script that has to fail.
func (w *world) refuses(want Want, script string) {
	w.t.Helper()
	if out, code := w.sh(want, script); code == 0 {
		w.t.Errorf("%s worked: %s", script, out)
	}
}

func TestGranted(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.expect(Want{}, `cat file && echo x > new && mkdir -p d/e && mv new d/e/newer && rm -r d && chmod 600 file`)
		w.expect(Want{}, `echo x > ~/.grapnel/agents/main/workspace/note`)
		w.expect(Want{}, `cat ~/.gitconfig /etc/passwd /etc/hosts >/dev/null && ls /usr/bin >/dev/null`)
		w.expect(Want{}, `echo x > /dev/null && head -c 4 /dev/urandom >/dev/null && cat /proc/self/status /proc/meminfo >/dev/null`)
		w.expect(Want{}, `for v in "$TMPDIR" "$GOCACHE" "$npm_config_cache" "$XDG_CACHE_HOME" "$PIP_CACHE_DIR"; do mkdir -p "$v" && echo x > "$v/x" || exit 1; done`)
		if got := w.expect(Want{}, "pwd; echo $HOME"); got != w.cwd+"\n"+w.home {
			t.Errorf("directory and home are %q", got)
		}
		if _, err := os.Stat(w.home + "/.grapnel/agents/main/workspace/note"); err != nil {
			t.Error(err)
		}
	})
}

// Temporary files last as long as the session, and are nobody else's.
func TestTemporaryFiles(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		b := w.box()
		if out, code := w.run(b, Want{}, "sh", "-c", `echo kept > "$TMPDIR/x"; mkdir -m 0 "$TMPDIR/d"`); code != 0 {
			t.Fatal(out)
		}
		if out, _ := w.run(b, Want{}, "sh", "-c", `cat "$TMPDIR/x"`); out != "kept" {
			t.Errorf("the next command reads %q", out)
		}
		if out, _ := w.run(w.box(), Want{}, "sh", "-c", `cat "$TMPDIR/x"`); out == "kept" {
			t.Errorf("another session sees %q", out)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if _, err := b.Confine(t.Context(), Want{}, proc.Spec{Argv: []string{"true"}, Env: w.env()}); err == nil {
			t.Error("a closed box confines")
		}
	})
	t.Run("after a crash", func(t *testing.T) {
		base := t.TempDir()
		for _, dir := range []string{"i_dead/1/d", "i_alive/1"} {
			if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := Sweep(base, func(id string) bool { return id == "i_alive" }); err != nil {
			t.Error(err)
		}
		entries, err := os.ReadDir(base)
		if err != nil || len(entries) != 1 || entries[0].Name() != "i_alive" {
			t.Errorf("left: %v, %v", entries, err)
		}
		if err := Sweep(filepath.Join(base, "none"), nil); err != nil {
			t.Error(err)
		}
	})
}

// A directory that holds what is forbidden is granted without it.
func TestRootAboveSecrets(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.session.Roots = []string{w.home}
		w.expect(Want{}, "cat ~/Documents/letter && echo more >> ~/Documents/letter && echo x > ~/Documents/new && cat file")
		for _, path := range []string{"~/.ssh/id", "~/.grapnel/config.toml", "~/.grapnel/data/sessions.db"} {
			w.refuses(Want{}, "cat "+path+" && [ -s "+path+" ]")
			w.refuses(Want{}, "echo x >> "+path+" && grep x "+path)
		}
		w.cwd = w.home + "/.ssh"
		w.session.Roots = []string{w.cwd}
		w.refuses(Want{ReadOnly: true}, "echo x > ~/.ssh/new")
		w.expect(Want{}, "cat ~/.ssh/id") // a root may lie at a forbidden path
		w.cwd = w.own
		w.session.Roots = []string{w.own + "/data", w.own}
		w.refuses(Want{}, "cat ~/.grapnel/data/sessions.db")
		w.refuses(Want{}, "cat ~/.grapnel/config.toml && [ -s ~/.grapnel/config.toml ]")
	})
}

func TestReadOnly(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.expect(Want{ReadOnly: true}, "cat file")
		w.refuses(Want{ReadOnly: true}, "echo x > new")
		w.refuses(Want{ReadOnly: true}, "rm file")
	})
}

// Places of one command are there for it alone, and only where nothing forbids
// them.
func TestNamedPlaces(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		letters := w.home + "/Documents"
		w.refuses(Want{}, "cat ~/Documents/letter")
		w.expect(Want{Readable: []string{letters}}, "cat ~/Documents/letter")
		w.refuses(Want{Readable: []string{letters}}, "echo x >> ~/Documents/letter")
		w.expect(Want{Writable: []string{letters}}, "echo x >> ~/Documents/letter")
		for _, dir := range []string{w.home + "/.ssh", w.own, w.home} {
			want := Want{Readable: []string{dir}, Writable: []string{dir}}
			w.refuses(want, "cat ~/.ssh/id")
			w.refuses(want, "cat ~/.grapnel/config.toml && [ -s ~/.grapnel/config.toml ]")
		}
	})
}

func TestEverything(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		want := Want{Everything: true, Network: true}
		w.expect(want, "cat ~/Documents/letter && echo more >> ~/Documents/letter && ls /usr >/dev/null")
		w.expect(want, "cat /etc/passwd >/dev/null; echo x > file")
		for _, path := range []string{"~/.ssh/id", "~/.grapnel/config.toml", "~/.grapnel/data/sessions.db", "/etc/shadow"} {
			w.refuses(want, "cat "+path+" && [ -s "+path+" ]")
		}
		w.refuses(want, "echo x > ~/.grapnel/config.toml && grep x ~/.grapnel/config.toml")
		w.refuses(want, "echo x > /proc/sys/kernel/domainname")
	})
}

// What a command has put in place of a directory does not get its grant.
func TestReplacedDirectories(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		sub := filepath.Join(w.cwd, "sub")
		bin := filepath.Join(w.cwd, "node_modules/.bin")
		tools := filepath.Join(w.cwd, "tools")
		w.session.Roots = append(w.session.Roots, sub)
		w.extra = []string{"PATH=" + os.Getenv("PATH") + ":" + bin}
		w.ladder.opts.Path += ":" + bin + ":" + tools
		for _, link := range []string{sub, bin, tools} {
			if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(w.outside, link); err != nil {
				t.Fatal(err)
			}
			w.refuses(Want{}, "cat "+link+"/letter")
			w.refuses(Want{}, "echo x > "+link+"/made")
		}
		if err := os.Symlink(w.outside, filepath.Join(w.cwd, ".git")); err != nil {
			t.Fatal(err)
		}
		w.refuses(Want{}, "cat .git/letter")
	})
}

// Whatever a command starts ends with it.
func TestCustody(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		w.expect(Want{}, `(setsid sh -c 'trap "" TERM HUP; while :; do echo x >> ticks; sleep 0.01; done' >/dev/null 2>&1 &); while [ ! -s ticks ]; do sleep 0.01; done`)
		before, err := os.ReadFile(w.cwd + "/ticks")
		if err != nil {
			t.Fatal(err)
		}
		w.expect(Want{}, "sleep 0.2") // by then it would have written more
		if after, err := os.ReadFile(w.cwd + "/ticks"); err != nil || len(after) != len(before) {
			t.Errorf("it goes on: %d, then %d, %v", len(before), len(after), err)
		}
	})
}

func TestExits(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		if out, code := w.sh(Want{}, "exit 7"); code != 7 || out != "" {
			t.Errorf("exit code %d: %s", code, out)
		}
		if out, code := w.sh(Want{}, "no-such-program"); code != 127 {
			t.Errorf("exit code %d: %s", code, out)
		}
		_, err := w.box().Confine(t.Context(), Want{}, proc.Spec{Argv: []string{"no-such-program"}, Env: w.env()})
		if !errors.Is(err, proc.ErrCommandMissing) {
			t.Errorf("a program that is missing: %v", err)
		}
	})
}

func TestNoSandbox(t *testing.T) {
	l := New(Options{})
	s := proc.Spec{Argv: []string{"true"}, Dir: "/"}
	for _, use := range []Rung{None, "seatbelt"} {
		if got, err := l.Open(Session{Use: use}).Confine(t.Context(), Want{}, s); err != nil || got.Argv[0] != "true" || len(got.Argv) != 1 {
			t.Errorf("%s: %v, %v", use, got.Argv, err)
		}
		if _, err := l.Open(Session{Use: use, Required: true}).Confine(t.Context(), Want{}, s); !errors.Is(err, ErrRequired) {
			t.Errorf("%s, required: %v", use, err)
		}
		if st, err := l.Find(t.Context(), use); err != nil || st.Works() || st.Why() == "" || strings.Contains(st.Why(), "\n") {
			t.Errorf("%s: %+v, %v", use, st, err)
		}
	}
}

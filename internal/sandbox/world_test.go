package sandbox

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a machine with a user and a session on one rung.
type world struct {
	t       *testing.T
	ladder  *Ladder
	home    string // of the user
	cwd     string
	own     string // our directory, with config, data and run
	outside string // a directory of the user that is no root
	session Session
	extra   []string // of the environment
}

// rungOptions are the rungs that are tested, each with what forces it.
func rungOptions() map[Rung]Options {
	return map[Rung]Options{Bubblewrap: {}, Landlock: {}}
}

// onEachRung runs a test on every rung of this system. On CI each must work.
func onEachRung(t *testing.T, test func(*testing.T, *world)) {
	for rung, opts := range rungOptions() {
		t.Run(string(rung), func(t *testing.T) { test(t, newWorld(t, rung, opts)) })
	}
}

func newWorld(t *testing.T, rung Rung, opts Options) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, home: filepath.Join(base, "home"), cwd: filepath.Join(base, "home/src/project"),
		own: filepath.Join(base, "home/.grapnel"), outside: filepath.Join(base, "home/Documents"),
	}
	for _, dir := range []string{w.cwd, w.own + "/data", w.own + "/run", w.own + "/agents/main/workspace", w.outside, w.home + "/.ssh"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		w.own + "/config.toml": "own secret", w.own + "/data/sessions.db": "own secret", w.home + "/.ssh/id": "a key",
		w.outside + "/letter": "a letter", w.home + "/.gitconfig": "[user]\n\tname = You\n\temail = you@example.org\n",
		w.cwd + "/file": "in the project\n",
	} {
		w.write(path, text)
	}
	opts.Home, opts.Path, opts.Temp = w.home, os.Getenv("PATH"), filepath.Join(w.own, "tmp/i_test")
	w.ladder = New(opts)
	w.session = Session{
		Use: rung, Roots: []string{w.cwd, w.own + "/agents/main/workspace"},
		Forbidden: []string{"/etc", w.home + "/.ssh"},
		Own:       []string{w.own + "/config.toml", w.own + "/data", w.own + "/run", w.own + "/keys", w.own + "/cache", w.own + "/tmp"},
		Cache:     filepath.Join(w.own, "cache/main"),
	}
	t.Cleanup(func() {
		if err := w.ladder.Close(); err != nil {
			t.Error(err)
		}
	})
	st, err := w.ladder.Find(t.Context(), rung)
	if err != nil {
		t.Fatal(err)
	}
	if !st.Works() {
		if os.Getenv("CI") == "true" && runtime.GOOS == "linux" {
			t.Fatalf("%s does not work: %s", rung, st.Why())
		}
		t.Skipf("%s does not work here: %s", rung, st.Why())
	}
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// env is the environment of a command of this user.
func (w *world) env() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "LANG=C", "USER=you", "TMPDIR=/nonexistent"}, w.extra...)
}

// testBinary is this program, which makes attempts from inside.
func testBinary(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

func (w *world) box() *Box {
	b := w.ladder.Open(w.session)
	w.t.Cleanup(func() {
		if err := b.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return b
}

// sh runs a script in the session's directory and returns what it wrote, and
// its exit code.
func (w *world) sh(want Want, script string) (string, int) {
	w.t.Helper()
	return w.run(w.box(), want, "sh", "-c", script)
}

func (w *world) run(b *Box, want Want, argv ...string) (string, int) {
	w.t.Helper()
	var out bytes.Buffer
	s, err := b.Confine(w.t.Context(), want, proc.Spec{Argv: argv, Dir: w.cwd, Env: w.env(), Stdout: &out, Stderr: &out})
	if err != nil {
		w.t.Fatal(err)
	}
	return start(w.t.Context(), w.t, s, &out)
}

func start(ctx context.Context, t *testing.T, s proc.Spec, out *bytes.Buffer) (string, int) {
	t.Helper()
	p, err := proc.Start(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String()), exit.Code
}

//go:build unix

package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// helperVar makes the test binary a parent that starts the script in it and
// then waits for ever, so that a test can kill it.
const helperVar = "PROC_TEST_SCRIPT"

func TestMain(m *testing.M) {
	if script := os.Getenv(helperVar); script != "" {
		helper(script)
	}
	crasher()
	goleak.VerifyTestMain(m)
}

func helper(script string) {
	_, err := Start(context.Background(), Spec{
		Argv:   []string{"sh", "-c", script},
		Env:    os.Environ(),
		Stdout: os.Stdout,
		Grace:  5 * time.Second,
	})
	if err != nil {
		os.Exit(1)
	}
	select {}
}

// stubborn starts a TERM-ignorer, a grandchild in a session of its own and an
// orphan, prints their pids and then one line saying that all are up.
const stubborn = `
trap '' TERM
echo $$
( trap '' TERM; echo $(exec sh -c 'echo $PPID'); sleep 1000 & sleep 1001 ) &
if command -v setsid >/dev/null; then setsid sh -c 'trap "" TERM; echo $$; (setsid sleep 1002 & echo $!); exec sleep 1003' & fi
sleep 0.3
echo up
wait
`

func TestTreeIsGone(t *testing.T) {
	for name, end := range map[string]func(*Proc, context.CancelFunc){
		"cancel": func(_ *Proc, cancel context.CancelFunc) { cancel() },
		"kill":   func(p *Proc, _ context.CancelFunc) { p.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, w := pipe(t)
			p, err := Start(ctx, Spec{Argv: []string{"sh", "-c", stubborn}, Stdout: w})
			if err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			pids := readPids(t, r)
			end(p, cancel)
			within(t, time.Second, p.Done())
			requireGone(t, pids, 0)
			exit, err := p.Wait()
			if err != nil || exit.Signal != "SIGKILL" || exit.Code != -1 {
				t.Errorf("exit = %+v, %v; want SIGKILL", exit, err)
			}
		})
	}
}

func TestTreeIsGoneAfterOurDeath(t *testing.T) {
	r, w := pipe(t)
	self := exec.Command(os.Args[0])
	self.Env = append(os.Environ(), helperVar+"="+stubborn)
	self.Stdout = w
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	pids := readPids(t, r)
	if err := self.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = self.Wait()
	requireGone(t, pids, time.Second)
}

// A process that replaces itself by a child all the time is nowhere for long.
// Done means that no descendant is left, so Done in time is all there is to ask.
func TestRespawnerIsCaught(t *testing.T) {
	script := filepath.Join(t.TempDir(), "respawn.sh")
	if err := os.WriteFile(script, []byte("sh $0 &\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w := pipe(t)
	p, err := Start(t.Context(), Spec{Argv: []string{"sh", "-c", "sh " + script + "; echo up; sleep 1000"}, Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_ = readPids(t, r)
	p.Kill()
	within(t, 2*time.Second, p.Done())
	if _, err := p.Wait(); err != nil {
		t.Error(err)
	}
}

func TestBackgroundChildrenEndWithTheCommand(t *testing.T) {
	var out bytes.Buffer
	p, err := Start(t.Context(), Spec{Argv: []string{"sh", "-c", `sleep 1000 & echo $!; exit 3`}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	within(t, time.Second, p.Done())
	exit, err := p.Wait()
	if err != nil || exit.Code != 3 {
		t.Errorf("exit = %+v, %v; want 3", exit, err)
	}
	requireGone(t, pidsIn(t, out.String()), 0)
}

func TestGraceLetsAChildFinish(t *testing.T) {
	r, w := pipe(t)
	p, err := Start(t.Context(), Spec{
		Argv:   []string{"sh", "-c", `trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done`},
		Stdout: w,
		Grace:  10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	_ = readPids(t, r)
	p.Stop()
	within(t, 5*time.Second, p.Done())
	rest, _ := io.ReadAll(r)
	if exit, err := p.Wait(); err != nil || exit.Code != 7 || string(rest) != "bye\n" {
		t.Errorf("exit = %+v, %v, output %q; want 7 and bye", exit, err, rest)
	}
}

func TestGuardKilled(t *testing.T) {
	r, w := pipe(t)
	p, err := Start(t.Context(), Spec{Argv: []string{"sh", "-c", "echo $$; echo up; sleep 1000"}, Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	pids := readPids(t, r)
	guard := parent(t, p.Pid())
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); !errors.Is(err, ErrSurvivors) {
		t.Errorf("err = %v, want ErrSurvivors", err)
	}
	requireGone(t, pids, time.Second)
}

func TestStreamsAndExit(t *testing.T) {
	var out, errOut bytes.Buffer
	dir := t.TempDir()
	p, err := Start(t.Context(), Spec{
		Argv:   []string{"sh", "-c", `cat; pwd; echo "$X" >&2; exit 42`},
		Dir:    dir,
		Env:    []string{"PATH=" + os.Getenv("PATH"), "X=y"},
		Stdin:  strings.NewReader("in "),
		Stdout: &out,
		Stderr: &errOut,
	})
	if err != nil {
		t.Fatal(err)
	}
	exit, err := p.Wait()
	if err != nil || exit != (Exit{Code: 42}) {
		t.Errorf("exit = %+v, %v; want 42", exit, err)
	}
	if out.String() != "in "+dir+"\n" || errOut.String() != "y\n" {
		t.Errorf("stdout %q, stderr %q", &out, &errOut)
	}
	p.Stop()
	p.Kill() // both are fine after the end
}

func TestChildHasNoDescriptorsOfOurs(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	var out bytes.Buffer
	p, err := Start(t.Context(), Spec{Argv: []string{"ls", "/proc/self/fd"}, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	// 3 is the directory that ls reads.
	if _, err := p.Wait(); err != nil || out.String() != "0\n1\n2\n3\n" {
		t.Errorf("descriptors %q, %v", &out, err)
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := file("plain", "text", 0o644)
	script := file("script", "#!/no/such/interp -x\n", 0o755)
	garbage := file("garbage", "\x00\x01\x02", 0o755)
	for name, tc := range map[string]struct {
		spec   Spec
		reason error
		blames string
	}{
		"R3a command missing":       {Spec{Argv: []string{"no-such-prog"}}, ErrCommandMissing, "no-such-prog"},
		"R3a path missing":          {Spec{Argv: []string{"./nope"}, Dir: dir}, ErrCommandMissing, filepath.Join(dir, "nope")},
		"R3b cwd missing":           {Spec{Argv: []string{"sh"}, Dir: dir + "/gone"}, ErrDirMissing, dir + "/gone"},
		"R3c cwd is a file":         {Spec{Argv: []string{"sh"}, Dir: plain}, ErrDirNotDirectory, plain},
		"R3d interpreter missing":   {Spec{Argv: []string{script}}, ErrInterpreterMissing, "/no/such/interp"},
		"R3e no execute bit":        {Spec{Argv: []string{plain}}, ErrNotExecutable, plain},
		"R3e not a program":         {Spec{Argv: []string{garbage}}, ErrNotExecutable, garbage},
		"R3e not executable (PATH)": {Spec{Argv: []string{"plain"}, Env: []string{"PATH=" + dir}}, ErrNotExecutable, plain},
		"directory":                 {Spec{Argv: []string{dir}}, ErrNotExecutable, dir},
		"below a file":              {Spec{Argv: []string{plain + "/x"}}, ErrCommandMissing, plain + "/x"},
		"empty":                     {Spec{}, ErrCommandMissing, `""`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(t.Context(), tc.spec)
			var se *StartError
			if !errors.As(err, &se) || !errors.Is(err, tc.reason) || se.Path != tc.blames {
				t.Fatalf("err = %v (%+v); want %v blaming %s", err, se, tc.reason, tc.blames)
			}
			if !strings.Contains(err.Error(), tc.blames) {
				t.Errorf("message %q does not name %s", err, tc.blames)
			}
		})
	}
}

func TestContextAlreadyDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p, err := Start(ctx, Spec{Argv: []string{"sleep", "1000"}})
	if err != nil {
		t.Fatal(err)
	}
	within(t, time.Second, p.Done())
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// readPids reads numbers until a line that says "up".
func readPids(t *testing.T, r io.Reader) []int {
	t.Helper()
	var text strings.Builder
	for buf := make([]byte, 1); !strings.HasSuffix(text.String(), "up\n"); {
		if _, err := r.Read(buf); err != nil {
			t.Fatalf("after %q: %v", text.String(), err)
		}
		text.Write(buf)
	}
	return pidsIn(t, strings.TrimSuffix(text.String(), "up\n"))
}

func pidsIn(t *testing.T, text string) []int {
	t.Helper()
	var pids []int
	for _, f := range strings.Fields(text) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func within(t *testing.T, d time.Duration, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(d):
		t.Fatalf("not done within %v", d)
	}
}

// requireGone polls, for there is nothing to wait on: the processes are not
// our children.
func requireGone(t *testing.T, pids []int, d time.Duration) {
	t.Helper()
	deadline := time.Now().Add(d)
	for _, pid := range pids {
		for alive(pid) {
			if time.Now().After(deadline) {
				t.Errorf("process %d is alive after %v", pid, d)
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !bytes.Contains(stat, []byte(") Z "))
}

func parent(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	return pidsIn(t, string(out))[0]
}

func BenchmarkRunTrue(b *testing.B) {
	for b.Loop() {
		p, err := Start(b.Context(), Spec{Argv: []string{"true"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRunTrueAlone(b *testing.B) {
	for b.Loop() {
		if err := exec.Command("true").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// What a child is given besides arrives as 3 and on, and nothing of it stays
// with us or with the shim: the pipe ends with the child.
func TestFiles(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	text, err := os.Open("proc.go")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p, err := Start(t.Context(), Spec{
		Argv:  []string{"sh", "-c", `read -r line <&4; echo "$line" >&3; ls /dev/fd/5 2>/dev/null`},
		Files: []*os.File{w, text}, Stdout: &out,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !strings.HasPrefix(string(got), "// Package proc") {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := p.Wait(); err != nil || out.Len() > 0 {
		t.Errorf("%v; it also has %s", err, out.String())
	}
	if _, err := Start(t.Context(), Spec{Argv: []string{"no-such-program"}, Files: []*os.File{r}}); err == nil || r.Close() == nil {
		t.Errorf("a start that failed (%v) left its file open", err)
	}
}

func BenchmarkRunTrueInCustody(b *testing.B) {
	c := NewCustody(Options{Dir: b.TempDir(), ID: "i_bench", Alive: func(string) bool { return false }})
	for b.Loop() {
		p, err := c.Start(b.Context(), Spec{Argv: []string{"true"}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		b.Error(err)
	}
}

//go:build unix

package proc

import (
	"io"
	"os"
	"testing"
	"time"
)

// TestLadder is a program that saves its state when it is told to end, in the
// three ways programs take it (case L5).
func TestLadder(t *testing.T) {
	const soon = 50 * time.Millisecond
	for name, tc := range map[string]struct {
		script     string
		eof, grace time.Duration
		want       string // what it still says
		exit       Exit
	}{
		"ends at the end of input": {
			`echo up; cat >/dev/null; sleep 0.3; echo saved`, time.Minute, 0, "saved\n", Exit{},
		},
		"ends at SIGTERM": {
			`trap 'echo saved; exit 7' TERM; echo up; while :; do sleep 0.01; done`, soon, time.Minute, "saved\n", Exit{Code: 7},
		},
		"ignores both": {
			`trap '' TERM; echo up; while :; do sleep 0.01; done`, soon, soon, "", Exit{Code: -1, Signal: "SIGKILL"},
		},
		"has no grace": {
			`echo up; cat >/dev/null; sleep 1000`, 0, 0, "", Exit{Code: -1, Signal: "SIGKILL"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, w := pipe(t)
			p, err := Start(t.Context(), Spec{
				Argv: []string{"sh", "-c", tc.script}, StdinPipe: true, Stdout: w, EOFGrace: tc.eof, Grace: tc.grace,
			})
			if err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			_ = readPids(t, r)
			p.Stop()
			p.Stop() // changes nothing
			within(t, 5*time.Second, p.Done())
			rest, _ := io.ReadAll(r)
			if exit, err := p.Wait(); err != nil || exit != tc.exit || string(rest) != tc.want {
				t.Errorf("exit %+v, %v, output %q; want %+v and %q", exit, err, rest, tc.exit, tc.want)
			}
		})
	}
}

func TestStdinPipe(t *testing.T) {
	r, w := pipe(t)
	p, err := Start(t.Context(), Spec{Argv: []string{"cat"}, StdinPipe: true, Stdout: w})
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	if _, err := io.WriteString(p.Stdin(), "hello"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(r)
	if exit, err := p.Wait(); err != nil || exit != (Exit{}) || string(out) != "hello" {
		t.Errorf("exit %+v, %v, output %q", exit, err, out)
	}
	p, err = Start(t.Context(), Spec{Argv: []string{"true"}, StdinPipe: true})
	if err != nil {
		t.Fatal(err)
	}
	within(t, 5*time.Second, p.Done())
	if _, err := p.Stdin().Write([]byte("x")); err == nil {
		t.Error("a write to a program that has ended succeeds")
	}
	if p, err = Start(t.Context(), Spec{Argv: []string{"true"}}); err != nil || p.Stdin() != nil {
		t.Errorf("Stdin without a pipe: %v, %v", p.Stdin(), err)
	}
	<-p.Done()
}

// A kill does not wait for what a stop is waiting for.
func TestKillOvertakesStop(t *testing.T) {
	p, err := Start(t.Context(), Spec{
		Argv: []string{"sleep", "1000"}, Env: os.Environ(), StdinPipe: true, EOFGrace: time.Hour, Grace: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	p.Kill()
	within(t, 5*time.Second, p.Done())
}

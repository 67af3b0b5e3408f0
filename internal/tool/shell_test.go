//go:build unix

package tool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestShell(t *testing.T) {
	env := newEnv(t, map[string]string{"sub/x": ""})
	for input, want := range map[string]string{
		`{"command":"echo out; echo err >&2"}`:               "out\nerr\n[exit code 0]",
		`{"command":"true"}`:                                 "[no output]\n[exit code 0]",
		`{"command":"printf '%s' 'a b;$HOME'"}`:              "a b;$HOME\n[exit code 0]",
		`{"command":"pwd"}`:                                  env.Cwd + "\n[exit code 0]",
		`{"command":"pwd","cwd":"sub"}`:                      env.Cwd + "/sub\n[exit code 0]",
		`{"command":"cat; echo $GRAPNEL_SHELL $SECRET_KEY"}`: "acp\n[exit code 0]",
	} {
		t.Setenv("SECRET_KEY", "leaked")
		if res := run(t, env, shell{}, input); res.Text != want {
			t.Errorf("%s: got %q, want %q", input, res.Text, want)
		}
	}
	call := prepare(t, env, shell{}, `{"command":"echo  a\nexit 3"}`)
	res := call.Run(t.Context(), &recorder{})
	if !res.IsError || res.Text != "a\n[exit code 3]" || string(res.RawOutput) != `{"exitCode":3,"outputBytes":2}` {
		t.Errorf("result %+v %s", res, res.RawOutput)
	}
	if call.Title != "`echo a exit 3`" || call.Subject.Command != "echo  a\nexit 3" || call.Subject.Cwd != env.Cwd || call.Subject.Look == nil {
		t.Errorf("call %+v", call)
	}
	refuses(t, env, shell{}, `{"command":"kill -9 $$"}`, "ended by SIGKILL")
	refuses(t, env, shell{}, `{"command":" "}`, `"command" is missing`)
	refuses(t, env, shell{}, `{"command":"a\u0000b"}`, "NUL")
	refuses(t, env, shell{}, `{"command":"true","timeout_seconds":601}`, "from 1 to 600")
	refuses(t, env, shell{}, `{"command":"true","cwd":"/"}`, "outside")
	env.ShellEnv = []string{"PATH=/nowhere"}
	refuses(t, env, shell{}, `{"command":"true"}`, "there is no program sh")
}

// F8: 150 KiB of a character of three bytes arrive whole, though the pipe cuts
// them anywhere.
func TestF8NoRuneIsCut(t *testing.T) {
	env := newEnv(t, map[string]string{"text": strings.Repeat("你", 50<<10)})
	out := &recorder{}
	res := prepare(t, env, shell{}, `{"command":"cat text"}`).Run(t.Context(), out)
	shown := res.Content[0].Text
	if strings.Count(shown, "你") != 50<<10 || strings.Contains(shown, "\uFFFD") {
		t.Errorf("shown: %d characters of %d bytes", strings.Count(shown, "你"), len(shown))
	}
	if strings.Contains(res.Text, "\uFFFD") || len(res.Text) > 65<<10 || !strings.Contains(res.Text, "bytes left out") {
		t.Errorf("for the model: %d bytes", len(res.Text))
	}
	for _, c := range out.shown {
		if strings.Contains(c[0].Text, "\uFFFD") {
			t.Errorf("an update of %d bytes has a broken character", len(c[0].Text))
		}
	}
	if sum := out.bytes() + len(shown); sum > 5*len(shown) {
		t.Errorf("%d bytes on the wire for %d", sum, len(shown))
	}
}

func TestShellOutputIsBounded(t *testing.T) {
	env := newEnv(t, nil)
	res := run(t, env, shell{}, `{"command":"echo first; yes | head -c 3000000; echo last"}`)
	shown := res.Content[0].Text
	if len(shown) > 513<<10 || !strings.Contains(shown, "first\n") || !strings.Contains(shown, "last\n") {
		t.Errorf("shown: %d bytes", len(shown))
	}
	if !strings.HasPrefix(res.Text, "first\n") || !strings.HasSuffix(res.Text, "last\n[exit code 0]") || !strings.Contains(res.Text, "bytes left out") {
		t.Errorf("for the model: %d bytes", len(res.Text))
	}
}

func TestShellStreams(t *testing.T) {
	env := newEnv(t, nil)
	seen := make(chan string, 10)
	call := prepare(t, env, shell{}, `{"command":"echo begun; until [ -e go ]; do sleep 0.01; done; echo done"}`)
	sink := SinkFunc(func(c []Content) {
		seen <- c[0].Text
		_ = os.WriteFile(filepath.Join(env.Cwd, "go"), nil, 0o600)
	})
	res := call.Run(t.Context(), sink)
	if first := <-seen; first != "```\nbegun\n```" || res.Text != "begun\ndone\n[exit code 0]" {
		t.Errorf("first %q, result %+v", first, res)
	}
}

func TestShellTimeoutAndCancel(t *testing.T) {
	env := newEnv(t, nil)
	res := prepare(t, env, shell{}, `{"command":"echo begun; sleep 1000","timeout_seconds":1}`).Run(t.Context(), &recorder{})
	if !res.IsError || !strings.Contains(res.Text, "begun\n[ended by its timeout of 1s") || !strings.Contains(string(res.RawOutput), `"timedOut":true`) {
		t.Errorf("timeout: %+v %s", res, res.RawOutput)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	call := prepare(t, env, shell{}, `{"command":"trap '' TERM; sleep 1000 & echo $!; wait"}`)
	var pid string
	sink := SinkFunc(func(c []Content) {
		pid = strings.Trim(c[0].Text, "`\n")
		cancel(errors.New("the person cancelled"))
	})
	began := time.Now()
	res = call.Run(ctx, sink)
	if took := time.Since(began); !res.IsError || !strings.Contains(res.Text, "[cancelled") || took > 2*time.Second {
		t.Errorf("cancel: %+v after %v", res, took)
	}
	if n, err := strconv.Atoi(pid); err != nil || !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
		t.Errorf("process %q is alive", pid)
	}
}

func TestShellEndsWhatItLeftBehind(t *testing.T) {
	env := newEnv(t, nil)
	res := run(t, env, shell{}, `{"command":"(sleep 1000 & echo $!)"}`)
	pid, _, _ := strings.Cut(res.Text, "\n")
	if n, err := strconv.Atoi(pid); err != nil || !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
		t.Errorf("process %q is alive", pid)
	}
}

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"grapnel": main, "mcptest": mcptest.Main})
}

// TestScripts runs the command line the way a user does, each script in a
// fresh home.
func TestScripts(t *testing.T) {
	gateways := &daemons{all: make(map[*testscript.TestScript]*daemon)}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("TZ", "UTC")
			env.Setenv("GORACE", "atexit_sleep_ms=10") // a second per command otherwise
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "talk": talk, "hold": hold, "sql": sqlCmd, "freeze": freeze,
			"gateway": gateways.start, "signal": gateways.signal, "logged": gateways.logged, "fetch": fetch,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "freeze":
				return fieldtest.CanFreeze(), nil
			case "sandbox": // CI has to have one
				ladder := sandbox.New(sandbox.Options{Path: os.Getenv("PATH")})
				st, err := ladder.Find(t.Context(), sandbox.Auto)
				return os.Getenv("CI") != "" || err == nil && st.Works(), ladder.Close()
			case "signals":
				return runtime.GOOS != "windows", nil
			case "root":
				return os.Getuid() == 0, nil
			case "tty":
				return runtime.GOOS == "linux" || runtime.GOOS == "darwin", nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
	})
}

// exits CODE PROGRAM ARGS... runs a program that has to end with the exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT...]")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("%s ended with %d, not %s", args[1], code, args[0])
	}
}

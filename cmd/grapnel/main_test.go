package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"grapnel": main, "mcptest": mcptest.Main})
}

// TestScripts runs the command line the way a user does, each script in a
// fresh home.
func TestScripts(t *testing.T) {
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
			"talk": talk, "hold": hold, "sql": sqlCmd, "freeze": freeze,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "freeze":
				return fieldtest.CanFreeze(), nil
			case "root":
				return os.Getuid() == 0, nil
			case "tty":
				return runtime.GOOS == "linux" || runtime.GOOS == "darwin", nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
	})
}

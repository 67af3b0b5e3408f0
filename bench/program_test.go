package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // as in cmd/grapnel
)

// built is where the programs under measurement are, once one is wanted.
var built = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "grapnel-bench-") })

// The programs, built as releases are.
var (
	grapnel       = sync.OnceValues(func() (string, error) { return build("../cmd/grapnel") })
	baseline      = sync.OnceValues(func() (string, error) { return build("./baseline") })
	bridgeProgram = sync.OnceValues(func() (string, error) { return build("../cmd/grapnel-acp-bridge") })
)

func TestMain(m *testing.M) {
	mcptest.Main()
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func build(pkg string) (string, error) {
	dir, err := built()
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, bytes.TrimSpace(msg))
	}
	return out, nil
}

// program returns the path of a program.
func program(tb testing.TB, path func() (string, error)) string {
	tb.Helper()
	p, err := path()
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

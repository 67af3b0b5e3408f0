package testbed

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/cli"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // guards children, as in the program
)

// runAsProgram is the variable by which a test binary knows that it is to be
// grapnel.
const runAsProgram = "TESTBED_RUN_AS_GRAPNEL"

// binaryEnv is set by scripts/interop: the built binary is to be tested, not
// the test binary in its place.
const binaryEnv = "GRAPNEL_INTEROP"

// Main is for TestMain. It makes a test binary grapnel when a Bed starts it as
// such, which spares a build and has the race detector look on.
func Main(m *testing.M) {
	if os.Getenv(runAsProgram) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
	})
	stop()
	os.Exit(code)
}

// command returns what runs grapnel.
func command(tb testing.TB) []string {
	tb.Helper()
	if os.Getenv(binaryEnv) == "" {
		self, err := os.Executable()
		if err != nil {
			tb.Fatal(err)
		}
		return []string{self}
	}
	binary := filepath.Join(Root(tb), "bin", "grapnel")
	if _, err := os.Stat(binary); err != nil {
		tb.Fatalf("%v; run make build first", err)
	}
	return []string{binary}
}

// Root returns the root of the repository.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			tb.Fatal("the test does not run inside the repository")
		}
		dir = parent
	}
}

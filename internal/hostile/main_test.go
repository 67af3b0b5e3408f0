//go:build linux

package hostile

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/cli"
	"github.com/grapnel-ai/grapnel/internal/fieldtest"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // as in cmd/grapnel
)

// TestMain is grapnel itself where the tests start the binary as such.
func TestMain(m *testing.M) {
	if outside := os.Getenv(asServer); outside != "" {
		if err := serve(outside); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(fieldtest.AsMain) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
	})
	stop()
	os.Exit(code)
}

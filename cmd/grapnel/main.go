// Command grapnel connects editors, chats and scripts to coding agents over the
// Agent Client Protocol.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/grapnel-ai/grapnel/internal/cli"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // takes over when we are started to guard a child
)

//go:generate sh -c "go run . config schema --markdown > ../../docs/config.md"
//go:generate sh -c "go run . help --markdown > ../../docs/commands.md"

// version is set by the linker for a release.
var version string

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup wants it ignored
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	code := cli.Run(ctx, cli.Env{
		Args:    os.Args[1:],
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Environ: os.Environ(),
		Version: version,
	})
	stop()
	os.Exit(code)
}

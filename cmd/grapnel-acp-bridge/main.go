// Command grapnel-acp-bridge connects an editor, which can only run a command, to
// a gateway: grapnel acp --url … without the rest of Grapnel.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/grapnel-ai/grapnel/internal/bridge/start"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// version is set by the linker for a release.
var version string

const about = `Usage: grapnel-acp-bridge [flags]

Connects an editor on stdin and stdout to a gateway. stdout carries protocol
messages and nothing else; logs go to stderr. It ends when stdin is closed.

Exit codes: 0 done, 1 the gateway could not be reached or requests were left
without an answer, 2 wrong usage, credential or address.

Flags:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	out := os.Stdout
	os.Stdout = os.Stderr // the protocol's stream is for nothing else
	code := run(ctx, os.Args[1:], out)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out *os.File) int {
	var f start.Flags
	w := start.World{Environ: os.Environ(), Version: release(), Stdin: os.Stdin, Stdout: out, Stderr: os.Stderr}
	set := pflag.NewFlagSet("grapnel-acp-bridge", pflag.ContinueOnError)
	set.Usage = func() {}
	set.SortFlags = false
	f.Bind(set)
	dir := set.String("config-dir", "", "configuration `directory` (default $"+config.HomeEnv+", else ~/.grapnel)")
	set.StringVar(&w.Agent, "agent", "", "agent `alias` of sessions that name none")
	set.BoolVarP(&w.Verbose, "verbose", "v", false, "log to stderr what is done")
	showVersion := set.Bool("version", false, "print the version")
	err := set.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(out, about+set.FlagUsages())
		return start.ExitOK
	case err != nil:
		return fail(fmt.Errorf("%w; see grapnel-acp-bridge --help", err), start.ExitRefused)
	case *showVersion:
		fmt.Fprintln(out, "grapnel-acp-bridge", w.Version)
		return start.ExitOK
	case set.NArg() > 0:
		return fail(fmt.Errorf("grapnel-acp-bridge takes no arguments, but %q was given", set.Arg(0)), start.ExitRefused)
	}
	if w.Home, err = config.FindHome(*dir, os.Getenv); err != nil {
		return fail(err, start.ExitRefused)
	}
	err = start.Run(ctx, &f, w)
	return fail(err, start.ExitCode(err))
}

func fail(err error, code int) int {
	if err == nil {
		return code
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(os.Stderr, "grapnel-acp-bridge: "+printable.Text(strings.TrimRight(line, "\n")))
	}
	return code
}

// release is the version of a release, or what the module knows.
func release() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "dev"
}

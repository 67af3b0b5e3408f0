package start

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/beacon"
	"github.com/grapnel-ai/grapnel/internal/bridge"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// World is what a bridge is started in.
type World struct {
	Home    config.Home
	Environ []string // as os.Environ gives it
	Version string
	Stdin   io.Reader
	Stdout  io.Writer // of the protocol alone
	Stderr  io.Writer
	Verbose bool
	Agent   string // the default of sessions that name none
}

// The exit codes of a bridge.
const (
	ExitOK      = 0
	ExitLost    = 1 // the gateway could not be reached, or requests were left without an answer
	ExitRefused = 2 // the command line, the credential or the address is wrong
)

// Warnings about credentials in the arguments.
const (
	tokenInArgs    = "the token is on the command line, where other users of this machine can read it: use --token-file"
	passwordInArgs = "the password is on the command line, where other users of this machine can read it: use --password-file"
)

// Run bridges until the client closes its side. The error says why requests
// were left without an answer.
func Run(ctx context.Context, f *Flags, w World) error {
	if err := f.Check(); err != nil {
		return err
	}
	seen := secret.NewRedactor(f.Token, f.Password, f.PairCode)
	level := slog.LevelWarn
	if w.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(seen.Writer(w.Stderr), &slog.HandlerOptions{Level: level}))
	switch {
	case f.Token != "":
		log.Warn(tokenInArgs)
	case f.Password != "":
		log.Warn(passwordInArgs)
	}
	t := &finder{flags: f, world: w, seen: seen}
	client := acp.NewStdio(w.Stdin, w.Stdout, 0)
	return seen.Error(bridge.New(client, bridge.Options{
		Target: t.find, Version: w.Version, Logger: log,
		SessionKey: f.Session, SessionLabel: f.SessionLabel, RequireExisting: f.RequireExisting, Reset: f.Reset,
		NoPrefixCwd: f.NoPrefix, Provenance: bridge.Provenance(f.Provenance),
		ClientFs: f.ClientFs, ToolsClient: f.Tools == "client",
	}).Run(ctx))
}

// ExitCode is the exit code for an error of Run.
func ExitCode(err error) int {
	usage, refused := (*UsageError)(nil), (*bridge.RefusedError)(nil)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage), errors.As(err, &refused):
		return ExitRefused
	}
	return ExitLost
}

// RemoteSet reports whether gateway.remote.url is set. A configuration that
// cannot be read sets nothing: what serves then says what is wrong with it.
func RemoteSet(home config.Home, environ []string) bool {
	text, err := os.ReadFile(home.File())
	named := func(entry string) bool { return strings.HasPrefix(entry, "GRAPNEL_gateway__remote__url=") }
	if (err != nil || !bytes.Contains(text, []byte("remote"))) && !slices.ContainsFunc(environ, named) {
		return false // without the cost of reading it all, which an editor waits for
	}
	c, err := config.Load(home, environ)
	return err == nil && c.Gateway.Remote.URL != ""
}

// LocalRuns reports whether a gateway runs on the configuration directory.
func LocalRuns(home config.Home) bool {
	_, err := beacon.Find(string(home))
	return err == nil
}

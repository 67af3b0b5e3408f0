package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/bridge/start"
	"github.com/grapnel-ai/grapnel/internal/config"
)

// setupWord is what the terminal login of ACP appends (app's auth method).
const setupWord = "setup"

// acpFlags are the flags of the acp command.
type acpFlags struct {
	agent       string
	maxSessions int
	timeout     int
	standalone  bool
	bridge      start.Flags
}

func (i *invocation) acpCommand() *cobra.Command {
	var f acpFlags
	cmd := &cobra.Command{
		Use:   "acp [setup]",
		Short: "Serve an agent over ACP on stdin and stdout",
		Long: `Serves an agent over the Agent Client Protocol on stdin and stdout, for an
editor to start. stdout carries protocol messages and nothing else; logs go to
stderr. It ends when stdin is closed, after finishing or cancelling what runs.

With the word setup it is grapnel setup instead: an editor that lets its user log
in appends that word to the command line it starts grapnel with. To talk to an
agent yourself, see grapnel acp client.

With --url, or where gateway.remote.url is set, it is a bridge to that gateway.
--session and its like act on the gateway of the configuration directory where
one runs, else on the sessions stored there. --standalone never looks for a
gateway.

Exit codes of a bridge: 0 done, 1 the gateway could not be reached or requests
were left without an answer, 2 wrong usage, credential or address.`,
		Args:      optionally(setupWord),
		ValidArgs: []string{setupWord},
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return i.setup(cmd, setupFlags{agent: f.agent})
			}
			for _, name := range []string{"max-sessions", "session-timeout"} {
				if err := atLeastOne(cmd, name); err != nil {
					return err
				}
			}
			return i.acp(cmd, &f)
		}),
	}
	cmd.Flags().StringVar(&f.agent, "agent", "", "agent `alias` of sessions that name none")
	cmd.Flags().IntVar(&f.maxSessions, "max-sessions", 0, "`number` of sessions that may be active (default acp.max_sessions)")
	cmd.Flags().IntVar(&f.timeout, "session-timeout", 0, "idle `seconds` before a session is parked (default acp.session_timeout_secs)")
	cmd.Flags().BoolVar(&f.standalone, "standalone", false, "look for no gateway and no other process")
	f.bridge.Bind(cmd.Flags())
	cmd.AddCommand(i.acpClientCommand())
	return cmd
}

func (i *invocation) acp(cmd *cobra.Command, f *acpFlags) (err error) {
	home, err := i.home()
	if err != nil {
		return err
	}
	bridges, err := f.bridges(home, i.env.Environ)
	if err != nil {
		return err
	}
	out, err := i.protocolOutput()
	if err != nil {
		return err
	}
	if bridges {
		return i.runBridge(cmd, f, home, out)
	}
	a, err := app.Open(cmd.Context(), app.Options{
		Home: home, Environ: i.env.Environ, Version: i.version().Version, Verbose: i.verbose, Stderr: i.env.Stderr,
		MaxSessions: f.maxSessions, SessionTimeout: time.Duration(f.timeout) * time.Second, Standalone: f.standalone,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Shutdown()) }()
	if isTerminal(i.env.Stdin) {
		fmt.Fprintln(i.env.Stderr, "grapnel: this speaks ACP with an editor, which starts it itself; see grapnel acp --help. Ctrl-D ends it.")
	}
	return a.ServeStdio(cmd.Context(), i.env.Stdin, out, app.StdioOptions{
		Agent: f.agent, SessionKey: f.bridge.Session, SessionLabel: f.bridge.SessionLabel,
		RequireExisting: f.bridge.RequireExisting, ResetSession: f.bridge.Reset,
	})
}

// bridges reports whether it is a gateway that serves the client.
func (f *acpFlags) bridges(home config.Home, environ []string) (bool, error) {
	if err := f.bridge.Check(); err != nil {
		return false, usagef("%v", err)
	}
	switch {
	case f.standalone && f.bridge.Bridges():
		return false, usagef("--standalone looks for no gateway, and flags for one were given too: choose one")
	case f.standalone:
		return false, nil
	case f.bridge.Bridges(), start.RemoteSet(home, environ):
		return true, nil
	}
	return f.bridge.Chooses() && start.LocalRuns(home), nil
}

func (i *invocation) runBridge(cmd *cobra.Command, f *acpFlags, home config.Home, out io.Writer) error {
	if err := i.checkEnvironment(home); err != nil {
		return err
	}
	err := start.Run(cmd.Context(), &f.bridge, start.World{
		Home: home, Environ: i.env.Environ, Version: i.version().Version, Agent: f.agent,
		Stdin: i.env.Stdin, Stdout: out, Stderr: i.env.Stderr, Verbose: i.verbose,
	})
	if err == nil {
		return nil
	}
	return &codeError{start.ExitCode(err), err}
}

// protocolOutput is where protocol messages go: the real standard output, which
// nothing else in the process can reach from then on.
func (i *invocation) protocolOutput() (io.Writer, error) {
	if i.env.Stdout != io.Writer(os.Stdout) {
		return i.env.Stdout, nil
	}
	return app.TakeStdout()
}

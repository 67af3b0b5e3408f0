// Package cli is the command line: it parses arguments, calls what does the
// work, and turns errors into sentences and exit codes. Each command is a file.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// The exit codes every command shares. Commands with further ones name them in
// their help.
const (
	ExitOK          = 0
	ExitFailed      = 1   // what was asked could not be done
	ExitUsage       = 2   // the command line is wrong
	ExitInterrupted = 130 // ended by an interrupt
)

// Env is what a command sees of the world.
type Env struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Environ []string // as os.Environ gives it
	Version string   // of the release; empty for a development build
}

// Run executes the command that env.Args names and returns the exit code. An
// error is written to env.Stderr, never to env.Stdout. Canceling ctx interrupts
// the command.
func Run(ctx context.Context, env Env) int {
	i := &invocation{env: env}
	root := i.root(i.needed(env.Args))
	args, theirs := cutServerArgs(env.Args)
	i.serverArgs = theirs
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	return i.exit(ctx, root.ExecuteContext(ctx))
}

// invocation is one run of the program: its world and the global flags.
type invocation struct {
	env        Env
	configDir  string
	serverArgs []string // what acp client was given for its server
	verbose    bool
	ran        bool // a command was found and its arguments were right
}

// all builds every command there is below the root.
func (i *invocation) all() []*cobra.Command {
	return []*cobra.Command{
		i.acpCommand(),
		i.auditCommand(),
		i.completionCommand(),
		i.configCommand(),
		i.demoCommand(),
		i.doctorCommand(),
		i.gatewayCommand(),
		i.manCommand(),
		i.mcpCommand(),
		i.policyCommand(),
		i.secretCommand(),
		i.sessionCommand(),
		i.setupCommand(),
		i.versionCommand(),
	}
}

// needed builds what a command line can mean: acp alone where it begins so, since
// an editor waits for that.
func (i *invocation) needed(args []string) []*cobra.Command {
	if len(args) > 0 && args[0] == "acp" {
		return []*cobra.Command{i.acpCommand()}
	}
	return i.all()
}

// root builds the command tree.
func (i *invocation) root(commands []*cobra.Command) *cobra.Command {
	root := i.group(&cobra.Command{
		Use:   "grapnel",
		Short: "Connect editors, chats and scripts to coding agents",
		Long: `Grapnel connects editors, chats and scripts to coding agents over the Agent
Client Protocol (ACP), and keeps every session.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.`,
		Version: i.version().Version,
	}, commands...)
	root.SetHelpCommand(i.helpCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(i.env.Stdin)
	root.SetOut(i.env.Stdout)
	root.SetErr(i.env.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.PersistentFlags().StringVar(&i.configDir, "config-dir", "", "configuration `directory` (default $"+config.HomeEnv+", else ~/.grapnel)")
	root.PersistentFlags().BoolVarP(&i.verbose, "verbose", "v", false, "log to stderr what is done")
	return root
}

// runE is a command's action; args have been checked.
type runE func(cmd *cobra.Command, args []string) error

// action marks that the command line was right before it runs the command.
func (i *invocation) action(run runE) runE {
	return func(cmd *cobra.Command, args []string) error {
		i.ran = true
		return run(cmd, args)
	}
}

// exit writes the error and returns the code of the process.
func (i *invocation) exit(ctx context.Context, err error) int {
	if err == nil {
		return ExitOK
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return ExitInterrupted
	}
	code := ExitFailed
	if usage := (*usageError)(nil); !i.ran || errors.As(err, &usage) {
		code = ExitUsage
	}
	coded := (*codeError)(nil)
	if errors.As(err, &coded) {
		code = coded.code
	}
	if coded != nil && coded.err == nil {
		return code // what there is to say has been said
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(i.env.Stderr, "grapnel: "+printable.Text(strings.TrimRight(line, "\n")))
	}
	return code
}

// getenv looks a variable up in the invocation's environment; like the
// system's, the first one counts.
func (i *invocation) getenv(name string) string {
	at := slices.IndexFunc(i.env.Environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	if at < 0 {
		return ""
	}
	return i.env.Environ[at][len(name)+1:]
}

// home returns the configuration directory.
func (i *invocation) home() (config.Home, error) {
	return config.FindHome(i.configDir, i.getenv)
}

// load returns the effective configuration.
func (i *invocation) load() (*config.Config, error) {
	home, err := i.home()
	if err != nil {
		return nil, err
	}
	c, err := config.Load(home, i.env.Environ)
	if err != nil {
		return nil, err
	}
	i.log().Debug("configuration loaded", "dir", string(home))
	return c, nil
}

// checkEnvironment returns what is wrong with the overrides in the environment,
// for commands that do not load the configuration.
func (i *invocation) checkEnvironment(home config.Home) error {
	wrong := slices.DeleteFunc(config.Check(home, i.env.Environ), func(p config.Problem) bool { return p.Var == "" || p.Warning })
	if len(wrong) > 0 {
		return &config.Error{Problems: wrong}
	}
	return nil
}

// log returns the logger to stderr; without -v it keeps to warnings.
func (i *invocation) log() *slog.Logger {
	level := slog.LevelWarn
	if i.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(i.env.Stderr, &slog.HandlerOptions{Level: level}))
}

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/acpclient"
	"github.com/grapnel-ai/grapnel/internal/config"
)

// The exit codes of acp client beyond those that all commands share.
const (
	exitCapped  = 3
	exitRefused = 4
	exitDenied  = 5
)

// serverArgs is the flag behind which everything is the server's.
const serverArgs = "--server-args"

// acpClientFlags are the flags of acp client.
type acpClientFlags struct {
	cwd, server, url, tokenFile string
	key, load, resume           string
	pass                        []string
	args, verbose               bool
	files                       bool
	tools                       string
}

func (i *invocation) acpClientCommand() *cobra.Command {
	var f acpClientFlags
	cmd := &cobra.Command{
		Use:   "client",
		Short: "Talk to an ACP agent in the terminal, or by script",
		Long: `Starts an agent, grapnel acp unless --server names another, and talks to it: on a
terminal with line editing, completion of commands by Tab and questions before
anything but a read in the directory is allowed; Ctrl-C cancels a turn, twice
quits. Where standard input is no terminal, each line of it is a prompt, what the
agent says goes to standard output and all else to standard error, and what would
have to be asked is denied.

-v logs the messages of both directions to standard error, without secrets.

Exit codes: 0 all turns ended well, 1 the agent failed, 2 wrong usage, 3 a turn
was cut short, 4 the agent refused, 5 a permission was denied for want of anybody
to ask, 130 interrupted.`,
		Example: `  grapnel acp client
  echo "read README.md" | grapnel acp client --cwd .
  grapnel acp client --server npx --server-args -y some-acp-agent
  grapnel acp client --url wss://gateway-host:42617 --token-file token.txt`,
		Args: arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error { return i.acpClient(cmd, f) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cwd, "cwd", "", "`directory` to work in (default: this one)")
	flags.StringVar(&f.server, "server", "", "`program` of the agent (default: this one, with acp)")
	flags.BoolVar(&f.args, "server-args", false, "everything after this goes to the server as it is")
	flags.BoolVar(&f.verbose, "server-verbose", false, "show what the server writes to standard error")
	flags.StringArrayVar(&f.pass, "server-env", nil, "`name` of a variable that --server gets although it may be a secret, or NAME=VALUE; may be repeated")
	flags.StringVar(&f.url, "url", "", "`address` of a gateway to talk to instead, by WebSocket")
	flags.StringVar(&f.tokenFile, "token-file", "", "`path` of the file that holds the token for --url")
	flags.StringVar(&f.key, "session", "", "`key` of the session to open or make")
	flags.StringVar(&f.load, "load", "", "`id` of a session to load, with its history")
	flags.StringVar(&f.resume, "resume", "", "`id` of a session to resume, without its history")
	flags.BoolVar(&f.files, "client-fs", false, "with --url: serve files of the directory to the gateway")
	flags.StringVar(&f.tools, "tools", "gateway", "with --url: `where` tools run: gateway, or client to serve files and terminals from here")
	return cmd
}

// cutServerArgs takes what stands behind --server-args of acp client out of a
// command line, so that nothing here reads it.
func cutServerArgs(args []string) (ours, theirs []string) {
	at := slices.Index(args, serverArgs)
	if at < 0 {
		return args, nil
	}
	noun := slices.Index(args[:at], "acp")
	if noun < 0 || !slices.Contains(args[noun:at], "client") {
		return args, nil
	}
	return args[:at+1], args[at+1:]
}

func (i *invocation) acpClient(cmd *cobra.Command, f acpClientFlags) error {
	o, err := i.clientOptions(f)
	if err != nil {
		return err
	}
	return clientExit(acpclient.Run(cmd.Context(), o))
}

// clientExit gives an end its exit code, and leaves out what has been shown.
func clientExit(err error) error {
	if err == nil {
		return nil
	}
	code := ExitFailed
	for _, end := range []struct {
		err  error
		code int
	}{
		{acpclient.ErrInterrupted, ExitInterrupted},
		{acpclient.ErrFailed, ExitFailed},
		{acpclient.ErrCapped, exitCapped},
		{acpclient.ErrRefused, exitRefused},
		{acpclient.ErrDenied, exitDenied},
	} {
		if errors.Is(err, end.err) {
			code = end.code
			break
		}
	}
	if shown := (*acpclient.ToldError)(nil); errors.As(err, &shown) || code == ExitInterrupted {
		err = nil
	}
	return &codeError{code: code, err: err}
}

// check finds what the flags alone make impossible.
func (f acpClientFlags) check() error {
	chosen := 0
	for _, session := range []string{f.key, f.load, f.resume} {
		if session != "" {
			chosen++
		}
	}
	started := f.args || f.verbose || len(f.pass) > 0 || f.server != ""
	switch {
	case chosen > 1:
		return usagef("--session, --load and --resume exclude each other")
	case f.url != "" && started:
		return usagef("--server and its --server-args, --server-env and --server-verbose are for an agent that is started; with --url there is none")
	case f.url == "" && (f.tokenFile != "" || f.files || f.tools != "gateway"):
		return usagef("--token-file, --client-fs and --tools need --url")
	case f.tools != "gateway" && f.tools != "client":
		return usagef("--tools must be gateway or client, not %q", f.tools)
	}
	return nil
}

// clientOptions are the flags as options.
func (i *invocation) clientOptions(f acpClientFlags) (acpclient.Options, error) {
	var o acpclient.Options
	if err := f.check(); err != nil {
		return o, err
	}
	cwd, err := directory(f.cwd)
	if err != nil {
		return o, err
	}
	home, err := i.home()
	if err != nil {
		return o, err
	}
	secrets := i.clientSecrets()
	o = acpclient.Options{
		Cwd: cwd, Key: f.key, Load: f.load, Resume: f.resume, Files: true, Terminals: true,
		Environ: clientEnviron(i.env.Environ), Forbidden: i.forbidden(), Own: ownBelow(cwd, home),
		Wire: i.verbose, ServerVerbose: f.verbose, Redact: secrets.Replace,
		Stdin: i.env.Stdin, Stdout: i.env.Stdout, Stderr: i.env.Stderr,
	}
	if isTerminal(i.env.Stdin) && isTerminal(i.env.Stdout) && i.getenv("TERM") != "dumb" {
		o.Terminal, _ = i.env.Stdin.(*os.File)
		o.Color = i.getenv("NO_COLOR") == ""
	}
	if f.url != "" {
		return o, i.dialed(&o, f, secrets)
	}
	return o, i.started(&o, f)
}

// ownBelow is the configuration directory where it lies in cwd: what is in it is
// for nobody.
func ownBelow(cwd string, home config.Home) []string {
	if rel, err := filepath.Rel(cwd, string(home)); err == nil && filepath.IsLocal(rel) && rel != "." {
		return []string{string(home)}
	}
	return nil
}

// directory is where the session works, with links resolved.
func directory(cwd string) (string, error) {
	abs, err := filepath.Abs(cwd)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", usagef("--cwd %s: %v", cwd, reason(err))
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", usagef("--cwd %s is not a directory", cwd)
	}
	return abs, nil
}

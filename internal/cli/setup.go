package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/setup"
)

// setupFlags are the answers given on the command line.
type setupFlags struct {
	provider, baseURL, model, keyEnv, keyFile, agent string
	try                                              bool
}

func (i *invocation) setupCommand() *cobra.Command {
	var f setupFlags
	cmd := &cobra.Command{
		Use:   setupWord,
		Short: "Choose a provider, a key and a model",
		Long: `Ask for a model provider, where its key is, and a model, and write them into
config.toml beside what is there. A key that is typed is kept in a file of its own
that only its user can read. With --provider nothing is asked.`,
		Example: `  grapnel setup
  grapnel setup --provider anthropic --key-env ANTHROPIC_API_KEY
  grapnel setup --provider local --base-url http://127.0.0.1:8080/v1 --model qwen3`,
		Args: arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error { return i.setup(cmd, f) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.provider, "provider", "", "provider `kind`, or a name of your own with --base-url")
	flags.StringVar(&f.baseURL, "base-url", "", "`address` of a server that speaks OpenAI's Chat Completions")
	flags.StringVar(&f.model, "model", "", "model `name` (default: the provider's)")
	flags.StringVar(&f.keyEnv, "key-env", "", "`name` of the variable that holds the key")
	flags.StringVar(&f.keyFile, "key-file", "", "`path` of the file that holds the key")
	flags.StringVar(&f.agent, "agent", "", "`alias` of the agent to set up (default: the one sessions get)")
	flags.BoolVar(&f.try, "try", false, "send the model one short message afterwards")
	return cmd
}

func (i *invocation) setup(cmd *cobra.Command, f setupFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	c, err := i.load()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	var t setup.Terminal
	var answers setup.Answers
	if f.provider != "" {
		answers, err = f.answers(c)
	} else if t, err = i.console(); err == nil {
		world := setup.World{Config: c, Getenv: i.getenv, Probe: config.ProbeModels}
		answers, err = world.Ask(ctx, t, f.agent)
	}
	if err != nil {
		return err
	}
	warnings, err := setup.Write(c.Home(), c, answers)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(i.env.Stderr, "grapnel: "+w.Error())
	}
	fmt.Fprintf(i.env.Stderr, "Wrote %s: %s.\n", c.Home().File(), answers.Summary())
	if err := i.recorded(ctx, c, audit.Config, "setup: "+answers.Summary()); err != nil {
		return err
	}
	return i.tryAgent(ctx, t, c.Home(), answers.Agent, f.try)
}

// check finds what the flags alone make impossible.
func (f setupFlags) check() error {
	switch {
	case f.keyEnv != "" && f.keyFile != "":
		return usagef("--key-env and --key-file exclude each other")
	case f.agent != "" && !config.ValidAlias(f.agent):
		return usagef("--agent must be 1 to 63 of a-z, 0-9 and single _ between them, not %q", f.agent)
	case f.baseURL != "" && !config.ValidBaseURL(f.baseURL):
		return usagef("--base-url must be an http or https address, not %q", f.baseURL)
	case f.keyEnv != "" && !setup.ValidVariable(f.keyEnv):
		return usagef("--key-env must be the name of a variable, not %q", f.keyEnv)
	case f.provider != "":
		return nil
	}
	for _, given := range [][2]string{
		{"base-url", f.baseURL},
		{"model", f.model},
		{"key-env", f.keyEnv},
		{"key-file", f.keyFile},
	} {
		if given[1] != "" {
			return usagef("--%s needs --provider; without it setup asks for everything", given[0])
		}
	}
	return nil
}

// answers are the flags as answers.
func (f setupFlags) answers(c *config.Config) (setup.Answers, error) {
	a := setup.Answers{BaseURL: f.baseURL, Model: f.model, KeyEnv: f.keyEnv, Agent: f.agent}
	var err error
	if a.Provider, a.Kind, err = setup.Resolve(c, f.provider, f.baseURL); err != nil {
		return a, usagef("%v", err)
	}
	if f.keyFile != "" {
		if a.KeyFile, err = filepath.Abs(f.keyFile); err == nil {
			err = setup.CheckFile(a.KeyFile)
		}
		if err != nil {
			return a, fmt.Errorf("the key file cannot be used: %w", err)
		}
	}
	if a.Agent == "" {
		a.Agent = setup.DefaultAgent(c)
	}
	return a, nil
}

// console is the terminal to ask on.
func (i *invocation) console() (setup.Terminal, error) {
	in, ok := i.env.Stdin.(*os.File)
	if !ok || !isTerminal(in) {
		return nil, usagef("setup asks its questions on a terminal, and there is none; give --provider, and --model, --key-env or --key-file as needed")
	}
	return setup.NewConsole(in, i.env.Stderr), nil
}

// tryAgent sends the agent's model a short message if that is wanted: t, if not
// nil, is where to ask.
func (i *invocation) tryAgent(ctx context.Context, t setup.Terminal, home config.Home, alias string, wanted bool) error {
	if t != nil && !wanted {
		answer, err := t.Choose(ctx, "Send the model one short message to see that it works?", []string{"yes", "no"}, 0)
		if err != nil {
			return err
		}
		wanted = answer == 0
	}
	if !wanted {
		return nil
	}
	said, err := app.Try(ctx, home, i.env.Environ, alias)
	if err != nil {
		return fmt.Errorf("the settings were written, but the model cannot be used: %w", err)
	}
	fmt.Fprintf(i.env.Stderr, "The model answers: %s\n", printable.Line(said))
	return nil
}

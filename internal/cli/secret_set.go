package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

func (i *invocation) secretSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set PATH",
		Short: "Store a credential, encrypted",
		Long: `Store a credential in config.toml, encrypted as age:… for the key in keys/identity.txt
of the configuration directory, which is made the first time. The value is asked
for on a terminal, without showing it, or read from standard input; never from the
command line, where other users and the shell's history would see it. Comments and
layout of the file stay. Keep a copy of the key file: without it the stored
secrets cannot be read.`,
		Example:           "  grapnel secret set providers.claude.api_key\n  pass show github | grapnel secret set mcp.servers.github.env.TOKEN",
		Args:              onlyPath,
		ValidArgsFunction: completeSecret,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			return i.secretSet(cmd.Context(), args[0])
		}),
	}
}

// onlyPath is arguments for a command that must not be given a secret.
func onlyPath(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%s takes no value on the command line, where other users and the shell's history see it; type it when asked, or pipe it in", cmd.CommandPath())
	}
	return arguments("PATH")(cmd, args)
}

func (i *invocation) secretSet(ctx context.Context, path string) error {
	p, err := secretPath(path)
	if err != nil {
		return err
	}
	c, err := i.load() // a broken file is told before anything is typed
	if err != nil {
		return err
	}
	value, err := i.secretValue(ctx, p)
	if err != nil {
		return err
	}
	keyFile := c.Home().KeyFile()
	_, missing := os.Stat(keyFile)
	ref, mended, err := secret.Seal(keyFile, value)
	if err != nil {
		return err
	}
	warnings, err := config.Set(c.Home(), p, ref)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(i.env.Stderr, "grapnel: "+w.Message)
	}
	if mended {
		fmt.Fprintf(i.env.Stderr, "grapnel: %s could be read by others, and now only by you; if someone may have, set your secrets anew with a new key\n", keyFile)
	}
	if errors.Is(missing, fs.ErrNotExist) {
		fmt.Fprintf(i.env.Stderr, "Made the key %s; keep a copy of it in a safe place.\n", keyFile)
	}
	fmt.Fprintf(i.env.Stderr, "Set %s, encrypted.\n", p)
	return i.recorded(ctx, c, audit.SecretSet, p.String())
}

// recorded puts a change on record.
func (i *invocation) recorded(ctx context.Context, c *config.Config, event audit.Event, what string) error {
	if err := app.Record(ctx, c, event, what); err != nil {
		return fmt.Errorf("the change was made, but %w", err)
	}
	return nil
}

// secretValue asks for the value on a terminal, or reads it from standard input.
func (i *invocation) secretValue(ctx context.Context, p config.Path) (value string, err error) {
	if isTerminal(i.env.Stdin) {
		value, err = readHidden(ctx, i.env.Stdin.(*os.File), i.env.Stderr, "Value of "+p.String()+" (not shown): ")
	} else {
		value, err = readValue(i.env.Stdin)
	}
	if err != nil {
		return "", err
	}
	value = strings.TrimSpace(value)
	if value == "" {
		return "", errors.New("no value was given; nothing was changed")
	}
	switch s := secret.NewRef(value).Scheme(); s {
	case secret.SchemeEnv, secret.SchemeFile, secret.SchemeCommand, secret.SchemeAge:
		return "", fmt.Errorf("the value begins with %s:, which is a reference and no secret; store it with grapnel config set %s -", s, p)
	}
	return value, nil
}

// completeSecret offers the settings with fixed names that hold a secret.
func completeSecret(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	all, directive := completeSetting(cmd, args, prefix)
	var found []cobra.Completion
	for _, c := range all {
		name, _, _ := strings.Cut(c, "\t")
		if p, err := config.ParsePath(name); err == nil && config.IsSecret(p) {
			found = append(found, c)
		}
	}
	return found, directive
}

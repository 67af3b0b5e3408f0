package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// maxValueBytes bounds a value read from standard input.
const maxValueBytes = 1 << 20

func (i *invocation) configSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set PATH VALUE",
		Short: "Change one setting in config.toml",
		Long: `Change one setting in config.toml, keeping comments, order and layout. Strings
need no quotes, lists are written a,b,c or as in TOML, sections as { key = "x" }.
The value - is read from standard input, which keeps a secret out of the process
list and the shell's history. A change that would not load is refused.`,
		Example: `  grapnel config set acp.default_agent main
  grapnel config set providers.local.base_url http://127.0.0.1:8080/v1
  pass show anthropic | grapnel config set providers.claude.api_key -`,
		Args:              arguments("PATH", "VALUE"),
		ValidArgsFunction: completeSetting,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			return i.configSet(cmd.Context(), args[0], args[1])
		}),
	}
}

func (i *invocation) configSet(ctx context.Context, path, value string) error {
	p, err := settingPath(path)
	if err != nil {
		return err
	}
	exposed := config.IsSecret(p) && secret.NewRef(value).Scheme() == secret.SchemeLiteral
	if value == "-" {
		if value, err = readValue(i.env.Stdin); err != nil {
			return err
		}
		exposed = false
	}
	home, err := i.home()
	if err != nil {
		return err
	}
	if err := i.checkEnvironment(home); err != nil {
		return err
	}
	warnings, err := config.Set(home, p, value)
	if err != nil {
		return err
	}
	if exposed {
		fmt.Fprintf(i.env.Stderr, "grapnel: %s was visible on the command line; env:NAME, file:PATH or the value - keep it hidden\n", p)
	}
	for _, w := range warnings {
		fmt.Fprintln(i.env.Stderr, "grapnel: "+w.Message)
	}
	c, err := i.load()
	if err != nil {
		return err
	}
	what := p.String()
	if holds, _ := config.HoldsSecret(p); !holds { // it is a setting, or it were not set
		what += " = " + value
	}
	return i.recorded(ctx, c, audit.Config, what)
}

func readValue(r io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxValueBytes+1))
	if err != nil {
		return "", fmt.Errorf("read the value from standard input: %w", err)
	}
	if len(data) > maxValueBytes {
		return "", fmt.Errorf("the value on standard input is longer than %d bytes", maxValueBytes)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
)

func (i *invocation) gatewayTokenCreateCommand() *cobra.Command {
	var r app.TokenRequest
	var expires string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a token and print it, once",
		Long: `Make a token and print it. It is not kept and cannot be shown again; of one that is
lost, revoke the name and make another. Each name is an owner with sessions of its
own, which no other owner sees; --owner adds the token to another owner, such as
local, who has the sessions of this machine's editors. What an owner's sessions may
do at most is [owners.NAME] ceiling in config.toml, supervised without one.`,
		Example: "  grapnel gateway token create laptop --owner local\n  grapnel gateway token create ci --role prompter --scope main --expires 30d --json",
		Args:    arguments("NAME"),
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			r.Name = args[0]
			if expires != "" {
				life, err := parseLife(expires)
				if err != nil {
					return err
				}
				r.Expires = time.Now().Add(life)
			}
			g, err := i.gateway()
			if err != nil {
				return err
			}
			t, err := g.CreateToken(cmd.Context(), r)
			if err != nil {
				return err
			}
			return i.printToken(t, asJSON)
		}),
	}
	cmd.Flags().StringVar(&r.Role, "role", "approver", "the most it may be in a session: `observer`, prompter or approver")
	cmd.Flags().StringSliceVar(&r.Scope, "scope", nil, "`agent` it may use; may be repeated (default all)")
	cmd.Flags().StringVar(&expires, "expires", "", "how `long` it is good, such as 12h or 30d (default for ever)")
	cmd.Flags().StringVar(&r.Owner, "owner", "", "`owner` whose sessions it has (default NAME)")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// maxLifeDays is a hundred years, which is for ever.
const maxLifeDays = 36500

// parseLife reads how long something is good for: a duration, or days as 30d.
func parseLife(text string) (time.Duration, error) {
	life, err := time.ParseDuration(text)
	if days, found := strings.CutSuffix(text, "d"); found {
		var n int
		n, err = strconv.Atoi(days)
		life = time.Duration(min(n, maxLifeDays)) * 24 * time.Hour
	}
	if err != nil || life <= 0 {
		return 0, usagef("--expires must be a time such as 12h or 30d, not %q", text)
	}
	return life, nil
}

func (i *invocation) printToken(t app.CreatedToken, asJSON bool) error {
	if asJSON {
		return printJSON(i.env.Stdout, t)
	}
	fmt.Fprintln(i.env.Stdout, t.Secret)
	fmt.Fprintf(i.env.Stderr, `This is the token %s of owner %s. It is not shown again.
Put it into a file that only its user can read, and give that to grapnel acp --url URL
--token-file FILE; other clients send it as Authorization: Bearer TOKEN.
`, t.Name, t.Owner)
	return nil
}

package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

func (i *invocation) sessionGrantsCommand() *cobra.Command {
	var revoke []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "grants ID",
		Short: "List what is always allowed in a session, or take it back",
		Long: `List what people have answered "always allow" to in a session, numbered, each with
exactly what it covers. --revoke takes back one of them by its number, or all; a
session that a running grapnel has open asks again from its next call on.`,
		Example:           "  grapnel session grants s_k3\n  grapnel session grants s_k3 --revoke 2\n  grapnel session grants s_k3 --revoke all",
		Args:              arguments("ID"),
		ValidArgsFunction: i.completeSessions,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				info, err := s.Find(ctx, args[0])
				if err != nil {
					return err
				}
				held, err := s.Grants(ctx, info.ID)
				if err != nil {
					return err
				}
				if len(revoke) == 0 {
					return i.printGrants(held, asJSON)
				}
				chosen, err := chooseGrants(held, revoke)
				if err != nil {
					return err
				}
				if err := s.Revoke(ctx, info.ID, chosen); err != nil {
					return err
				}
				return i.printRevoked(chosen, asJSON)
			})
		}),
	}
	cmd.Flags().StringSliceVar(&revoke, "revoke", nil, "take back this one, by its `number`, or all")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// grantRow is a grant as --json prints it.
type grantRow struct {
	Number int `json:"number"`
	policy.Grant
}

func (i *invocation) printGrants(held []policy.Grant, asJSON bool) error {
	if asJSON {
		rows := make([]grantRow, 0, len(held))
		for n, g := range held {
			rows = append(rows, grantRow{n + 1, g})
		}
		return printJSON(i.env.Stdout, rows)
	}
	if len(held) == 0 {
		_, err := fmt.Fprintln(i.env.Stderr, "grapnel: nothing is always allowed in this session")
		return err
	}
	for n, g := range held {
		fmt.Fprintf(i.env.Stdout, "%d  %s\n", n+1, printable.Line(g.Describe()))
	}
	return nil
}

func (i *invocation) printRevoked(taken []policy.Grant, asJSON bool) error {
	if asJSON {
		return printJSON(i.env.Stdout, struct {
			Revoked []policy.Grant `json:"revoked"`
		}{append([]policy.Grant{}, taken...)})
	}
	for _, g := range taken {
		fmt.Fprintf(i.env.Stdout, "taken back: %s\n", printable.Line(g.Describe()))
	}
	return nil
}

// chooseGrants returns the grants that --revoke names.
func chooseGrants(held []policy.Grant, which []string) ([]policy.Grant, error) {
	if slices.Contains(which, "all") {
		return held, nil
	}
	var chosen []policy.Grant
	for _, w := range which {
		n, err := strconv.Atoi(w)
		if err != nil {
			return nil, usagef("--revoke must be a number of the list or all, not %q", w)
		}
		if n < 1 || n > len(held) {
			return nil, fmt.Errorf("the session has no approval %d; it has %d", n, len(held))
		}
		chosen = append(chosen, held[n-1])
	}
	return chosen, nil
}

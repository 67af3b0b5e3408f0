package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func (i *invocation) sessionShareCommand() *cobra.Command {
	var revoke, asJSON bool
	cmd := &cobra.Command{
		Use:   "share ID OWNER [ROLE]",
		Short: "Let another owner of the gateway into a session",
		Long: `Let another owner into a session: whoever connects to the gateway with a token of
that name. The role is what they may do there at most: an observer sees
everything, a prompter also sends prompts, an approver also answers permission
requests. They work in the session's directory, with the rights of its owner's
agent. Only its owner can share, label, archive, reset and delete it. --revoke
lets them out again, at once.`,
		Example:           "  grapnel session share s_k3 bob prompter\n  grapnel session share s_k3 bob --revoke",
		Args:              shareArguments(&revoke),
		ValidArgsFunction: i.completeSessions,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			role := ""
			if !revoke {
				role = args[2]
			}
			change, err := serve.ReadShare(args[1], role, revoke)
			if err != nil {
				return usagef("%v", err)
			}
			return i.changeSession(cmd, args[0], asJSON, func(ctx context.Context, s *app.Sessions, info session.Info) error {
				if info.Owner == change.Owner {
					return fmt.Errorf("session %s is %s's own", info.ID, info.Owner)
				}
				return s.Share(ctx, info.ID, change)
			})
		}),
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "let them in no longer")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// shareArguments wants a role unless there is to be none.
func shareArguments(revoke *bool) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if *revoke {
			return arguments("ID", "OWNER")(cmd, args)
		}
		return arguments("ID", "OWNER", "ROLE")(cmd, args)
	}
}

func (i *invocation) sessionLabelCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "label ID LABEL",
		Short: "Give a session a label to find it by",
		Long: `Give a session a label, by which clients of the gateway and of grapnel acp find it.
An empty label takes it away. A label that several sessions have finds none.`,
		Args:              arguments("ID", "LABEL"),
		ValidArgsFunction: i.completeSessions,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			if args[1] != "" {
				if err := session.CheckLabel(args[1]); err != nil {
					return usagef("%v", err)
				}
			}
			return i.changeSession(cmd, args[0], asJSON, func(ctx context.Context, s *app.Sessions, info session.Info) error {
				return s.SetLabel(ctx, info.ID, args[1])
			})
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// changeSession changes a session that is named by id, or the beginning of one,
// and prints it as JSON where that is wanted.
func (i *invocation) changeSession(cmd *cobra.Command, id string, asJSON bool, change func(context.Context, *app.Sessions, session.Info) error) error {
	return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
		info, err := s.Find(ctx, id)
		if err != nil {
			return err
		}
		if err := change(ctx, s, info); err != nil || !asJSON {
			return err
		}
		if info, err = s.Find(ctx, info.ID); err != nil {
			return err
		}
		return printJSON(i.env.Stdout, rowOf(info))
	})
}

// shareRow is a share as --json prints it.
type shareRow struct {
	Owner string `json:"owner"`
	Role  string `json:"role"`
}

func sharesOf(s session.Info) []shareRow {
	var rows []shareRow
	for _, share := range s.Shares {
		rows = append(rows, shareRow{share.Owner, share.Role.String()})
	}
	return rows
}

// shareLines are the lines of session show about shares.
func shareLines(s session.Info) (lines [][2]string) {
	for _, share := range s.Shares {
		lines = append(lines, [2]string{"shared", printable.Line(share.Owner) + " as " + share.Role.String()})
	}
	return lines
}

package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
)

func (i *invocation) sessionRenameCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rename ID TITLE",
		Short: "Give a session a title for good",
		Long: `Give a session a title that its agent does not change any more. A session that a
running grapnel has open is renamed there, and its clients are told.`,
		Args:              arguments("ID", "TITLE"),
		ValidArgsFunction: i.completeSessions,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			title := strings.Join(strings.Fields(args[1]), " ")
			if title == "" {
				return usagef("the title must not be empty")
			}
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				info, err := s.Find(ctx, args[0])
				if err != nil {
					return err
				}
				if err := s.Rename(ctx, info.ID, title); err != nil || !asJSON {
					return err
				}
				if info, err = s.Find(ctx, info.ID); err != nil {
					return err
				}
				return printJSON(i.env.Stdout, rowOf(info))
			})
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

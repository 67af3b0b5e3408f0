package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/session"
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
			return i.changeSession(cmd, args[0], asJSON, func(ctx context.Context, s *app.Sessions, info session.Info) error {
				return s.Rename(ctx, info.ID, title)
			})
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

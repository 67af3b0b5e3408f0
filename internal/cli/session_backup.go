package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
)

func (i *invocation) sessionBackupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a copy of all sessions to a file",
		Long: `Write a whole copy of the session store to a file that is not there yet, readable
by its user only. Other grapnels may be running and their turns go on; the copy is
the store as it was at one moment. To restore it, end every grapnel, put the file
in the place of sessions.db in the data directory, and remove sessions.db-wal and
sessions.db-shm there.`,
		Example: "  grapnel session backup sessions-monday.db",
		Args:    arguments("FILE"),
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				if err := s.Backup(ctx, args[0]); err != nil {
					return err
				}
				path, err := filepath.Abs(args[0])
				if err != nil {
					path = args[0]
				}
				fmt.Fprintf(i.env.Stdout, "copied all sessions to %s\n", path)
				return nil
			})
		}),
	}
}

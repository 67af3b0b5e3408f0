package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func (i *invocation) sessionDeleteCommand() *cobra.Command {
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete sessions for good",
		Long: `Delete sessions with everything in them. It asks first; --yes answers. When one of
them is not there, none is deleted. A session that a running grapnel has open is
not deleted.`,
		Args:              atLeast("ID"),
		ValidArgsFunction: i.completeSessions,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				infos, err := findAll(ctx, s, args)
				if err != nil {
					return err
				}
				if err := i.confirmDelete(ctx, infos, yes); err != nil {
					return err
				}
				return i.deleteAll(ctx, s, infos, asJSON)
			})
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	jsonFlag(cmd, &asJSON)
	return cmd
}

func findAll(ctx context.Context, s *app.Sessions, ids []string) ([]session.Info, error) {
	var infos []session.Info
	seen := map[string]bool{}
	for _, id := range ids {
		info, err := s.Find(ctx, id)
		if err != nil {
			return nil, err
		}
		if !seen[info.ID] {
			infos = append(infos, info)
		}
		seen[info.ID] = true
	}
	return infos, nil
}

// confirmDelete asks a person. Nobody to ask means no.
func (i *invocation) confirmDelete(ctx context.Context, infos []session.Info, yes bool) error {
	if yes {
		return nil
	}
	if !isTerminal(i.env.Stdin) {
		return usagef("deleting asks first, and there is no terminal to ask on; add --yes")
	}
	for _, s := range infos {
		fmt.Fprintf(i.env.Stderr, "%s  %s  %s\n", s.ID, moment(s.UpdatedAt), cell(s.Title))
	}
	what := "this session"
	if len(infos) > 1 {
		what = fmt.Sprintf("these %d sessions", len(infos))
	}
	fmt.Fprintf(i.env.Stderr, "Delete %s for good? [y/N] ", what)
	answer, err := readLine(ctx, bufio.NewReader(i.env.Stdin))
	if err != nil {
		fmt.Fprintln(i.env.Stderr)
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return fmt.Errorf("nothing was deleted")
}

func (i *invocation) deleteAll(ctx context.Context, s *app.Sessions, infos []session.Info, asJSON bool) error {
	gone := struct {
		Deleted []string `json:"deleted"`
	}{Deleted: []string{}}
	var failed error
	for _, info := range infos {
		if failed = s.Delete(ctx, info.ID); failed != nil {
			break
		}
		gone.Deleted = append(gone.Deleted, info.ID)
		if !asJSON {
			fmt.Fprintf(i.env.Stdout, "deleted %s\n", info.ID)
		}
	}
	if asJSON {
		if err := printJSON(i.env.Stdout, gone); err != nil {
			return err
		}
	}
	return failed
}

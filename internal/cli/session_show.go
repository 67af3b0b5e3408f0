package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/transcript"
)

// sessionPage is what session show --json prints.
type sessionPage struct {
	sessionRow
	Transcript []transcript.Entry `json:"transcript"`
}

func (i *invocation) sessionShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a session and what was said in it",
		Long: `Show what is known of a session, and its transcript: messages whole, tool calls
with how they ended.`,
		Args:              arguments("ID"),
		ValidArgsFunction: i.completeSessions,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				info, entries, err := readTranscript(ctx, s, args[0])
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(i.env.Stdout, sessionPage{rowOf(info), entries})
				}
				return printSession(i.env.Stdout, info, entries)
			})
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func readTranscript(ctx context.Context, s *app.Sessions, id string) (session.Info, []transcript.Entry, error) {
	info, err := s.Find(ctx, id)
	if err != nil {
		return info, nil, err
	}
	var f transcript.Fold
	err = s.Events(ctx, info.ID, func(e session.Event) error {
		f.Add(e)
		return nil
	})
	return info, f.Entries(), err
}

func printSession(w io.Writer, info session.Info, entries []transcript.Entry) error {
	state := stateOf(info)
	if info.Archived {
		state += ", archived"
	}
	lines := [][2]string{
		{"session", info.ID},
		{"title", info.Title},
		{"key", info.Key},
		{"label", info.Label},
		{"owner", info.Owner},
		{"agent", info.Agent},
		{"directory", info.Cwd},
	}
	for _, root := range info.Roots {
		lines = append(lines, [2]string{"and", root})
	}
	lines = append(lines, [][2]string{
		{"state", state},
		{"created", moment(info.CreatedAt)},
		{"updated", moment(info.UpdatedAt)},
	}...)
	for _, l := range append(lines, shareLines(info)...) {
		if l[1] != "" {
			fmt.Fprintf(w, "%-10s %s\n", l[0], printable.Line(l[1]))
		}
	}
	fmt.Fprintln(w)
	return transcript.WriteText(w, entries)
}

package cli

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/transcript"
)

// defaultHits is about a screen of them.
const defaultHits = 20

// searchHit is a message found, as --json prints it.
type searchHit struct {
	ID      string `json:"id"` // of the session
	Title   string `json:"title"`
	Agent   string `json:"agent"`
	Cwd     string `json:"cwd"`
	Seq     uint64 `json:"seq"` // of the message's first event
	Role    string `json:"role"`
	Snippet string `json:"snippet"` // matches between « and »
}

func (i *invocation) sessionSearchCommand() *cobra.Command {
	var f sessionFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "Find messages in all sessions",
		Long: `Find the messages of people and agents that have every word of a text, best
first, with the passage around it. Words in double quotes must follow each other.`,
		Example: "  grapnel session search 'flaky test'\n  grapnel session search '\"connection refused\"' --cwd .",
		Args:    arguments("TEXT"),
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			limit := f.limit
			if limit == 0 {
				limit = math.MaxInt32
			}
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				hits, err := s.Search(ctx, args[0], filter, limit)
				if err != nil {
					return err
				}
				return i.printHits(hits, asJSON)
			})
		}),
	}
	f.flags(cmd, defaultHits)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (i *invocation) printHits(hits []session.Hit, asJSON bool) error {
	if asJSON {
		rows := make([]searchHit, 0, len(hits))
		for _, h := range hits {
			rows = append(rows, searchHit{h.Info.ID, h.Info.Title, h.Info.Agent, h.Info.Cwd, uint64(h.Seq), h.Role, h.Snippet})
		}
		return printJSON(i.env.Stdout, rows)
	}
	if len(hits) == 0 {
		_, err := fmt.Fprintln(i.env.Stderr, "grapnel: no message has these words")
		return err
	}
	for _, h := range hits {
		role := h.Role
		if role == "assistant" {
			role = string(transcript.Agent)
		}
		_, err := fmt.Fprintf(i.env.Stdout, "%s  %s  %s\n  %s: %s\n", h.Info.ID, moment(h.Info.UpdatedAt), cell(h.Info.Title), role, printable.Line(h.Snippet))
		if err != nil {
			return err
		}
	}
	return nil
}

package cli

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func (i *invocation) sessionListCommand() *cobra.Command {
	var f sessionFilter
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, newest first",
		Long: `List the stored sessions, the last used first: id, state, last use, agent, working
directory and title. A session is active while a running grapnel has it open, and
saved otherwise. Archived ones and those of subagents are left out unless asked for.`,
		Example: "  grapnel session list --cwd . --limit 10\n  grapnel session list --archived all --json",
		Args:    arguments(),
		RunE: i.action(func(cmd *cobra.Command, _ []string) error {
			filter, err := f.filter()
			if err != nil {
				return err
			}
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				infos, err := s.List(ctx, filter, f.limit)
				if err != nil {
					return err
				}
				return i.printSessions(infos, filter, asJSON)
			})
		}),
	}
	f.flags(cmd, 0)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (i *invocation) printSessions(infos []session.Info, filter session.Filter, asJSON bool) error {
	if asJSON {
		rows := make([]sessionRow, 0, len(infos))
		for _, s := range infos {
			rows = append(rows, rowOf(s))
		}
		return printJSON(i.env.Stdout, rows)
	}
	if len(infos) == 0 {
		none := "no sessions yet"
		if !reflect.ValueOf(filter).IsZero() {
			none = "there are no such sessions"
		}
		_, err := fmt.Fprintln(i.env.Stderr, "grapnel: "+none)
		return err
	}
	return printTable(i.env.Stdout, infos)
}

func printTable(w io.Writer, infos []session.Info) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATE\tUPDATED\tAGENT\tDIRECTORY\tTITLE")
	for _, s := range infos {
		state := stateOf(s)
		if s.Archived {
			state += ", archived"
		}
		if s.Subagent {
			state += ", subagent"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", printable.Line(s.ID), state, moment(s.UpdatedAt), printable.Line(s.Agent), printable.Line(s.Cwd), cell(s.Title))
	}
	return table.Flush()
}

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func (i *invocation) sessionCommand() *cobra.Command {
	return i.group(&cobra.Command{
		Use:   "session",
		Short: "List, read and manage the stored sessions",
		Long: `List, read and manage the stored sessions. A session is named by its id or by
the beginning of it. All of these work while editors have sessions open, and the
reading ones on a store that cannot be written.`,
	},
		i.sessionBackupCommand(),
		i.sessionDeleteCommand(),
		i.sessionExportCommand(),
		i.sessionGrantsCommand(),
		i.sessionLabelCommand(),
		i.sessionListCommand(),
		i.sessionRenameCommand(),
		i.sessionSearchCommand(),
		i.sessionShareCommand(),
		i.sessionShowCommand(),
	)
}

// withSessions runs f on the session store.
func (i *invocation) withSessions(cmd *cobra.Command, f func(context.Context, *app.Sessions) error) error {
	c, err := i.load()
	if err != nil {
		return err
	}
	s, err := app.OpenSessions(cmd.Context(), c)
	if err != nil {
		return err
	}
	s.Hide(app.KnownSecrets(cmd.Context(), c, i.env.Environ, i.getenv))
	err = f(cmd.Context(), s)
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return err
}

// sessionRow is a session as --json prints it.
type sessionRow struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Agent     string    `json:"agent"`
	Cwd       string    `json:"cwd"`
	Roots     []string  `json:"additionalDirectories,omitempty"`
	State     string    `json:"state"` // active or saved
	Archived  bool      `json:"archived"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Events    uint64    `json:"events"`
	Owner     string    `json:"owner"`
	Key       string    `json:"key,omitzero"`
	Label     string    `json:"label,omitzero"`
	Parent    string    `json:"parent,omitzero"`
	Subagent  bool      `json:"subagent,omitzero"` // the parent's, and deleted with it

	Shares []shareRow `json:"shares,omitempty"`
}

func rowOf(s session.Info) sessionRow {
	return sessionRow{
		ID: s.ID, Title: s.Title, Agent: s.Agent, Cwd: s.Cwd, Roots: s.Roots, State: stateOf(s), Archived: s.Archived,
		CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(), Events: uint64(s.LastSeq),
		Owner: s.Owner, Key: s.Key, Label: s.Label, Parent: s.Parent, Subagent: s.Subagent, Shares: sharesOf(s),
	}
}

// stateOf is active while a running process has the session open.
func stateOf(s session.Info) string {
	if s.Active {
		return "active"
	}
	return "saved"
}

// maxTitle keeps one long title from breaking the table.
const maxTitle = 60

// cell is text on one line that fits a table.
func cell(s string) string { return printable.Short(printable.Line(s), maxTitle) }

func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// sessionFilter are the flags that select sessions.
type sessionFilter struct {
	cwd, agent, archived string
	limit                int
	subagents            bool
}

func (f *sessionFilter) flags(cmd *cobra.Command, limit int) {
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "only sessions of this working `directory`")
	cmd.Flags().StringVar(&f.agent, "agent", "", "only sessions of this agent `alias`")
	cmd.Flags().StringVar(&f.archived, "archived", "", "archived sessions too (all), or no others (only): `all|only`")
	cmd.Flags().BoolVar(&f.subagents, "subagents", false, "sessions of subagents too")
	cmd.Flags().IntVar(&f.limit, "limit", limit, "at most this `many`; 0 for all")
}

// filter reads the flags. A directory is known by its real path, as sessions
// are; one that is gone by the name it had.
func (f *sessionFilter) filter() (session.Filter, error) {
	out := session.Filter{Agent: f.agent, Subagents: f.subagents}
	switch f.archived {
	case "":
	case "all":
		out.Archived = session.IncludeArchived
	case "only":
		out.Archived = session.OnlyArchived
	default:
		return out, usagef("--archived must be all or only, not %q", f.archived)
	}
	if f.limit < 0 {
		return out, usagef("--limit must not be negative, but is %d", f.limit)
	}
	if f.cwd == "" {
		return out, nil
	}
	abs, err := filepath.Abs(f.cwd)
	if err != nil {
		return out, fmt.Errorf("resolve --cwd: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	out.Cwd = abs
	return out, nil
}

// completeSessions offers the ids of sessions with their titles.
func (i *invocation) completeSessions(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	err := i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
		infos, err := s.List(ctx, session.Filter{Archived: session.IncludeArchived}, maxCompletions)
		for _, info := range infos {
			found = append(found, cobra.CompletionWithDesc(info.ID, cell(info.Title)))
		}
		return err
	})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// maxCompletions is what a person still looks through.
const maxCompletions = 200

package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/app"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/transcript"
)

func (i *invocation) sessionExportCommand() *cobra.Command {
	var format, file string
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write a session out, event by event or as a page",
		Long: `Write a session to stdout or a file. jsonl is every event that is not private, one
JSON object a line: seq, id, kind, time, turn and the body as the agent or client
wrote it. markdown is the transcript as a page. Secrets that the configuration and
the environment hold now are left out. A file is made for its user only, and
replaced in one step; a pipe or device is written to.`,
		Example:           "  grapnel session export s_k3 | jq -r .kind\n  grapnel session export s_k3 --format markdown -o talk.md",
		Args:              arguments("ID"),
		ValidArgsFunction: i.completeSessions,
		RunE: i.action(func(cmd *cobra.Command, args []string) error {
			export, ok := map[string]exporter{"jsonl": exportLines, "markdown": exportPage}[format]
			if !ok {
				return usagef("--format must be jsonl or markdown, not %q", format)
			}
			return i.withSessions(cmd, func(ctx context.Context, s *app.Sessions) error {
				info, err := s.Find(ctx, args[0])
				if err != nil {
					return err
				}
				write := func(w io.Writer) error { return export(ctx, s, info, w) }
				if file != "" {
					return writeFile(file, write)
				}
				return write(i.exportOutput())
			})
		}),
	}
	cmd.Flags().StringVar(&format, "format", "jsonl", "`format` of the output: jsonl or markdown")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to this `file` instead of stdout")
	return cmd
}

// exporter writes a session to w.
type exporter func(ctx context.Context, s *app.Sessions, info session.Info, w io.Writer) error

func exportLines(ctx context.Context, s *app.Sessions, info session.Info, w io.Writer) error {
	return s.Events(ctx, info.ID, func(e session.Event) error {
		line, err := transcript.JSONLine(e)
		if err == nil {
			_, err = w.Write(line)
		}
		return err
	})
}

func exportPage(ctx context.Context, s *app.Sessions, info session.Info, w io.Writer) error {
	info, entries, err := readTranscript(ctx, s, info.ID)
	if err != nil {
		return err
	}
	var page strings.Builder // whole: a secret may be in several events
	if err := transcript.WriteMarkdown(&page, info, entries); err != nil {
		return err
	}
	_, err = io.WriteString(w, s.Redacted(page.String()))
	return err
}

// exportOutput is stdout; a terminal is kept from what could act on it.
func (i *invocation) exportOutput() io.Writer {
	if isTerminal(i.env.Stdout) {
		return terminalWriter{i.env.Stdout}
	}
	return i.env.Stdout
}

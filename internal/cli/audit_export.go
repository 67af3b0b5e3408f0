package cli

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/grapnel-ai/grapnel/internal/audit"
)

func (i *invocation) auditExportCommand() *cobra.Command {
	var format, since, session string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the record out",
		Long: `Write the audit log to stdout, all of it or what a session did or what happened
since a time. jsonl is the lines as they are; csv has a heading, and no hashes.
Lines that cannot be read are left out, and said.`,
		Example: "  grapnel audit export --since 24h\n  grapnel audit export --session s_k3 --format csv",
		Args:    arguments(),
		RunE: i.action(func(*cobra.Command, []string) error {
			f, err := exportFilter(since, session, time.Now())
			if err != nil {
				return err
			}
			c, err := i.load()
			if err != nil {
				return err
			}
			out := bufio.NewWriter(i.exportOutput())
			var w auditWriter = jsonlWriter{out}
			switch format {
			case "jsonl":
			case "csv":
				w = newCSV(out)
			default:
				return usagef("--format must be jsonl or csv, not %q", format)
			}
			err = i.auditExport(c.DataPath(), f, w)
			if flushed := out.Flush(); err == nil {
				err = flushed
			}
			return err
		}),
	}
	cmd.Flags().StringVar(&format, "format", "jsonl", "`format` of the output: jsonl or csv")
	cmd.Flags().StringVar(&since, "since", "", "only what happened since this `time`: 24h, 2026-01-31 or 2026-01-31T12:00:00Z")
	cmd.Flags().StringVar(&session, "session", "", "only this session, by its `id` or the beginning of it")
	return cmd
}

// auditFilter selects entries.
type auditFilter struct {
	since   time.Time
	session string
}

func exportFilter(since, session string, now time.Time) (auditFilter, error) {
	f := auditFilter{session: session}
	if since == "" {
		return f, nil
	}
	if d, err := time.ParseDuration(since); err == nil && d >= 0 {
		f.since = now.Add(-d)
		return f, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly, time.DateTime} {
		if t, err := time.ParseInLocation(layout, since, time.Local); err == nil {
			f.since = t
			return f, nil
		}
	}
	return f, usagef("--since must be a duration such as 24h, a day or a time, not %q", since)
}

func (f auditFilter) has(e audit.Entry) bool {
	return !e.Time.Before(f.since) && (strings.HasPrefix(e.Session, f.session) || strings.HasPrefix(strings.TrimPrefix(e.Session, "s_"), f.session))
}

func (i *invocation) auditExport(dir string, f auditFilter, w auditWriter) error {
	unread := 0
	err := audit.Read(dir, func(l audit.Line) error {
		switch {
		case l.Err != nil && !l.Torn:
			unread++
			return nil
		case l.Torn || !f.has(l.Entry):
			return nil
		}
		return w.write(l)
	})
	if err == nil && unread > 0 {
		err = fmt.Errorf("the audit log has lines that cannot be read (%d) and were left out; see grapnel audit verify", unread)
	}
	return err
}

type auditWriter interface {
	write(l audit.Line) error
}

type jsonlWriter struct{ w io.Writer }

func (j jsonlWriter) write(l audit.Line) error {
	_, err := j.w.Write(append(l.Text[:len(l.Text):len(l.Text)], '\n'))
	return err
}

// csvWriter writes a table for spreadsheets.
type csvWriter struct{ w *csv.Writer }

func newCSV(out io.Writer) csvWriter {
	c := csvWriter{csv.NewWriter(out)}
	_ = c.w.Write([]string{ // to a buffer: what fails shows when it is flushed
		"seq", "time", "event", "owner", "session", "turn", "agent", "call", "tool", "what", "digest", "verdict", "rule", "by", "reason", "sandbox", "outcome",
	})
	c.w.Flush()
	return c
}

func (c csvWriter) write(l audit.Line) error {
	e := l.Entry
	row := []string{
		strconv.FormatUint(e.Seq, 10), e.Time.Format(time.RFC3339Nano), string(e.Event), e.Owner, e.Session, e.Turn, e.Agent, e.Call, e.Tool,
		e.What, e.Digest, e.Verdict, e.Rule, e.By, e.Reason, e.Sandbox, e.Outcome,
	}
	for i, cell := range row {
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			row[i] = "'" + cell // or a spreadsheet takes it for a formula
		}
	}
	if err := c.w.Write(row); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

package transcript

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// clock is how a moment is shown, in the reader's own zone.
const clock = "2006-01-02 15:04"

// WriteText writes a conversation for a terminal: what could act on one is
// taken out.
func WriteText(w io.Writer, entries []Entry) error {
	out := bufio.NewWriter(w)
	for _, e := range entries {
		text := printable.Text(e.Text)
		if e.Role == Tool {
			fmt.Fprintf(out, "tool    %s\n\n", toolLine(e))
			continue
		}
		fmt.Fprintf(out, "%-7s %s\n%s\n", e.Role, e.Time.Local().Format(clock), indent(text))
	}
	return out.Flush()
}

// toolLine is a tool call in one line: what it was and how it ended.
func toolLine(e Entry) string {
	title, status := printable.Line(e.Text), e.Status
	if title == "" {
		title = printable.Line(e.Call)
	}
	if status == "" {
		status = "no status"
	}
	return title + ": " + printable.Line(status)
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// WriteMarkdown writes a session as a page.
func WriteMarkdown(w io.Writer, info session.Info, entries []Entry) error {
	out := bufio.NewWriter(w)
	title := printable.Line(info.Title)
	if title == "" {
		title = "Session " + info.ID
	}
	fmt.Fprintf(out, "# %s\n\n", title)
	fmt.Fprintf(out, "- session: %s\n- agent: %s\n- directory: %s\n- created: %s\n- updated: %s\n",
		info.ID, info.Agent, printable.Line(info.Cwd), info.CreatedAt.UTC().Format(time.RFC3339), info.UpdatedAt.UTC().Format(time.RFC3339))
	for _, e := range entries {
		out.WriteString("\n" + section(e))
	}
	return out.Flush()
}

func section(e Entry) string {
	text := strings.TrimRight(printable.Text(e.Text), "\n")
	switch e.Role {
	case User:
		return "## User\n\n" + text + "\n"
	case Agent:
		return "## Agent\n\n" + text + "\n"
	case Tool:
		return "### Tool: " + toolLine(e) + "\n" + fenced(printable.Text(e.Output))
	case Plan:
		return "### Plan\n" + fenced(text)
	}
	return quoted(string(e.Role)+": "+text) + "\n"
}

func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// fenced is a code block whose fence nothing in it can close.
func fenced(text string) string {
	if text == "" {
		return ""
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return "\n" + fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}

// line is what an event is exported as; the body follows.
type line struct {
	Seq  session.Seq  `json:"seq"`
	ID   string       `json:"id"`
	Kind session.Kind `json:"kind"`
	Time time.Time    `json:"time"`
	Turn string       `json:"turn,omitzero"`
}

// JSONLine returns an event as one line of JSON, its body with the bytes it came
// with.
func JSONLine(e session.Event) ([]byte, error) {
	head, err := json.Marshal(line{e.Seq, e.ID, e.Kind, e.Time.UTC(), e.Turn})
	if err != nil {
		return nil, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	body := e.Body
	if len(body) == 0 {
		body = jsontext.Value("null")
	}
	if bytes.IndexByte(body, '\n') >= 0 {
		body = bytes.Clone(body)
		if err := (*jsontext.Value)(&body).Compact(); err != nil {
			return nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	out := append(head[:len(head)-1], `,"body":`...)
	out = append(out, body...)
	return append(out, "}\n"...), nil
}

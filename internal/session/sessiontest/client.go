package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// Client pumps an attachment the way a surface does, on the test's goroutine,
// and writes down what it saw.
type Client struct {
	session.Attachment
	T      testing.TB
	Events []session.Event // all that was seen
	Cursor session.Seq
	looked int // how far Until has looked
	ended  map[string]session.TurnEnd
}

// Pump makes a client of an attachment.
func Pump(t testing.TB, a session.Attachment) *Client {
	return &Client{Attachment: a, T: t, ended: make(map[string]session.TurnEnd)}
}

// Step waits for the next page.
func (c *Client) Step(ctx context.Context) error {
	events, cursor, err := c.Next(ctx)
	for _, e := range events {
		if e.Seq != 0 && e.Seq <= c.Cursor {
			c.T.Errorf("event %d came after %d", e.Seq, c.Cursor)
		}
		if e.Seq != 0 {
			c.Cursor = e.Seq
		}
		if e.Retention == session.Private {
			c.T.Errorf("a private event was shown: %s", e.Kind)
		}
		c.note(e)
	}
	if cursor < c.Cursor {
		c.T.Errorf("the cursor went back to %d from %d", cursor, c.Cursor)
	}
	c.Cursor = cursor
	c.Events = append(c.Events, events...)
	return err
}

func (c *Client) note(e session.Event) {
	if e.Kind != session.KindTurnEnd {
		return
	}
	var end session.TurnEnd
	if err := json.Unmarshal(e.Body, &end); err != nil {
		c.T.Errorf("turn_end does not decode: %v", err)
	}
	if _, twice := c.ended[end.Turn]; twice {
		c.T.Errorf("turn %s ended twice", end.Turn)
	}
	c.ended[end.Turn] = end
}

// Until pumps until f holds of an event it has not looked at before.
func (c *Client) Until(f func(session.Event) bool) session.Event {
	c.T.Helper()
	for {
		for c.looked < len(c.Events) {
			e := c.Events[c.looked]
			c.looked++
			if f(e) {
				return e
			}
		}
		if err := c.Step(c.T.Context()); err != nil && c.looked == len(c.Events) {
			c.T.Fatalf("waiting for an event: %v\nsaw: %s", err, c.Transcript())
		}
	}
}

// End pumps until a turn has ended and returns its end.
func (c *Client) End(turn string) session.TurnEnd {
	c.T.Helper()
	for {
		if end, ok := c.ended[turn]; ok {
			return end
		}
		if err := c.Step(c.T.Context()); err != nil {
			if end, ok := c.ended[turn]; ok {
				return end
			}
			c.T.Fatalf("waiting for the end of %s: %v\nsaw: %s", turn, err, c.Transcript())
		}
	}
}

// Say prompts and waits for the turn's end.
func (c *Client) Say(text string) session.TurnEnd {
	c.T.Helper()
	return c.End(c.Send(text).Turn)
}

// Send prompts.
func (c *Client) Send(text string) session.Prompted {
	c.T.Helper()
	p, err := c.Prompt(c.T.Context(), session.PromptRequest{Content: Blocks(text)})
	if err != nil {
		c.T.Fatalf("prompt %q: %v", text, err)
	}
	return p
}

// UntilKind pumps until an event of a kind.
func (c *Client) UntilKind(kind session.Kind) session.Event {
	c.T.Helper()
	return c.Until(func(e session.Event) bool { return e.Kind == kind })
}

// UntilText pumps until a chunk with a text.
func (c *Client) UntilText(text string) session.Event {
	c.T.Helper()
	return c.Until(func(e session.Event) bool { return strings.Contains(TextOf(e), text) })
}

// Drain pumps until io.EOF.
func (c *Client) Drain() {
	c.T.Helper()
	for {
		if err := c.Step(c.T.Context()); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			c.T.Fatalf("draining: %v", err)
		}
	}
}

// CatchUp pumps until everything committed up to seq was met.
func (c *Client) CatchUp(seq session.Seq) {
	c.T.Helper()
	for c.Cursor < seq {
		if err := c.Step(c.T.Context()); err != nil {
			c.T.Fatalf("catching up to %d: %v", seq, err)
		}
	}
}

// Transcript writes what was seen, a line an event.
func (c *Client) Transcript() string { return Transcript(c.Events) }

// Transcript writes events, a line each: what of them a person would see.
func Transcript(events []session.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintln(&b, Line(e))
	}
	return b.String()
}

// Line writes one event.
func Line(e session.Event) string {
	switch e.Kind {
	case session.KindUserMessage:
		return "user: " + TextOf(e)
	case session.KindAgentMessage:
		return "agent: " + TextOf(e)
	case session.KindAgentThought:
		return "thought: " + TextOf(e)
	case session.KindToolCall, session.KindToolUpdate:
		f, _ := ingest.Look(e.Body)
		return fmt.Sprintf("%s: %s %s", e.Kind, ingest.Text(e.Body, f.Marks.ToolCallID), ingest.Text(e.Body, f.Status))
	case session.KindTurnEnd:
		var end session.TurnEnd
		_ = json.Unmarshal(e.Body, &end)
		if end.Error != nil {
			return "end: error " + end.Reason
		}
		return "end: " + string(end.Stop)
	}
	return string(e.Kind)
}

// TextOf is the text of a chunk.
func TextOf(e session.Event) string {
	f, err := ingest.Look(e.Body)
	if err != nil {
		return ""
	}
	return ingest.Text(e.Body, f.Text)
}

// option is one of a permission's.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

func optionsOf(body []byte) []option {
	var b struct {
		Options []option `json:"options"`
	}
	_ = json.Unmarshal(body, &b)
	return b.Options
}

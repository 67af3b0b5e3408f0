package native

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ask"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

const (
	// lastSteps is how many of a subagent's tool calls its parent's call shows.
	lastSteps = 5
	// maxShown bounds how often it shows them.
	maxShown = 60
	// stepBytes bounds one title among them.
	stepBytes = 120
	// maxSaid bounds what is kept of a subagent's last message, in bytes.
	maxSaid = 256 << 10
)

// steps are the newest tool calls of a subagent.
type steps struct {
	count, shown int
	titles       []string
}

// heard takes a chunk of a message; the last message is the subagent's answer.
func (c *child) heard(body jsontext.Value) {
	var b struct {
		Update struct {
			Message string `json:"messageId"`
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"update"`
	}
	if json.Unmarshal(body, &b) != nil {
		return
	}
	if b.Update.Message != c.message {
		c.message = b.Update.Message
		c.text.Reset()
	}
	if c.text.Len() < maxSaid {
		c.text.WriteString(b.Update.Content.Text)
	}
}

// did shows one more tool call.
func (c *child) did(body jsontext.Value) {
	var b struct {
		Update toolUpdate `json:"update"`
	}
	if json.Unmarshal(body, &b) != nil {
		return
	}
	s := &c.steps
	s.count++
	s.titles = append(s.titles, printable.Clip(printable.Line(b.Update.Title), stepBytes))
	if n := len(s.titles) - lastSteps; n > 0 {
		s.titles = s.titles[n:]
	}
	if s.shown++; s.shown > maxShown {
		return
	}
	var text strings.Builder
	if earlier := s.count - len(s.titles); earlier > 0 {
		fmt.Fprintf(&text, "- …%d earlier\n", earlier)
	}
	for _, t := range s.titles {
		text.WriteString("- " + t + "\n")
	}
	c.out.Progress([]tool.Content{{Text: text.String()}})
}

// relayNotice shows the parent's people what warns the subagent's.
func (c *child) relayNotice(ctx context.Context, body jsontext.Value) {
	var b struct {
		Update struct {
			Severity    string `json:"severity"`
			Title       string `json:"title"`
			Description string `json:"description"`
		} `json:"update"`
	}
	if json.Unmarshal(body, &b) != nil || b.Update.Severity == "info" {
		return
	}
	u := b.Update
	_ = c.sink.Emit(ctx, notice(c.handle.id, u.Severity, fmt.Sprintf("Subagent %q: %s", c.title, u.Title), u.Description)) // a remark
}

// relay puts what the subagent asks to the people of its parent, as part of the
// call that started it, and gives it their verdict.
func (c *child) relay(ctx context.Context, q session.Request) {
	asking, stop := context.WithCancel(ctx)
	c.asked[q.ID] = stop
	c.relays.Go(func() {
		defer stop()
		v, err := c.putToPeople(asking, q)
		if err != nil {
			v = session.Verdict{Outcome: session.Withdrawn, Reason: ask.CancelledBy}
		}
		v.Request = q.ID
		_, _ = c.att.Answer(detached(ctx), v) // one that is late was answered otherwise
		if q.Kind == session.KindPermission {
			c.restore(detached(ctx))
		}
	})
}

// stopAsking withdraws from the people of the parent what has been answered, here
// or by someone attached to the subagent itself.
func (c *child) stopAsking(body jsontext.Value) {
	var v session.Verdict
	if json.Unmarshal(body, &v) != nil {
		return
	}
	if stop, open := c.asked[v.Request]; open {
		stop()
		delete(c.asked, v.Request)
	}
}

func (c *child) putToPeople(ctx context.Context, q session.Request) (session.Verdict, error) {
	body, err := c.asOurs(q)
	if err != nil {
		return session.Verdict{}, err
	}
	return c.sink.Ask(ctx, q.Kind, body)
}

// asOurs is a request of the subagent's as one of the call that started it.
func (c *child) asOurs(q session.Request) (jsontext.Value, error) {
	if q.Kind == session.KindElicitation {
		return c.elicitationAsOurs(q.Body)
	}
	var p permissionParams
	if err := json.Unmarshal(q.Body, &p); err != nil {
		return nil, err
	}
	p.SessionID = c.handle.id
	p.ToolCall.ID = c.shown
	p.ToolCall.Title = fmt.Sprintf("Subagent %q: %s", c.title, p.ToolCall.Title)
	p.ToolCall.Status = statusInProgress // the call itself is at work
	for i, o := range p.Options {
		if o.Kind == "allow_always" {
			p.Options[i].Name += " (this subagent only)"
		}
	}
	b, err := json.Marshal(p)
	return b, err
}

func (c *child) elicitationAsOurs(body jsontext.Value) (jsontext.Value, error) {
	var p map[string]any
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, err
	}
	p["sessionId"], p["toolCallId"] = c.handle.id, c.shown
	p["message"] = fmt.Sprintf("Subagent %q asks: %v", c.title, p["message"])
	b, err := json.Marshal(p, json.Deterministic(true))
	return b, err
}

// restore gives the call its own face back: clients show what a request says of
// a call.
func (c *child) restore(ctx context.Context) {
	_ = c.emit(ctx, session.KindToolUpdate, session.History, toolUpdate{
		Kind: session.KindToolUpdate, ID: c.shown, Title: c.call.Title, ToolKind: c.call.Kind,
		Status: statusInProgress, RawInput: c.wish.Input,
	}) // what cannot be shown any more needs no face
}

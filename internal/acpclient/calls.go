package acpclient

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/readproof"
)

const (
	// maxCalls is how many tool calls are remembered.
	maxCalls = 1000
	// maxLines and maxText bound what is shown of one result.
	maxLines = 12
	maxText  = 4 << 10
	// maxDiff is how many lines of a change are shown.
	maxDiff = 80
)

// call is what is known of one tool call.
type call struct {
	title     string
	name      string
	kind      string
	status    v1.ToolCallStatus
	input     jsontext.Value
	meta      jsontext.Value
	locations []v1.ToolCallLocation
	content   []v1.ToolCallContent
	diffs     map[string]bool // shown
}

func (v *view) toolCall(t *v1.ToolCall) {
	c := v.call(t.ToolCallID)
	c.title, c.kind, c.status = t.Title, string(t.Kind), t.Status
	if t.Name != nil {
		c.name = *t.Name
	}
	c.input, c.meta, c.locations, c.content = t.RawInput, t.Meta, t.Locations, t.Content
	v.out.endMessage()
	v.line(dim("* "), plain(c.heading()))
	v.showDiffs(c)
	v.ended(c)
}

// call returns the record of a tool call, which it may be the first to name.
func (v *view) call(id v1.ToolCallID) *call {
	c := v.calls[id]
	if c == nil {
		if len(v.calls) >= maxCalls {
			clear(v.calls)
		}
		c = &call{diffs: map[string]bool{}}
		v.calls[id] = c
	}
	return c
}

func (c *call) heading() string {
	if c.title == "" {
		return "(a tool call without a title)"
	}
	return printable.Clip(printable.Line(c.title), 400)
}

func (v *view) toolUpdate(u *v1.ToolCallUpdate) {
	_, known := v.calls[u.ToolCallID]
	c := v.call(u.ToolCallID)
	before := c.status
	c.apply(u)
	if !known {
		v.line(dim("* "), plain(c.heading()))
	}
	v.showDiffs(c)
	if c.status != before {
		v.ended(c)
	}
}

// apply takes over what an update tells.
func (c *call) apply(u *v1.ToolCallUpdate) {
	if u.Title != nil {
		c.title = *u.Title
	}
	if u.Name != nil {
		c.name = *u.Name
	}
	if u.Kind != nil {
		c.kind = string(*u.Kind)
	}
	if u.Status != nil {
		c.status = *u.Status
	}
	if u.RawInput != nil {
		c.input = u.RawInput
	}
	if u.Meta != nil {
		c.meta = u.Meta
	}
	if u.Locations != nil {
		c.locations = u.Locations
	}
	if u.Content != nil {
		c.content = u.Content
	}
}

// ended shows the result of a call that is over.
func (v *view) ended(c *call) {
	switch c.status {
	case v1.ToolCallStatusCompleted:
		v.line(styled{goodStyle, "+ "}, dim(c.heading()))
	case v1.ToolCallStatusFailed:
		v.line(bad("x "), plain(c.heading()))
	default:
		return
	}
	for _, part := range c.content {
		switch {
		case part.Content != nil:
			v.result(describe(part.Content.Content))
		case part.Terminal != nil:
			text, _ := v.terminal(string(part.Terminal.TerminalID))
			v.result(text)
		}
	}
}

// result shows a bounded text, indented.
func (v *view) result(text string) {
	text = strings.TrimRight(printable.Text(printable.Clip(text, maxText)), "\n ")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == maxLines {
			v.line(dim("    …"))
			return
		}
		v.line(dim("    " + line))
	}
}

// showDiffs shows the changes that have not been shown.
func (v *view) showDiffs(c *call) {
	for _, part := range c.content {
		if part.Diff == nil {
			continue
		}
		old := ""
		if part.Diff.OldText != nil {
			old = *part.Diff.OldText
		}
		key := part.Diff.Path + "\x00" + old + "\x00" + part.Diff.NewText
		if c.diffs[key] {
			continue
		}
		c.diffs[key] = true
		v.line(bold("  " + printable.Line(part.Diff.Path)))
		for _, line := range unified(old, part.Diff.NewText, maxDiff) {
			v.line(plain("  "), styled{diffStyle(line), printable.Text(line)})
		}
	}
}

func diffStyle(line string) style {
	switch line[0] {
	case '+':
		return goodStyle
	case '-':
		return badStyle
	case '@':
		return noteStyle
	}
	return plainStyle
}

// facts are what is known of the call that a permission is asked for: what it
// was announced with, and what the request says. It also returns its heading.
func (v *view) facts(u *v1.ToolCallUpdate) (readproof.Call, string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.call(u.ToolCallID)
	var facts readproof.Call
	c.tell(&facts)
	c.apply(u)
	c.tell(&facts)
	v.showDiffs(c)
	return facts, c.heading()
}

// tell adds what is known of a call to facts.
func (c *call) tell(facts *readproof.Call) {
	facts.Titles = append(facts.Titles, c.title)
	facts.Kinds = append(facts.Kinds, c.kind)
	facts.Inputs = append(facts.Inputs, c.input)
	facts.Metas = append(facts.Metas, c.meta)
	if c.name != "" {
		facts.Names = append(facts.Names, c.name)
	}
	for _, at := range c.locations {
		facts.Locations = append(facts.Locations, at.Path)
	}
	for _, part := range c.content {
		facts.Acts = facts.Acts || part.Diff != nil || part.Terminal != nil || part.Raw != nil
	}
}

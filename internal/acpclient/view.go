package acpclient

import (
	"fmt"
	"strings"
	"sync"

	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// output is where a view shows things. Text is safe for a terminal already.
type output interface {
	// answer writes what the agent says; it need not end with a line.
	answer(text string)
	// aside writes whole lines about everything else.
	aside(text string)
	// endAnswer makes way for an aside, where both are on the same screen.
	endAnswer()
	// endMessage ends the line of an answer, if one is open: what comes next is
	// another one.
	endMessage()
}

// block is what the text shown last belongs to.
type block int

const (
	blockNone block = iota
	blockAnswer
	blockThought
	blockUser
)

// view shows what happens in a session. It is safe for concurrent use.
type view struct {
	paint paint
	// terminal returns what a terminal shows.
	terminal func(id string) (string, bool)

	mu       sync.Mutex
	out      output
	block    block
	unended  string       // of a thought or a person's words: a line that goes on
	history  bool         // what comes was said before
	answered bool         // the turn has shown an answer
	message  v1.MessageID // of the answer shown last
	calls    map[v1.ToolCallID]*call
	plan     string
	usage    *v1.UsageUpdate
	commands []v1.AvailableCommand
	title    string
}

func newView(out output, p paint) *view {
	return &view{out: out, paint: p, calls: map[v1.ToolCallID]*call{}, terminal: func(string) (string, bool) { return "", false }}
}

// update shows one update. What it does not know, it leaves out.
func (v *view) update(u *v1.SessionUpdate) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case u.AgentMessageChunk != nil:
		if id := u.AgentMessageChunk.MessageID; id != nil && *id != v.message {
			v.message = *id
			v.out.endMessage()
		}
		v.chunk(blockAnswer, u.AgentMessageChunk.Content)
	case u.AgentThoughtChunk != nil:
		v.chunk(blockThought, u.AgentThoughtChunk.Content)
	case u.UserMessageChunk != nil:
		v.chunk(blockUser, u.UserMessageChunk.Content)
	case u.ToolCall != nil:
		v.toolCall(u.ToolCall)
	case u.ToolCallUpdate != nil:
		v.toolUpdate(u.ToolCallUpdate)
	case u.Plan != nil:
		v.showPlan(u.Plan.Entries)
	case u.AvailableCommandsUpdate != nil:
		v.commands = u.AvailableCommandsUpdate.AvailableCommands
	case u.UsageUpdate != nil:
		v.usage = u.UsageUpdate
	case u.Notice != nil:
		v.notice(u.Notice)
	case u.CurrentModeUpdate != nil:
		v.line(dim("mode: " + printable.Line(string(u.CurrentModeUpdate.CurrentModeID))))
	case u.SessionInfoUpdate != nil:
		if title, ok := u.SessionInfoUpdate.Title.Get(); ok && title != v.title {
			v.title = title
			v.line(dim("title: " + printable.Line(title)))
		}
	case u.CompactionUpdate != nil:
		v.line(dim("compaction: " + printable.Line(string(u.CompactionUpdate.Status))))
	}
}

// chunk shows a piece of a message.
func (v *view) chunk(b block, content v1.ContentBlock) {
	text := printable.Text(describe(content))
	if text == "" {
		return
	}
	if v.block != b {
		v.endBlock()
		v.block = b
	}
	if b == blockAnswer && !v.history {
		v.answered = true
		v.out.answer(text)
		return
	}
	v.unended += text
	if end := strings.LastIndexByte(v.unended, '\n'); end >= 0 {
		v.out.aside(v.mark(v.unended[:end]))
		v.unended = v.unended[end+1:]
	}
}

// mark puts before each line whose words they are.
func (v *view) mark(lines string) string {
	before, style := "", plainStyle
	switch v.block {
	case blockThought:
		before, style = "~ ", dimStyle
	case blockUser:
		before, style = "> ", boldStyle
	}
	var b strings.Builder
	for line := range strings.SplitSeq(lines, "\n") {
		b.WriteString(v.paint.paint(styled{style, before + line}) + "\n")
	}
	return b.String()
}

// endBlock ends what is being shown, so that something else can be.
func (v *view) endBlock() {
	if v.unended != "" {
		v.out.aside(v.mark(v.unended))
		v.unended = ""
	}
	v.out.endAnswer()
	v.block = blockNone
}

// line shows a line by itself.
func (v *view) line(parts ...styled) {
	v.endBlock()
	v.out.aside(v.paint.paint(parts...) + "\n")
}

// say is line for those who do not hold v.mu.
func (v *view) say(parts ...styled) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.line(parts...)
}

// describe is a content block as text.
func describe(c v1.ContentBlock) string {
	switch {
	case c.Text != nil:
		return c.Text.Text
	case c.Image != nil:
		return fmt.Sprintf("[image %s, %d bytes]", c.Image.MIMEType, len(c.Image.Data)*3/4)
	case c.Audio != nil:
		return fmt.Sprintf("[audio %s, %d bytes]", c.Audio.MIMEType, len(c.Audio.Data)*3/4)
	case c.ResourceLink != nil:
		return fmt.Sprintf("[%s %s]", c.ResourceLink.Name, c.ResourceLink.URI)
	case c.Resource != nil:
		return "[embedded resource]"
	}
	return ""
}

func (v *view) notice(n *v1.Notice) {
	text := printable.Line(n.Title)
	if n.Description != nil {
		text += ": " + printable.Line(*n.Description)
	}
	style := dimStyle
	if n.Severity != v1.NoticeSeverityInfo {
		style = warnStyle
	}
	v.line(styled{style, "! " + text})
}

func (v *view) showPlan(entries []v1.PlanEntry) {
	var b strings.Builder
	for _, e := range entries {
		box := map[v1.PlanEntryStatus]string{v1.PlanEntryStatusCompleted: "[x] ", v1.PlanEntryStatusInProgress: "[>] "}[e.Status]
		if box == "" {
			box = "[ ] "
		}
		b.WriteString("  " + box + printable.Line(e.Content) + "\n")
	}
	if b.String() == v.plan {
		return
	}
	v.plan = b.String()
	v.line(bold("plan"))
	v.out.aside(v.plan)
}

// turnStarts forgets what the turn before has shown.
func (v *view) turnStarts() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answered = false
}

// turnEnds tells how a turn ended, where that is not plain to see.
func (v *view) turnEnds(reason v1.StopReason) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endBlock()
	v.out.endMessage()
	if !v.answered && reason == v1.StopReasonEndTurn {
		v.line(dim("(empty reply)"))
	}
	if reason != v1.StopReasonEndTurn {
		v.line(warn("the turn ended: " + printable.Line(string(reason))))
	}
	if v.usage != nil {
		v.line(dim(usageText(v.usage)))
	}
}

func usageText(u *v1.UsageUpdate) string {
	text := fmt.Sprintf("context: %d of %d tokens", u.Used, u.Size)
	if u.Size > 0 {
		text += fmt.Sprintf(" (%.0f%%)", 100*float64(u.Used)/float64(u.Size))
	}
	if u.Cost != nil {
		text += fmt.Sprintf(", cost %.4f %s", u.Cost.Amount, printable.Line(u.Cost.Currency))
	}
	return text
}

// replaying says whether what comes now was said before.
func (v *view) replaying(on bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endBlock()
	v.history = on
}

// flush ends whatever is being shown.
func (v *view) flush() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endBlock()
	v.out.endMessage()
}

// complain shows an error, line by line.
func (v *view) complain(err error) {
	for line := range strings.SplitSeq(printable.Text(err.Error()), "\n") {
		v.say(bad("! " + line))
	}
}

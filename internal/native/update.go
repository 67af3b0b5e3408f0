package native

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// bodyVersion is the protocol version our updates are written in.
const bodyVersion = 1

// chunk is a message or thought chunk. It is built by hand: it is what is
// emitted most, by far.
func chunk(id string, kind session.Kind, message, text string) session.Draft {
	b := make([]byte, 0, 160+len(text))
	b = append(b, `{"sessionId":"`...)
	b = append(b, id...)
	b = append(b, `","update":{"sessionUpdate":"`...)
	b = append(b, kind...)
	b = append(b, `","content":{"type":"text","text":`...)
	b, err := jsontext.AppendQuote(b, text)
	if err != nil { // only for text that is not UTF-8
		b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(text, string(utf8.RuneError)))
	}
	b = append(b, `},"messageId":"`...)
	b = append(b, message...)
	b = append(b, `"}}`...)
	return session.Draft{Kind: kind, Version: bodyVersion, Body: b}
}

// update wraps one of the structs below as a draft.
func update(id string, kind session.Kind, keep session.Retention, u any) (session.Draft, error) {
	body, err := json.Marshal(struct {
		SessionID string `json:"sessionId"`
		Update    any    `json:"update"`
	}{id, u})
	return session.Draft{Kind: kind, Retention: keep, Version: bodyVersion, Body: body}, err
}

func (h *handle) emit(ctx context.Context, kind session.Kind, keep session.Retention, u any) error {
	d, err := update(h.id, kind, keep, u)
	if err != nil {
		return err
	}
	return h.sink.Emit(ctx, d)
}

// say shows words of our own as the agent's.
func (t *turn) say(ctx context.Context, text string) error {
	t.said = true
	return t.sink.Emit(ctx, chunk(t.id, session.KindAgentMessage, session.NewID("m"), t.redact.Replace(text)))
}

// toolUpdate is tool_call and tool_call_update (ACP v1).
type toolUpdate struct {
	Kind      session.Kind   `json:"sessionUpdate,omitzero"`
	ID        string         `json:"toolCallId"`
	Title     string         `json:"title,omitzero"`
	Name      string         `json:"name,omitzero"`
	ToolKind  string         `json:"kind,omitzero"`
	Status    string         `json:"status,omitzero"`
	Content   []toolContent  `json:"content,omitzero"`
	Locations []toolLocation `json:"locations,omitzero"`
	RawInput  jsontext.Value `json:"rawInput,omitzero"`
	RawOutput jsontext.Value `json:"rawOutput,omitzero"`
}

// toolContent is one of content, diff and terminal.
type toolContent struct {
	Type       string  `json:"type"`
	Content    any     `json:"content,omitzero"` // one of the blocks
	Path       string  `json:"path,omitzero"`
	OldText    *string `json:"oldText,omitzero"`
	NewText    *string `json:"newText,omitzero"`
	TerminalID string  `json:"terminalId,omitzero"`
}

type toolLocation struct {
	Path string `json:"path"`
	Line int    `json:"line,omitzero"`
}

func contents(list []tool.Content) []toolContent {
	out := make([]toolContent, 0, len(list))
	for _, c := range list {
		switch {
		case c.Diff != nil:
			out = append(out, diffContent(c.Diff))
		case c.TerminalID != "":
			out = append(out, toolContent{Type: "terminal", TerminalID: c.TerminalID})
		default:
			out = append(out, toolContent{Type: "content", Content: block(c)})
		}
	}
	return out
}

func diffContent(d *tool.Diff) toolContent {
	return toolContent{Type: "diff", Path: d.Path, OldText: d.OldText, NewText: &d.NewText}
}

func locations(list []tool.Location) []toolLocation {
	out := make([]toolLocation, 0, len(list))
	for _, l := range list {
		out = append(out, toolLocation{l.Path, l.Line})
	}
	return out
}

// showPlan emits the agent's plan.
func (h *handle) showPlan(ctx context.Context, entries []tool.PlanEntry) error {
	return h.emit(ctx, session.KindPlan, session.History, struct {
		Kind    session.Kind     `json:"sessionUpdate"`
		Entries []tool.PlanEntry `json:"entries"`
	}{session.KindPlan, entries})
}

// usageJSON is ACP Usage: the session's tokens so far.
func usageJSON(u model.Usage) jsontext.Value {
	input := u.Input + u.CacheRead + u.CacheWrite
	b, err := json.Marshal(struct {
		Total      uint64 `json:"totalTokens"`
		Input      uint64 `json:"inputTokens"`
		Output     uint64 `json:"outputTokens"`
		Thought    uint64 `json:"thoughtTokens,omitzero"`
		CacheRead  uint64 `json:"cachedReadTokens,omitzero"`
		CacheWrite uint64 `json:"cachedWriteTokens,omitzero"`
	}{input + u.Output, input, u.Output, u.Thought, u.CacheRead, u.CacheWrite})
	if err != nil {
		return nil // integers always encode
	}
	return b
}

// notice is a live remark that is not part of the conversation.
func notice(id, severity, title, description string) session.Draft {
	d, _ := update(id, session.KindNotice, session.Live, struct {
		Kind        session.Kind `json:"sessionUpdate"`
		Severity    string       `json:"severity"`
		Title       string       `json:"title"`
		Description string       `json:"description,omitzero"`
	}{session.KindNotice, severity, title, description}) // plain strings always encode
	return d
}

// titleLength is how much of the first prompt makes a title, in characters.
const titleLength = 60

// titleFrom names the session after its first prompt. The hub tells clients,
// unless a person has named it.
func (t *turn) titleFrom(ctx context.Context, parts []model.Part) error {
	if t.titled || len(t.past.messages) > 0 {
		return nil
	}
	title := titleOf(parts)
	if title == "" {
		return nil
	}
	t.titled = true
	return t.sink.Change(ctx, session.InfoChange{Title: &title})
}

func titleOf(parts []model.Part) string {
	for _, p := range parts {
		line, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			continue
		}
		return printable.Short(line, titleLength)
	}
	return ""
}

package transcript

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Agents write what they like into an update, so each member is decoded by
// itself: one that is odd costs only itself.
type members map[string]jsontext.Value

func update(e session.Event) members {
	var p struct {
		Update members `json:"update"`
	}
	if json.Unmarshal(e.Body, &p) != nil {
		return nil
	}
	return p.Update
}

func (m members) str(name string) string {
	var s string
	if json.Unmarshal(m[name], &s) != nil {
		return ""
	}
	return s
}

func object(v jsontext.Value) members {
	var m members
	if json.Unmarshal(v, &m) != nil {
		return nil
	}
	return m
}

func list(v jsontext.Value) []jsontext.Value {
	var l []jsontext.Value
	if json.Unmarshal(v, &l) != nil {
		return nil
	}
	return l
}

// chunk adds to a message: the one of its id, or without one the newest.
func (f *Fold) chunk(e session.Event, role Role) {
	u := update(e)
	text := block(object(u["content"]))
	if text == "" {
		return
	}
	n := f.last(role)
	if id := u.str("messageId"); id != "" {
		n = f.at(string(role)+" "+id, e, role)
	} else if n == nil {
		n = f.append(e, role)
	}
	if role == User && n.text.Len() > 0 {
		n.text.WriteByte('\n') // the blocks of a prompt are apart
	}
	n.text.WriteString(text)
}

// block is a content block as text (ACP v1 ContentBlock).
func block(b members) string {
	resource := object(b["resource"])
	switch kind := b.str("type"); kind {
	case "text":
		return b.str("text")
	case "resource_link":
		return "[" + b.str("uri") + "]"
	case "resource":
		return strings.TrimSuffix("["+resource.str("uri")+"]\n"+resource.str("text"), "\n")
	case "":
		return ""
	default:
		return "[" + strings.TrimSpace(kind+" "+b.str("mimeType")) + "]"
	}
}

func (f *Fold) toolCall(e session.Event) {
	u := update(e)
	id := u.str("toolCallId")
	if id == "" {
		return
	}
	n := f.at("call "+id, e, Tool)
	n.Call = id
	for name, into := range map[string]*string{"title": &n.Text, "kind": &n.Kind, "status": &n.Status} {
		if v := u.str(name); v != "" {
			*into = v
		}
	}
	if content, ok := u["content"]; ok && content.Kind() == jsontext.KindBeginArray {
		n.Output = outputs(list(content))
	}
}

// outputs is a tool call's content as text (ACP v1 ToolCallContent).
func outputs(content []jsontext.Value) string {
	var parts []string
	for _, v := range content {
		c := object(v)
		switch c.str("type") {
		case "content":
			parts = append(parts, block(object(c["content"])))
		case "diff":
			parts = append(parts, diff(c))
		case "terminal":
			parts = append(parts, "[terminal "+c.str("terminalId")+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// diff shows what an edit took away and what it put there. Agents send the
// changed passage or the whole file; lines that both share at their ends are
// left out.
func diff(c members) string {
	before, after := lines(c.str("oldText")), lines(c.str("newText"))
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	out := []string{c.str("path")}
	for _, l := range before {
		out = append(out, "- "+l)
	}
	for _, l := range after {
		out = append(out, "+ "+l)
	}
	return strings.Join(out, "\n")
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// plan keeps the newest plan, where the first one stood.
func (f *Fold) plan(e session.Event) {
	var steps []string
	for _, v := range list(update(e)["entries"]) {
		step := object(v)
		mark := " "
		switch step.str("status") {
		case "completed":
			mark = "x"
		case "in_progress":
			mark = ">"
		}
		steps = append(steps, fmt.Sprintf("[%s] %s", mark, step.str("content")))
	}
	if len(steps) > 0 {
		f.at("plan "+e.Turn, e, Plan).Text = strings.Join(steps, "\n")
	}
}

func (f *Fold) remark(e session.Event) {
	u := update(e)
	var text string
	switch {
	case e.Kind == session.KindNotice:
		text = strings.TrimPrefix(u.str("title")+": "+u.str("description"), ": ")
		text = strings.TrimSuffix(text, ": ")
	case u.str("status") == "completed":
		text = "the conversation was compacted"
	}
	if text != "" {
		f.append(e, Notice).Text = text
	}
}

// turnEnd says how a turn ended that did not end by itself.
func (f *Fold) turnEnd(e session.Event) {
	var end session.TurnEnd
	if json.Unmarshal(e.Body, &end) != nil {
		return
	}
	var text string
	switch {
	case end.Error != nil:
		text = "the turn failed: " + end.Error.Message
	case end.Stop == session.Cancelled && end.Reason != "":
		text = "the turn was cancelled: " + end.Reason
	case end.Stop == session.EndTurn, end.Stop == "":
		return
	default:
		text = "the turn ended: " + string(end.Stop)
	}
	f.append(e, Notice).Text = text
}

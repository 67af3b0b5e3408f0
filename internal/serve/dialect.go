package serve

import (
	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// The ZeroClaw dialect shows what base ACP shows in fewer words: four kinds of
// updates, no progress, "other" for reads and searches. A dialect client
// prints everything else as a raw line, so it gets nothing else.

// appendDialectFrame is appendFrame for dialect connections.
func appendDialectFrame(dst []byte, id string, e *session.Event, replayed bool) []byte {
	switch e.Kind {
	case session.KindAgentMessage, session.KindAgentThought:
		return appendUpdate(dst, id, e)
	case session.KindUserMessage:
		if replayed {
			return appendUpdate(dst, id, e)
		}
	case session.KindToolCall, session.KindToolUpdate:
		if update, ok := dialectToolCall(e.Body); ok {
			return append(dst, updateMessage(id, update)...)
		}
	case session.KindNotice:
		return append(dst, noticeAsText(id, e.Body)...)
	}
	return dst
}

// dialectToolCall rewrites a tool call; ok is false for mere progress.
func dialectToolCall(body raw) (update map[string]raw, ok bool) {
	var p struct {
		Update map[string]raw `json:"update"`
	}
	if json.Unmarshal(body, &p) != nil {
		return nil, false
	}
	update = p.Update
	kind := string(update["sessionUpdate"])
	status := string(update["status"])
	if kind == `"tool_call_update"` && status != `"completed"` && status != `"failed"` {
		return nil, false
	}
	if k := string(update["kind"]); k == `"read"` || k == `"search"` {
		update["kind"] = raw(`"other"`)
	}
	return update, true
}

// dialectPermission gives a permission request the raw input that dialect
// clients show: the tool and what it wants to do.
func dialectPermission(body raw) raw {
	var p map[string]raw
	var call map[string]raw
	if json.Unmarshal(body, &p) != nil || json.Unmarshal(p["toolCall"], &call) != nil {
		return body
	}
	name, summary := call["name"], call["title"]
	if name == nil {
		name = raw(`"tool"`)
	}
	if summary == nil {
		summary = name
	}
	input, err := json.Marshal(map[string]raw{"tool": name, "summary": summary}, json.Deterministic(true))
	if err != nil {
		return body
	}
	call["rawInput"] = input
	if p["toolCall"], err = json.Marshal(call, json.Deterministic(true)); err != nil {
		return body
	}
	out, err := json.Marshal(p, json.Deterministic(true))
	if err != nil {
		return body
	}
	return out
}

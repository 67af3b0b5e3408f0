package fakellm

import "github.com/go-json-experiment/json/jsontext"

// messages writes the Anthropic Messages API.
type messages struct {
	index int    // of the open block, or of the next one
	open  string // type of the open block
}

func (m *messages) begin(a *answer) {
	in, _ := a.tokens()
	a.event("message_start", object{"type": "message_start", "message": m.message(a, []any{}, nil, object{
		"input_tokens": in, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
	})})
	a.event("ping", object{"type": "ping"})
}

func (m *messages) message(a *answer, content []any, stop any, usage object) object {
	return object{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.req.Model,
		"content": content, "stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
}

func (m *messages) text(a *answer, s string) {
	m.into(a, "text", object{"type": "text", "text": ""})
	m.delta(a, object{"type": "text_delta", "text": s})
}

func (m *messages) think(a *answer, s string) {
	m.into(a, "thinking", object{"type": "thinking", "thinking": "", "signature": ""})
	m.delta(a, object{"type": "thinking_delta", "thinking": s})
}

func (m *messages) call(a *answer, c call) {
	m.close(a)
	m.into(a, "tool_use", object{"type": "tool_use", "id": c.id, "name": c.name, "input": object{}})
	m.delta(a, object{"type": "input_json_delta", "partial_json": ""})
	half := len(c.input) / 2
	m.delta(a, object{"type": "input_json_delta", "partial_json": c.input[:half]})
	m.delta(a, object{"type": "input_json_delta", "partial_json": c.input[half:]})
	m.close(a)
}

// into opens a block unless one of that type is open.
func (m *messages) into(a *answer, kind string, block object) {
	if m.open == kind {
		return
	}
	m.close(a)
	m.open = kind
	a.event("content_block_start", object{"type": "content_block_start", "index": m.index, "content_block": block})
}

func (m *messages) delta(a *answer, delta object) {
	a.event("content_block_delta", object{"type": "content_block_delta", "index": m.index, "delta": delta})
}

func (m *messages) close(a *answer) {
	if m.open == "" {
		return
	}
	if m.open == "thinking" {
		m.delta(a, object{"type": "signature_delta", "signature": "c2lnbmVkIGJ5IHRoZSBmYWtl"})
	}
	a.event("content_block_stop", object{"type": "content_block_stop", "index": m.index})
	m.open = ""
	m.index++
}

func (m *messages) end(a *answer, stop string) {
	m.close(a)
	_, out := a.tokens()
	a.event("message_delta", object{
		"type":  "message_delta",
		"delta": object{"stop_reason": m.reason(stop), "stop_sequence": nil},
		"usage": object{"output_tokens": out},
	})
	a.event("message_stop", object{"type": "message_stop"})
}

func (m *messages) reason(stop string) string {
	switch stop {
	case "tools":
		return "tool_use"
	case "length":
		return "max_tokens"
	case "refusal":
		return "refusal"
	default:
		return "end_turn"
	}
}

func (m *messages) whole(a *answer, stop string) any {
	content := []any{}
	if a.said.Len() > 0 {
		content = append(content, object{"type": "text", "text": a.said.String()})
	}
	for _, c := range a.calls {
		content = append(content, object{"type": "tool_use", "id": c.id, "name": c.name, "input": jsontext.Value(c.input)})
	}
	in, out := a.tokens()
	return m.message(a, content, m.reason(stop), object{"input_tokens": in, "output_tokens": out})
}

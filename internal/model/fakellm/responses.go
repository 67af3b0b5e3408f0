package fakellm

import (
	"strconv"
	"strings"
)

// responses writes the OpenAI Responses API.
type responses struct {
	seq    int
	output []any           // finished items
	open   string          // type of the open item
	buf    strings.Builder // its text
}

func (o *responses) event(a *answer, kind string, data object) {
	data["type"], data["sequence_number"] = kind, o.seq
	o.seq++
	a.event(kind, data)
}

func (o *responses) begin(a *answer) {
	for _, kind := range []string{"response.created", "response.in_progress"} {
		o.event(a, kind, object{"response": o.response(a, "in_progress", nil)})
	}
}

func (o *responses) response(a *answer, status string, incomplete any) object {
	r := object{
		"id": "resp_" + a.id, "object": "response", "created_at": 1, "model": a.req.Model, "status": status,
		"output": o.items(), "usage": nil, "error": nil, "incomplete_details": incomplete,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "metadata": object{},
	}
	if status != "in_progress" {
		r["usage"] = o.usage(a)
	}
	return r
}

func (o *responses) items() []any {
	if o.output == nil {
		return []any{}
	}
	return o.output
}

func (o *responses) usage(a *answer) object {
	in, out := a.tokens()
	return object{
		"input_tokens": in, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": out, "output_tokens_details": object{"reasoning_tokens": a.thought.Len() / 4},
		"total_tokens": in + out,
	}
}

func (o *responses) index() int            { return len(o.output) }
func (o *responses) id(kind string) string { return kind + "_" + strconv.Itoa(o.index()) }

func (o *responses) text(a *answer, s string) {
	if o.open != "message" {
		o.close(a)
		o.open = "message"
		o.event(a, "response.output_item.added", object{"output_index": o.index(), "item": o.message("in_progress")})
		o.event(a, "response.content_part.added", object{"item_id": o.id("msg"), "output_index": o.index(), "content_index": 0, "part": outputText("")})
	}
	o.buf.WriteString(s)
	o.event(a, "response.output_text.delta", object{"item_id": o.id("msg"), "output_index": o.index(), "content_index": 0, "delta": s, "logprobs": []any{}})
}

func (o *responses) think(a *answer, s string) {
	if o.open != "reasoning" {
		o.close(a)
		o.open = "reasoning"
		o.event(a, "response.output_item.added", object{"output_index": o.index(), "item": o.reasoning(false)})
		o.event(a, "response.reasoning_summary_part.added", object{"item_id": o.id("rs"), "output_index": o.index(), "summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
	}
	o.buf.WriteString(s)
	o.event(a, "response.reasoning_summary_text.delta", object{"item_id": o.id("rs"), "output_index": o.index(), "summary_index": 0, "delta": s})
}

func (o *responses) call(a *answer, c call) {
	o.close(a)
	item := func(status, args string) object {
		return object{"type": "function_call", "id": o.id("fc"), "call_id": c.id, "name": c.name, "arguments": args, "status": status}
	}
	at := func(extra object) object {
		extra["item_id"], extra["output_index"] = o.id("fc"), o.index()
		return extra
	}
	o.event(a, "response.output_item.added", object{"output_index": o.index(), "item": item("in_progress", "")})
	half := len(c.input) / 2
	o.event(a, "response.function_call_arguments.delta", at(object{"delta": c.input[:half]}))
	o.event(a, "response.function_call_arguments.delta", at(object{"delta": c.input[half:]}))
	o.event(a, "response.function_call_arguments.done", at(object{"arguments": c.input, "name": c.name}))
	o.done(a, item("completed", c.input))
}

// close finishes the open item.
func (o *responses) close(a *answer) {
	switch o.open {
	case "message":
		at := object{"item_id": o.id("msg"), "output_index": o.index(), "content_index": 0, "text": o.buf.String(), "logprobs": []any{}}
		o.event(a, "response.output_text.done", at)
		o.event(a, "response.content_part.done", object{"item_id": o.id("msg"), "output_index": o.index(), "content_index": 0, "part": outputText(o.buf.String())})
		o.done(a, o.message("completed"))
	case "reasoning":
		o.event(a, "response.reasoning_summary_text.done", object{"item_id": o.id("rs"), "output_index": o.index(), "summary_index": 0, "text": o.buf.String()})
		o.done(a, o.reasoning(true))
	}
	o.open = ""
	o.buf.Reset()
}

func (o *responses) done(a *answer, item object) {
	o.event(a, "response.output_item.done", object{"output_index": o.index(), "item": item})
	o.output = append(o.output, item)
}

func (o *responses) message(status string) object {
	content := []any{}
	if status == "completed" {
		content = append(content, outputText(o.buf.String()))
	}
	return object{"type": "message", "id": o.id("msg"), "role": "assistant", "status": status, "content": content}
}

func outputText(s string) object {
	return object{"type": "output_text", "text": s, "annotations": []any{}, "logprobs": []any{}}
}

func (o *responses) reasoning(finished bool) object {
	item := object{"type": "reasoning", "id": o.id("rs"), "summary": []any{}}
	if finished {
		item["summary"] = []any{object{"type": "summary_text", "text": o.buf.String()}}
		item["encrypted_content"] = "ZW5jcnlwdGVkIGJ5IHRoZSBmYWtl"
	}
	return item
}

func (o *responses) end(a *answer, stop string) {
	o.close(a)
	switch stop {
	case "length":
		o.event(a, "response.incomplete", object{"response": o.response(a, "incomplete", object{"reason": "max_output_tokens"})})
	case "refusal":
		o.event(a, "response.incomplete", object{"response": o.response(a, "incomplete", object{"reason": "content_filter"})})
	default:
		o.event(a, "response.completed", object{"response": o.response(a, "completed", nil)})
	}
}

func (o *responses) whole(a *answer, _ string) any {
	if a.said.Len() > 0 {
		o.buf.WriteString(a.said.String())
		o.output = append(o.output, o.message("completed"))
	}
	for _, c := range a.calls {
		o.output = append(o.output, object{"type": "function_call", "id": o.id("fc"), "call_id": c.id, "name": c.name, "arguments": c.input, "status": "completed"})
	}
	return o.response(a, "completed", nil)
}

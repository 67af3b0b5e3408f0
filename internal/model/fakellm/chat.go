package fakellm

// chat writes OpenAI Chat Completions.
type chat struct {
	calls int
}

func (c *chat) begin(a *answer) {
	c.chunk(a, object{"role": "assistant", "content": ""}, nil)
}

func (c *chat) chunk(a *answer, delta object, finish any) {
	a.event("", c.envelope(a, "chat.completion.chunk", []any{
		object{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil},
	}))
}

func (c *chat) envelope(a *answer, kind string, choices []any) object {
	return object{"id": "chatcmpl-" + a.id, "object": kind, "created": 1, "model": a.req.Model, "choices": choices}
}

func (c *chat) text(a *answer, s string)  { c.chunk(a, object{"content": s}, nil) }
func (c *chat) think(a *answer, s string) { c.chunk(a, object{"reasoning_content": s}, nil) }

func (c *chat) call(a *answer, t call) {
	i := c.calls
	c.calls++
	c.chunk(a, object{"tool_calls": []any{object{
		"index": i, "id": t.id, "type": "function", "function": object{"name": t.name, "arguments": ""},
	}}}, nil)
	half := len(t.input) / 2
	for _, s := range []string{t.input[:half], t.input[half:]} {
		c.chunk(a, object{"tool_calls": []any{object{"index": i, "function": object{"arguments": s}}}}, nil)
	}
}

func (c *chat) end(a *answer, stop string) {
	c.chunk(a, object{}, c.reason(stop))
	if a.req.Options.IncludeUsage {
		last := c.envelope(a, "chat.completion.chunk", []any{})
		last["usage"] = c.usage(a)
		a.event("", last)
	}
	a.event("", "[DONE]")
}

func (c *chat) usage(a *answer) object {
	in, out := a.tokens()
	return object{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details":     object{"cached_tokens": 0},
		"completion_tokens_details": object{"reasoning_tokens": a.thought.Len() / 4},
	}
}

func (c *chat) reason(stop string) string {
	switch stop {
	case "tools":
		return "tool_calls"
	case "length":
		return "length"
	case "refusal":
		return "content_filter"
	default:
		return "stop"
	}
}

func (c *chat) whole(a *answer, stop string) any {
	message := object{"role": "assistant", "content": a.said.String(), "refusal": nil}
	var calls []any
	for _, t := range a.calls {
		calls = append(calls, object{"id": t.id, "type": "function", "function": object{"name": t.name, "arguments": t.input}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	out := c.envelope(a, "chat.completion", []any{object{"index": 0, "message": message, "finish_reason": c.reason(stop), "logprobs": nil}})
	out["usage"] = c.usage(a)
	return out
}

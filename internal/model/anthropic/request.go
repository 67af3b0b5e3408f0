package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	jsonv2 "github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
)

// wire marks data in a conversation that came from this API.
const wire = "anthropic"

func (p *Provider) params(req *model.Request) anthropic.MessageNewParams {
	id := p.ep.Model(req)
	params := anthropic.MessageNewParams{
		Model:     id,
		MaxTokens: maxTokens(id, req.MaxTokens),
		System:    system(req.System),
		Messages:  (&conversation{wire: p.ep.Wire(wire), model: id}).params(req.Messages),
		Tools:     tools(req.Tools),
	}
	if req.NoToolCalls && len(req.Tools) > 0 {
		params.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
	}
	think(&params, req.Thinking)
	return params
}

// system marks the end of the part that never changes as a point up to which
// the provider may cache. Tools come before it in the provider's order, so
// they are cached along.
func system(texts []string) []anthropic.TextBlockParam {
	var blocks []anthropic.TextBlockParam
	stable := 0
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			continue
		}
		blocks = append(blocks, anthropic.TextBlockParam{Text: t})
		if i < len(texts)-1 || len(texts) == 1 {
			stable = len(blocks)
		}
	}
	if stable > 0 {
		blocks[stable-1].CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	return blocks
}

func tools(specs []model.ToolSpec) []anthropic.ToolUnionParam {
	var ts []anthropic.ToolUnionParam
	for _, s := range specs {
		t := anthropic.ToolUnionParamOfTool(param.Override[anthropic.ToolInputSchemaParam](json.RawMessage(s.Schema)), s.Name)
		if s.Description != "" {
			t.OfTool.Description = anthropic.String(s.Description)
		}
		ts = append(ts, t)
	}
	return ts
}

// turn is a run of messages of one role.
type turn struct {
	role   model.Role
	blocks []anthropic.ContentBlockParamUnion
}

// conversation turns messages into parameters.
type conversation struct {
	wire  string
	model string
	ids   endpoint.CallIDs
	turns []turn
}

func (c *conversation) params(messages []model.Message) []anthropic.MessageParam {
	for _, m := range messages {
		c.add(m)
	}
	var out []anthropic.MessageParam
	for _, t := range c.turns {
		if t.role == model.RoleAssistant {
			out = append(out, anthropic.NewAssistantMessage(t.blocks...))
		} else {
			out = append(out, anthropic.NewUserMessage(resultsFirst(t.blocks)...))
		}
	}
	markCached(out)
	return out
}

// add appends a message, to the last turn when that has the same role: the API
// wants the roles to alternate.
func (c *conversation) add(m model.Message) {
	var blocks []anthropic.ContentBlockParamUnion
	for _, p := range m.Parts {
		blocks = append(blocks, c.blocks(p)...)
	}
	if len(blocks) == 0 {
		return
	}
	if n := len(c.turns); n > 0 && c.turns[n-1].role == m.Role {
		c.turns[n-1].blocks = append(c.turns[n-1].blocks, blocks...)
		return
	}
	c.turns = append(c.turns, turn{m.Role, blocks})
}

func (c *conversation) blocks(p model.Part) []anthropic.ContentBlockParamUnion {
	switch {
	case p.Thinking != nil:
		return c.thinking(p)
	case p.ToolCall != nil:
		call := p.ToolCall
		return one(anthropic.NewToolUseBlock(c.ids.Call(call.ID), json.RawMessage(call.Input), call.Name))
	case p.ToolResult != nil:
		return one(c.result(p.ToolResult))
	case p.Image != nil:
		return one(image(p.Image))
	case p.IsText() && strings.TrimSpace(p.Text) != "":
		return one(anthropic.NewTextBlock(p.Text))
	default:
		return nil
	}
}

func one(b anthropic.ContentBlockParamUnion) []anthropic.ContentBlockParamUnion {
	return []anthropic.ContentBlockParamUnion{b}
}

// kept is what goes back to the server with thinking, in its Opaque.
type kept struct {
	Model    string `json:"model"` // the model asked, to which the thinking is bound
	Redacted string `json:"redacted,omitzero"`
}

// thinking goes back only to the model it came from and only when it was
// finished: the server checks its signature.
func (c *conversation) thinking(p model.Part) []anthropic.ContentBlockParamUnion {
	var k kept
	if p.Opaque == nil || p.Opaque.Wire != c.wire || jsonv2.Unmarshal(p.Opaque.Data, &k) != nil || k.Model != c.model {
		return nil
	}
	switch {
	case p.Thinking.Redacted:
		return one(anthropic.NewRedactedThinkingBlock(k.Redacted))
	case p.Thinking.Signature != "":
		return one(anthropic.NewThinkingBlock(p.Thinking.Signature, p.Thinking.Text))
	default:
		return nil
	}
}

func (c *conversation) result(r *model.ToolResult) anthropic.ContentBlockParamUnion {
	block := &anthropic.ToolResultBlockParam{ToolUseID: c.ids.Result(r.CallID)}
	if r.IsError {
		block.IsError = anthropic.Bool(true)
	}
	for _, p := range r.Parts {
		var content anthropic.ToolResultBlockParamContentUnion
		switch {
		case p.Image != nil:
			content.OfImage = image(p.Image).OfImage
		case p.IsText() && strings.TrimSpace(p.Text) != "":
			content.OfText = &anthropic.TextBlockParam{Text: p.Text}
		default:
			continue
		}
		block.Content = append(block.Content, content)
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: block}
}

func image(m *model.Media) anthropic.ContentBlockParamUnion {
	return anthropic.NewImageBlockBase64(m.MimeType, base64.StdEncoding.EncodeToString(m.Data))
}

// resultsFirst moves tool results to the front, where the API wants them.
func resultsFirst(blocks []anthropic.ContentBlockParamUnion) []anthropic.ContentBlockParamUnion {
	slices.SortStableFunc(blocks, func(a, b anthropic.ContentBlockParamUnion) int {
		return rank(a) - rank(b)
	})
	return blocks
}

func rank(b anthropic.ContentBlockParamUnion) int {
	if b.OfToolResult != nil {
		return 0
	}
	return 1
}

// markCached lets the provider cache the conversation up to the end of the
// last two user messages: the older mark is found by this request, the newer
// one by the next, however many blocks lie between.
func markCached(out []anthropic.MessageParam) {
	left := 2
	for _, m := range slices.Backward(out) {
		if m.OfUser == nil || left == 0 {
			continue
		}
		left--
		blocks := m.OfUser.Content
		if cc := blocks[len(blocks)-1].GetCacheControl(); cc != nil {
			*cc = anthropic.NewCacheControlEphemeralParam()
		}
	}
}

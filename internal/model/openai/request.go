package openai

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
)

// wire marks data in a conversation that came from this API.
const wire = "openai"

// params keeps nothing on the server: the whole conversation goes along every
// time, with the reasoning in the encrypted form in which it came.
func (p *Provider) params(req *model.Request) responses.ResponseNewParams {
	id := p.ep.Model(req)
	params := responses.ResponseNewParams{
		Model: id,
		Store: param.NewOpt(false),
		Input: responses.ResponseNewParamsInputUnion{
			OfInputItemList: (&conversation{wire: p.ep.Wire(wire)}).items(req.Messages),
		},
		Tools: tools(req.Tools),
	}
	if system := strings.Join(req.System, "\n\n"); strings.TrimSpace(system) != "" {
		params.Instructions = param.NewOpt(system)
	}
	if req.MaxTokens > 0 {
		params.MaxOutputTokens = param.NewOpt(int64(req.MaxTokens))
	}
	if req.CacheKey != "" {
		params.PromptCacheKey = param.NewOpt(req.CacheKey)
	}
	if req.NoToolCalls && len(req.Tools) > 0 {
		params.ToolChoice.OfToolChoiceMode = param.NewOpt(responses.ToolChoiceOptionsNone)
	}
	p.think(&params, req.Thinking)
	return params
}

// think asks for the level; reasoning comes back encrypted from models that
// reason, and they are asked to sum it up for people.
func (p *Provider) think(params *responses.ResponseNewParams, level model.Level) {
	if !reasons(params.Model) && (level == model.LevelDefault || level == model.LevelOff) {
		return
	}
	params.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	params.Reasoning.Effort = effort(params.Model, level)
	if !p.noSummary.Load() {
		params.Reasoning.Summary = shared.ReasoningSummaryAuto
	}
}

func effort(id string, level model.Level) shared.ReasoningEffort {
	switch level {
	case model.LevelOff:
		return leastEffort(id)
	case model.LevelLow:
		return shared.ReasoningEffortLow
	case model.LevelMedium:
		return shared.ReasoningEffortMedium
	case model.LevelHigh:
		return shared.ReasoningEffortHigh
	default:
		return ""
	}
}

func tools(specs []model.ToolSpec) []responses.ToolUnionParam {
	var ts []responses.ToolUnionParam
	for _, s := range specs {
		raw, err := jsonv2.Marshal(struct {
			Type        string         `json:"type"`
			Name        string         `json:"name"`
			Description string         `json:"description,omitzero"`
			Parameters  jsontext.Value `json:"parameters"`
			Strict      bool           `json:"strict"`
		}{"function", s.Name, strings.ToValidUTF8(s.Description, "\ufffd"), s.Schema, false})
		if err != nil {
			continue // a schema that is no JSON; the tool cannot be offered
		}
		t := param.Override[responses.FunctionToolParam](json.RawMessage(raw))
		ts = append(ts, responses.ToolUnionParam{OfFunction: &t})
	}
	return ts
}

// conversation turns messages into input items.
type conversation struct {
	wire string
	ids  endpoint.CallIDs
	out  responses.ResponseInputParam
}

func (c *conversation) items(messages []model.Message) responses.ResponseInputParam {
	for _, m := range messages {
		if m.Role == model.RoleAssistant {
			c.assistant(m.Parts)
		} else {
			c.user(m.Parts)
		}
	}
	return c.out
}

// assistant adds what the model said. Reasoning with nothing after it, left by
// an answer that was broken off, is refused by the server and so left out.
func (c *conversation) assistant(parts []model.Part) {
	last := len(parts)
	for last > 0 && parts[last-1].Thinking != nil {
		last--
	}
	for _, p := range parts[:last] {
		switch {
		case p.Thinking != nil:
			c.reasoning(p)
		case p.ToolCall != nil:
			call := p.ToolCall
			c.out = append(c.out, responses.ResponseInputItemParamOfFunctionCall(string(call.Input), c.ids.Call(call.ID), call.Name))
		case p.IsText() && p.Text != "":
			item := responses.ResponseInputItemParamOfMessage(p.Text, responses.EasyInputMessageRoleAssistant)
			item.OfMessage.Phase = c.phase(p)
			c.out = append(c.out, item)
		}
	}
}

// reasoning goes back exactly as it came, and only where it came from.
func (c *conversation) reasoning(p model.Part) {
	if p.Opaque == nil || p.Opaque.Wire != c.wire || p.Opaque.Data == nil {
		return
	}
	item := param.Override[responses.ResponseReasoningItemParam](json.RawMessage(p.Opaque.Data))
	c.out = append(c.out, responses.ResponseInputItemUnionParam{OfReasoning: &item})
}

func (c *conversation) phase(p model.Part) responses.EasyInputMessagePhase {
	var phase responses.EasyInputMessagePhase
	if p.Opaque != nil && p.Opaque.Wire == c.wire && jsonv2.Unmarshal(p.Opaque.Data, &phase) != nil {
		return ""
	}
	return phase
}

// user adds tool results, each an item of its own, and then everything else as
// one message.
func (c *conversation) user(parts []model.Part) {
	var content responses.ResponseInputMessageContentListParam
	for _, p := range parts {
		switch {
		case p.ToolResult != nil:
			c.result(p.ToolResult)
		case p.Image != nil:
			content = append(content, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
				ImageURL: param.NewOpt(dataURL(p.Image)),
				Detail:   responses.ResponseInputImageDetailAuto,
			}})
		case p.IsText() && p.Text != "":
			content = append(content, responses.ResponseInputContentParamOfInputText(p.Text))
		}
	}
	if len(content) > 0 {
		c.out = append(c.out, responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRoleUser))
	}
}

func (c *conversation) result(r *model.ToolResult) {
	var item responses.ResponseInputItemUnionParam
	if images := resultImages(r); images == nil {
		item = responses.ResponseInputItemParamOfFunctionCallOutput(endpoint.ResultText(r))
	} else {
		text := responses.ResponseFunctionCallOutputItemUnionParam{OfInputText: &responses.ResponseInputTextContentParam{Text: endpoint.ResultText(r)}}
		item = responses.ResponseInputItemParamOfFunctionCallOutput(append(responses.ResponseFunctionCallOutputItemListParam{text}, images...))
	}
	item.OfFunctionCallOutput.CallID = param.NewOpt(c.ids.Result(r.CallID))
	c.out = append(c.out, item)
}

func resultImages(r *model.ToolResult) responses.ResponseFunctionCallOutputItemListParam {
	var images responses.ResponseFunctionCallOutputItemListParam
	for _, p := range r.Parts {
		if p.Image != nil {
			images = append(images, responses.ResponseFunctionCallOutputItemUnionParam{
				OfInputImage: &responses.ResponseInputImageContentParam{ImageURL: param.NewOpt(dataURL(p.Image))},
			})
		}
	}
	return images
}

func dataURL(m *model.Media) string {
	return "data:" + m.MimeType + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
}

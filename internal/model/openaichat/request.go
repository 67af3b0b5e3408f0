package openaichat

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// wire marks data in a conversation that came from this API.
const wire = "openai-chat"

type request struct {
	Model         string         `json:"model"`
	Messages      []message      `json:"messages"`
	Tools         []tool         `json:"tools,omitempty"`
	ToolChoice    string         `json:"tool_choice,omitzero"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitzero"`
	// OpenAI's newer models take only the second of these, other servers only
	// the first.
	MaxTokens           int    `json:"max_tokens,omitzero"`
	MaxCompletionTokens int    `json:"max_completion_tokens,omitzero"`
	ReasoningEffort     string `json:"reasoning_effort,omitzero"`
	PromptCacheKey      string `json:"prompt_cache_key,omitzero"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// optional names the fields that some servers do not take and that an answer
// can do without, if they are set.
func (r *request) optional() []string {
	var fields []string
	if r.StreamOptions != nil {
		fields = append(fields, "stream_options")
	}
	if r.ReasoningEffort != "" {
		fields = append(fields, "reasoning_effort")
	}
	if r.PromptCacheKey != "" {
		fields = append(fields, "prompt_cache_key")
	}
	return fields
}

func (r *request) clear(field string) {
	switch field {
	case "stream_options":
		r.StreamOptions = nil
	case "reasoning_effort":
		r.ReasoningEffort = ""
	case "prompt_cache_key":
		r.PromptCacheKey = ""
	}
}

type message struct {
	Role             string         `json:"role"`
	Content          any            `json:"content"` // text, parts or null
	ToolCalls        []toolCall     `json:"tool_calls,omitempty"`
	ToolCallID       string         `json:"tool_call_id,omitzero"`
	ReasoningContent string         `json:"reasoning_content,omitzero"`
	ReasoningDetails jsontext.Value `json:"reasoning_details,omitzero"`
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitzero"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url,omitzero"`
	InputAudio *struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio,omitzero"`
}

type toolCall struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Function     function       `json:"function"`
	ExtraContent jsontext.Value `json:"extra_content,omitzero"` // Gemini's thought signature
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitzero"`
		Parameters  jsontext.Value `json:"parameters,omitzero"`
	} `json:"function"`
}

// kept is what goes back to the server with a part, in its Opaque.
type kept struct {
	ReasoningContent bool           `json:"reasoning_content,omitzero"` // the thinking came in that field
	ReasoningDetails jsontext.Value `json:"reasoning_details,omitzero"`
	ExtraContent     jsontext.Value `json:"extra_content,omitzero"`
}

func (p *Provider) request(req *model.Request) *request {
	r := &request{
		Model:         p.ep.Model(req),
		Stream:        true,
		StreamOptions: &streamOptions{IncludeUsage: true},
		Messages:      (&conversation{wire: p.ep.Wire(wire)}).messages(req),
	}
	for _, s := range req.Tools {
		t := tool{Type: "function"}
		t.Function.Name, t.Function.Description, t.Function.Parameters = s.Name, s.Description, s.Schema
		r.Tools = append(r.Tools, t)
	}
	if req.NoToolCalls && len(req.Tools) > 0 {
		r.ToolChoice = "none"
	}
	if p.ep.Official() {
		r.MaxCompletionTokens, r.PromptCacheKey = req.MaxTokens, req.CacheKey
	} else {
		r.MaxTokens = req.MaxTokens
	}
	switch req.Thinking {
	case model.LevelLow, model.LevelMedium, model.LevelHigh:
		r.ReasoningEffort = string(req.Thinking)
	case model.LevelOff:
		r.ReasoningEffort = "none"
	}
	p.without(r)
	return r
}

// conversation turns messages into those of the API.
type conversation struct {
	wire string
	ids  endpoint.CallIDs
	out  []message
}

func (c *conversation) messages(req *model.Request) []message {
	if system := strings.Join(req.System, "\n\n"); strings.TrimSpace(system) != "" {
		c.out = append(c.out, message{Role: "system", Content: system})
	}
	current := lastPrompt(req.Messages)
	for i, m := range req.Messages {
		if m.Role == model.RoleAssistant {
			c.assistant(m.Parts, i > current)
		} else {
			c.user(m.Parts)
		}
	}
	return c.out
}

// lastPrompt is the index of the last message in which a person spoke.
func lastPrompt(messages []model.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; m.Role == model.RoleUser && m.Text() != "" {
			return i
		}
	}
	return -1
}

// assistant adds what the model said. Servers that think in the field
// reasoning_content want it back within the turn it belongs to, and refuse it
// later.
func (c *conversation) assistant(parts []model.Part, current bool) {
	m := message{Role: "assistant"}
	var text strings.Builder
	for _, p := range parts {
		k := c.kept(p)
		switch {
		case p.Thinking != nil:
			if k.ReasoningContent && current {
				m.ReasoningContent += p.Thinking.Text
			}
			if k.ReasoningDetails != nil {
				m.ReasoningDetails = k.ReasoningDetails
			}
		case p.ToolCall != nil:
			call := p.ToolCall
			m.ToolCalls = append(m.ToolCalls, toolCall{
				ID: c.ids.Call(call.ID), Type: "function",
				Function:     function{Name: call.Name, Arguments: string(call.Input)},
				ExtraContent: k.ExtraContent,
			})
		case p.IsText():
			text.WriteString(p.Text)
		}
	}
	if text.Len() > 0 {
		m.Content = text.String()
	}
	if m.Content != nil || m.ToolCalls != nil {
		c.out = append(c.out, m)
	}
}

func (c *conversation) kept(p model.Part) kept {
	var k kept
	if p.Opaque != nil && p.Opaque.Wire == c.wire && json.Unmarshal(p.Opaque.Data, &k, endpoint.Tolerant()) != nil {
		return kept{}
	}
	return k
}

// user adds tool results, each a message of its own, and then everything else
// as one message. Tool messages carry text only, so the images of results come
// in that one.
func (c *conversation) user(parts []model.Part) {
	var content []part
	for _, p := range parts {
		switch {
		case p.ToolResult != nil:
			c.out = append(c.out, message{Role: "tool", ToolCallID: c.ids.Result(p.ToolResult.CallID), Content: endpoint.ResultText(p.ToolResult)})
			for _, rp := range p.ToolResult.Parts {
				if rp.Image != nil {
					content = append(content, part{Type: "text", Text: "Image from the tool:"}, imagePart(rp.Image))
				}
			}
		case p.Image != nil:
			content = append(content, imagePart(p.Image))
		case p.Audio != nil:
			content = append(content, audioPart(p.Audio))
		case p.IsText() && p.Text != "":
			content = append(content, part{Type: "text", Text: p.Text})
		}
	}
	switch {
	case len(content) == 0:
	case len(content) == 1 && content[0].Type == "text":
		// Plain text is understood even where parts are not.
		c.out = append(c.out, message{Role: "user", Content: content[0].Text})
	default:
		c.out = append(c.out, message{Role: "user", Content: content})
	}
}

func imagePart(m *model.Media) part {
	p := part{Type: "image_url", ImageURL: &struct {
		URL string `json:"url"`
	}{}}
	p.ImageURL.URL = "data:" + m.MimeType + ";base64," + base64.StdEncoding.EncodeToString(m.Data)
	return p
}

func audioPart(m *model.Media) part {
	p := part{Type: "input_audio", InputAudio: &struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	}{}}
	p.InputAudio.Data = base64.StdEncoding.EncodeToString(m.Data)
	p.InputAudio.Format = "wav"
	if strings.Contains(m.MimeType, "mp3") || strings.Contains(m.MimeType, "mpeg") {
		p.InputAudio.Format = "mp3"
	}
	return p
}

// Info implements model.Provider.
func (p *Provider) Info(id string) model.Info {
	if id == "" {
		id = p.ep.Config.Model
	}
	info := model.Info{ContextWindow: p.ep.ContextWindow, Images: !textOnly(id), Audio: hears(id), Price: p.ep.Price}
	if info.Price == nil && p.sellsAtListPrice() {
		info.Price = price.Lookup(id)
	}
	if takesEffort(id) {
		info.Thinking = []model.Level{model.LevelLow, model.LevelMedium, model.LevelHigh}
	}
	return info
}

// sellsAtListPrice reports whether models cost here what their makers ask.
func (p *Provider) sellsAtListPrice() bool {
	return p.ep.Official() || strings.HasPrefix(p.ep.BaseURL, "https://openrouter.ai/")
}

// takesEffort reports whether models of that name are known to heed
// reasoning_effort, whoever serves them.
func takesEffort(id string) bool {
	id = baseName(id)
	for _, prefix := range []string{"gpt-5", "gpt-oss", "o1", "o3", "o4", "gemini-2.5", "gemini-3", "grok-3-mini"} {
		if strings.HasPrefix(id, prefix) && !strings.HasPrefix(id, "gpt-5-chat") {
			return true
		}
	}
	return false
}

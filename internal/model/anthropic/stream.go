package anthropic

import (
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/assemble"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/sse"
)

// event is every stream event of the Messages API, as far as it matters here.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	ContentBlock struct {
		Type      string         `json:"type"`
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Text      assemble.Delta `json:"text"`
		Thinking  assemble.Delta `json:"thinking"`
		Signature string         `json:"signature"`
		Data      string         `json:"data"`
		Input     jsontext.Value `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type        string         `json:"type"`
		Text        assemble.Delta `json:"text"`
		Thinking    assemble.Delta `json:"thinking"`
		Signature   string         `json:"signature"`
		PartialJSON assemble.Delta `json:"partial_json"`
		StopReason  string         `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage is cumulative; an event may leave fields out.
type usage struct {
	Input      *uint64 `json:"input_tokens"`
	Output     *uint64 `json:"output_tokens"`
	CacheRead  *uint64 `json:"cache_read_input_tokens"`
	CacheWrite *uint64 `json:"cache_creation_input_tokens"`
	Details    struct {
		Thinking *uint64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u usage) into(t *model.Usage) {
	set := func(to *uint64, from *uint64) {
		if from != nil {
			*to = *from
		}
	}
	set(&t.Input, u.Input)
	set(&t.Output, u.Output)
	set(&t.CacheRead, u.CacheRead)
	set(&t.CacheWrite, u.CacheWrite)
	set(&t.Thought, u.Details.Thinking)
}

// stream reads one answer.
type stream struct {
	ep    *endpoint.Endpoint
	msg   *assemble.Message
	wire  string
	asked string // the model as we named it
	model string // the model as the server names it
	stop  string
	usage model.Usage
	ended bool
}

func (s *stream) read(body io.Reader) (*model.Response, error) {
	r := sse.NewReader(body)
	for !s.ended && s.msg.Err() == nil {
		raw, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, endpoint.ErrTruncated
		}
		if err != nil {
			return nil, err
		}
		var ev event
		if err := json.Unmarshal(raw.Data, &ev, endpoint.Tolerant()); err != nil {
			return nil, err
		}
		if ev.Type == "error" {
			return nil, s.ep.Refused(0, nil, endpoint.ParseDetail(raw.Data))
		}
		s.take(&ev)
	}
	return &model.Response{Message: s.msg.Message(), Stop: stopReason(s.stop), Usage: s.usage, Model: s.model}, nil
}

func (s *stream) take(ev *event) {
	switch ev.Type {
	case "message_start":
		s.model = ev.Message.Model
		ev.Message.Usage.into(&s.usage)
	case "content_block_start":
		s.start(ev)
	case "content_block_delta":
		s.delta(ev)
	case "content_block_stop":
		if s.msg.Has(ev.Index) {
			s.msg.Done(ev.Index)
		}
	case "message_delta":
		if ev.Delta.StopReason != "" {
			s.stop = ev.Delta.StopReason
		}
		ev.Usage.into(&s.usage)
	case "message_stop":
		s.ended = true
	}
}

func (s *stream) start(ev *event) {
	i, b := ev.Index, &ev.ContentBlock
	switch b.Type {
	case "text":
		s.msg.Text(i, b.Text)
	case "thinking":
		s.msg.Think(i, b.Thinking)
		s.msg.Sign(i, b.Signature)
		s.keep(i, kept{Model: s.asked})
	case "redacted_thinking":
		s.msg.Redact(i)
		s.keep(i, kept{Model: s.asked, Redacted: b.Data})
	case "tool_use":
		s.msg.Call(i, b.ID, b.Name)
		if string(b.Input) != "{}" {
			s.msg.Input(i, assemble.Plain(string(b.Input)))
		}
	}
}

func (s *stream) keep(i int, k kept) {
	if data, err := json.Marshal(k, endpoint.Tolerant()); err == nil {
		s.msg.Attach(i, &model.Opaque{Wire: s.wire, Data: data})
	}
}

func (s *stream) delta(ev *event) {
	i, d := ev.Index, &ev.Delta
	switch d.Type {
	case "text_delta":
		s.msg.Text(i, d.Text)
	case "thinking_delta":
		s.msg.Think(i, d.Thinking)
	case "signature_delta":
		s.msg.Sign(i, d.Signature)
	case "input_json_delta":
		s.msg.Input(i, d.PartialJSON)
	}
}

// partial is what had arrived of an answer that did not end well.
func (s *stream) partial() *model.Response {
	resp := s.msg.Partial()
	if resp != nil {
		resp.Usage, resp.Model = s.usage, s.model
	}
	return resp
}

func stopReason(s string) model.StopReason {
	switch s {
	case "tool_use":
		return model.StopToolUse
	case "max_tokens":
		return model.StopMaxTokens
	case "refusal":
		return model.StopRefusal
	case "model_context_window_exceeded":
		return model.StopContextWindow
	default:
		return model.StopEndTurn
	}
}

package openai

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/assemble"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/sse"
)

// event is every stream event of the Responses API, as far as it matters here.
type event struct {
	Type         string         `json:"type"`
	OutputIndex  int            `json:"output_index"`
	SummaryIndex int            `json:"summary_index"`
	Delta        assemble.Delta `json:"delta"`
	Arguments    assemble.Delta `json:"arguments"`
	Item         jsontext.Value `json:"item"`
	Response     jsontext.Value `json:"response"`
}

// item is an output item.
type item struct {
	Type      string         `json:"type"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments assemble.Delta `json:"arguments"`
	Phase     jsontext.Value `json:"phase"`
	Content   []struct {
		Text    assemble.Delta `json:"text"`
		Refusal assemble.Delta `json:"refusal"`
	} `json:"content"`
}

// response is the state of the whole answer.
type response struct {
	Model      string         `json:"model"`
	Error      jsontext.Value `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input        uint64 `json:"input_tokens"`
		InputDetails struct {
			Cached  uint64 `json:"cached_tokens"`
			Written uint64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		Output        uint64 `json:"output_tokens"`
		OutputDetails struct {
			Reasoning uint64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

func (r *response) usage() model.Usage {
	in := r.Usage.InputDetails
	cached := min(in.Cached+in.Written, r.Usage.Input)
	return model.Usage{
		Input:      r.Usage.Input - cached,
		CacheRead:  in.Cached,
		CacheWrite: in.Written,
		Output:     r.Usage.Output,
		Thought:    r.Usage.OutputDetails.Reasoning,
	}
}

// stream reads one answer.
type stream struct {
	ep      *endpoint.Endpoint
	msg     *assemble.Message
	wire    string
	last    response
	ended   bool
	called  bool
	refused bool
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
		if err := s.take(&ev, raw.Data); err != nil {
			return nil, err
		}
	}
	return &model.Response{Message: s.msg.Message(), Stop: s.stop(), Usage: s.last.usage(), Model: s.last.Model}, nil
}

func (s *stream) take(ev *event, raw []byte) error {
	i := ev.OutputIndex
	switch ev.Type {
	case "response.output_text.delta":
		s.msg.Text(i, ev.Delta)
	case "response.refusal.delta":
		s.refused = true
		s.msg.Text(i, ev.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		s.msg.Think(i, ev.Delta)
	case "response.reasoning_summary_part.added":
		if s.msg.Len(i) > 0 {
			s.msg.Think(i, assemble.Plain("\n\n"))
		}
	case "response.function_call_arguments.delta":
		s.msg.Input(i, ev.Delta)
	case "response.function_call_arguments.done":
		if s.msg.Len(i) == 0 {
			s.msg.Input(i, ev.Arguments)
		}
	case "response.output_item.added":
		return s.itemAdded(ev)
	case "response.output_item.done":
		return s.itemDone(ev)
	case "response.created":
		return decode(ev.Response, &s.last)
	case "response.completed", "response.incomplete":
		s.ended = true
		return decode(ev.Response, &s.last)
	case "response.failed":
		if err := decode(ev.Response, &s.last); err != nil {
			return err
		}
		return s.ep.Refused(0, nil, endpoint.ParseDetail(s.last.Error))
	case "error":
		detail := endpoint.ParseDetail(raw)
		if detail.Type == "error" {
			detail.Type = ""
		}
		return s.ep.Refused(0, nil, detail)
	}
	return nil
}

func (s *stream) itemAdded(ev *event) error {
	var it item
	if err := decode(ev.Item, &it); err != nil {
		return err
	}
	switch it.Type {
	case "function_call":
		s.call(ev.OutputIndex, &it)
	case "reasoning":
		s.msg.Think(ev.OutputIndex, assemble.Delta{})
	}
	return nil
}

func (s *stream) call(i int, it *item) {
	s.called = true
	s.msg.Call(i, it.CallID, it.Name)
	s.msg.Input(i, it.Arguments)
}

// itemDone takes from a finished item what its deltas did not bring.
func (s *stream) itemDone(ev *event) error {
	var it item
	if err := decode(ev.Item, &it); err != nil {
		return err
	}
	i := ev.OutputIndex
	switch it.Type {
	case "reasoning":
		s.msg.Think(i, assemble.Delta{})
		s.msg.Attach(i, &model.Opaque{Wire: s.wire, Data: ev.Item})
	case "function_call":
		if !s.msg.Has(i) {
			s.call(i, &it)
		}
	case "message":
		if s.msg.Len(i) == 0 {
			for _, c := range it.Content {
				s.msg.Text(i, c.Text)
				s.msg.Text(i, c.Refusal)
			}
		}
		if it.Phase.Kind() == '"' {
			s.msg.Attach(i, &model.Opaque{Wire: s.wire, Data: it.Phase})
		}
	default:
		return nil
	}
	s.msg.Done(i)
	return nil
}

func (s *stream) stop() model.StopReason {
	switch reason := s.last.Incomplete.Reason; {
	case s.refused, reason == "content_filter":
		return model.StopRefusal
	case strings.Contains(reason, "max_output_tokens"):
		return model.StopMaxTokens
	case s.called:
		return model.StopToolUse
	default:
		return model.StopEndTurn
	}
}

// partial is what had arrived of an answer that did not end well.
func (s *stream) partial() *model.Response {
	resp := s.msg.Partial()
	if resp != nil {
		resp.Usage, resp.Model = s.last.usage(), s.last.Model
	}
	return resp
}

func decode(v jsontext.Value, into any) error {
	if v == nil {
		return nil
	}
	return json.Unmarshal(v, into, endpoint.Tolerant())
}

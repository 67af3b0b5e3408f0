package openaichat

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/assemble"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/sse"
)

// chunk is a piece of a streamed answer, or a whole one.
type chunk struct {
	Model   string         `json:"model"`
	Choices []choice       `json:"choices"`
	Usage   *usage         `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

type choice struct {
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"` // instead of Delta, in a whole answer
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content          content        `json:"content"`
	Refusal          assemble.Delta `json:"refusal"`
	ReasoningContent assemble.Delta `json:"reasoning_content"` // DeepSeek, vLLM, llama.cpp, xAI …
	Reasoning        assemble.Delta `json:"reasoning"`         // OpenRouter, Ollama, Groq …
	ReasoningDetails jsontext.Value `json:"reasoning_details"` // OpenRouter
	ToolCalls        []callDelta    `json:"tool_calls"`
}

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
	ExtraContent jsontext.Value `json:"extra_content"`
}

type usage struct {
	Prompt        uint64 `json:"prompt_tokens"`
	Completion    uint64 `json:"completion_tokens"`
	PromptDetails struct {
		Cached  uint64 `json:"cached_tokens"`
		Written uint64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning uint64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

func (u *usage) total() model.Usage {
	d := u.PromptDetails
	cached := min(d.Cached+d.Written, u.Prompt)
	return model.Usage{
		Input:      u.Prompt - cached,
		CacheRead:  d.Cached,
		CacheWrite: d.Written,
		Output:     u.Completion,
		Thought:    u.CompletionDetails.Reasoning,
	}
}

// content is a text, or, from Mistral, a list of texts and thinking.
type content struct {
	text assemble.Delta
	list []contentPart
}

type contentPart struct {
	Type     string         `json:"type"`
	Text     assemble.Delta `json:"text"`
	Thinking []contentPart  `json:"thinking"`
}

// UnmarshalJSONFrom takes either form.
func (c *content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '[' {
		return json.UnmarshalDecode(dec, &c.list)
	}
	return c.text.UnmarshalJSONFrom(dec)
}

// arguments are JSON text, or, from some servers, the object itself.
type arguments struct{ assemble.Delta }

// UnmarshalJSONFrom takes either form.
func (a *arguments) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return a.Delta.UnmarshalJSONFrom(dec)
	}
	v, err := dec.ReadValue()
	a.Delta = assemble.Plain(string(v))
	return err
}

// Where the pieces of an answer are kept in the message: the protocol numbers
// only the tool calls.
const (
	thinkingAt = iota
	textAt
	callsFrom
)

// stream reads one answer.
type stream struct {
	ep      *endpoint.Endpoint
	msg     *assemble.Message
	wire    string
	model   string
	finish  string
	done    bool // [DONE] was seen
	usage   model.Usage
	kept    kept
	details []jsontext.Value
	calls   []openCall
	refused bool
}

// openCall is a tool call as the server numbers and names it.
type openCall struct {
	index int
	id    string
}

func newStream(ep *endpoint.Endpoint, msg *assemble.Message) *stream {
	return &stream{ep: ep, msg: msg, wire: ep.Wire(wire)}
}

func (s *stream) read(body io.Reader, whole bool) (*model.Response, error) {
	var err error
	if whole {
		err = s.readWhole(body)
	} else {
		err = s.readStream(body)
	}
	if err != nil {
		return nil, err
	}
	return &model.Response{Message: s.msg.Message(), Stop: s.stop(), Usage: s.usage, Model: s.model}, nil
}

func (s *stream) readWhole(body io.Reader) error {
	b, err := readAll(body)
	if err != nil {
		return err
	}
	if err := s.event(b); err != nil {
		return err
	}
	return s.finished()
}

// readStream reads to [DONE], or to the end of the body once the server has
// said why it finished: usage comes after that, and some send no [DONE].
func (s *stream) readStream(body io.Reader) error {
	r := sse.NewReader(body)
	for s.msg.Err() == nil && !s.done {
		ev, err := r.Next()
		if errors.Is(err, io.EOF) || err != nil && s.finish != "" {
			break
		}
		if err != nil {
			return err
		}
		if bytes.HasPrefix(ev.Data, []byte("[DONE]")) {
			s.done = true
			break
		}
		if err := s.event(ev.Data); err != nil {
			return err
		}
	}
	return s.finished()
}

func (s *stream) finished() error {
	if !s.done && s.finish == "" {
		return endpoint.ErrTruncated
	}
	s.keep()
	for i := range s.calls {
		s.msg.Done(callsFrom + i)
	}
	return nil
}

func (s *stream) event(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c, endpoint.Tolerant()); err != nil {
		return err
	}
	if k := c.Error.Kind(); k == '{' || k == '"' {
		return s.ep.Refused(0, nil, endpoint.ParseDetail(data))
	}
	if c.Model != "" {
		s.model = c.Model
	}
	if c.Usage != nil {
		s.usage = c.Usage.total()
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		s.take(&ch.Delta)
		if ch.Message != nil {
			s.take(ch.Message)
		}
		if ch.FinishReason != "" {
			s.finish = ch.FinishReason
		}
	}
	return nil
}

func (s *stream) take(d *delta) {
	switch {
	case !d.ReasoningContent.Empty():
		s.kept.ReasoningContent = true
		s.msg.Think(thinkingAt, d.ReasoningContent)
	case !d.Reasoning.Empty():
		s.msg.Think(thinkingAt, d.Reasoning)
	}
	if d.ReasoningDetails.Kind() == '[' {
		s.addDetails(d.ReasoningDetails)
	}
	s.msg.Text(textAt, d.Content.text)
	for _, p := range d.Content.list {
		s.msg.Text(textAt, p.Text)
		for _, t := range p.Thinking {
			s.msg.Think(thinkingAt, t.Text)
		}
	}
	if !d.Refusal.Empty() {
		s.refused = true
		s.msg.Text(textAt, d.Refusal)
	}
	for i := range d.ToolCalls {
		s.call(&d.ToolCalls[i])
	}
}

// addDetails collects OpenRouter's record of the reasoning, to be sent back as
// it came.
func (s *stream) addDetails(v jsontext.Value) {
	var list []jsontext.Value
	if json.Unmarshal(v, &list, endpoint.Tolerant()) != nil {
		return
	}
	s.details = append(s.details, list...)
}

func (s *stream) keep() {
	if s.details != nil {
		if v, err := json.Marshal(s.details, endpoint.Tolerant()); err == nil {
			s.kept.ReasoningDetails = v
			s.msg.Think(thinkingAt, assemble.Delta{})
		}
	}
	if s.msg.Has(thinkingAt) {
		s.attach(thinkingAt, s.kept)
	}
}

func (s *stream) attach(i int, k kept) {
	if v, err := json.Marshal(k, endpoint.Tolerant()); err == nil {
		s.msg.Attach(i, &model.Opaque{Wire: s.wire, Data: v})
	}
}

func (s *stream) call(d *callDelta) {
	i := s.find(d)
	if i < 0 {
		i = len(s.calls)
		index := i
		if d.Index != nil {
			index = *d.Index
		}
		s.calls = append(s.calls, openCall{index: index, id: d.ID})
		id := d.ID
		if id == "" {
			id = "call_" + rand.Text()[:12]
		}
		s.msg.Call(callsFrom+i, id, d.Function.Name)
	}
	s.msg.Input(callsFrom+i, d.Function.Arguments.Delta)
	if d.ExtraContent.Kind() == '{' {
		s.attach(callsFrom+i, kept{ExtraContent: d.ExtraContent})
	}
}

// find returns which call the delta continues, or -1 for a new one. A new name
// with a new id under an old index is a new call: some servers number all
// calls 0. Without an index, a delta without a name continues the last one.
func (s *stream) find(d *callDelta) int {
	for i := len(s.calls) - 1; i >= 0; i-- {
		c := s.calls[i]
		switch {
		case d.ID != "" && d.ID == c.id:
			return i
		case d.ID != "" && c.id != "" && d.Function.Name != "":
			continue
		case d.Index != nil && *d.Index == c.index:
			return i
		case d.Index == nil && d.Function.Name == "":
			return i
		}
	}
	return -1
}

func (s *stream) stop() model.StopReason {
	switch {
	case s.refused, s.finish == "content_filter":
		return model.StopRefusal
	case s.finish == "length":
		return model.StopMaxTokens
	case len(s.calls) > 0:
		return model.StopToolUse
	default:
		return model.StopEndTurn
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

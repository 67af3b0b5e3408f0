// Package openaichat reaches models through Chat Completions, the protocol of
// OpenAI that most other servers speak too: Ollama, LM Studio, vLLM,
// llama.cpp, OpenRouter, Gemini, Groq, DeepSeek, Mistral, xAI and more. They
// differ in what they add and leave out, so this package has wire types of its
// own and takes whatever makes sense. (The official SDK's chat types know none
// of the additions and would make the binary 13 MB larger; the tests run the
// official client against the same fake server to keep both honest.)
package openaichat

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/assemble"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
)

// OfficialURL is the base URL of OpenAI's own service.
const OfficialURL = "https://api.openai.com/v1"

// Provider is one server that speaks Chat Completions.
type Provider struct {
	ep *endpoint.Endpoint

	mu      sync.Mutex
	refused map[string]bool // optional fields that this server does not take
}

// New returns a provider for cfg. It connects to nothing yet.
func New(cfg endpoint.Config) (*Provider, error) {
	ep, err := endpoint.New(cfg, OfficialURL)
	if err != nil {
		return nil, err
	}
	ep.DefaultPath("/v1")
	return &Provider{ep: ep, refused: make(map[string]bool)}, nil
}

// Name implements model.Provider.
func (p *Provider) Name() string { return p.ep.Name }

// Stream implements model.Provider.
func (p *Provider) Stream(ctx context.Context, req *model.Request, emit func(model.Event) error) (*model.Response, error) {
	resp, err := p.stream(ctx, req, emit)
	return resp, p.ep.Annotate(err, p.ep.Model(req), resp)
}

// stream runs one step. A response beside an error is what had arrived.
func (p *Provider) stream(ctx context.Context, req *model.Request, emit func(model.Event) error) (*model.Response, error) {
	key, err := p.ep.Key()
	if err != nil {
		return nil, err
	}
	guarded, guard := p.ep.Watch(ctx)
	defer guard.Stop()
	raw, err := p.send(guarded, key, req)
	if err != nil {
		return nil, p.ep.Failed(ctx, guarded, err, false)
	}
	defer raw.Body.Close()
	s := newStream(p.ep, assemble.New(emit))
	resp, err := s.read(guard.Body(raw.Body), isJSON(raw))
	if stop := s.msg.Err(); stop != nil {
		return s.partial(), stop
	}
	if err != nil {
		return s.partial(), p.ep.Failed(ctx, guarded, err, true)
	}
	return p.ep.Finish(resp)
}

// isJSON reports whether the server ignored our wish for a stream.
func isJSON(r *http.Response) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// send posts the request, once more if the server refuses it for an optional
// field, and returns the answer with its body unread.
func (p *Provider) send(ctx context.Context, key string, req *model.Request) (*http.Response, error) {
	body := p.request(req)
	for {
		raw, err := p.post(ctx, key, body)
		if err != nil || raw.StatusCode < 300 {
			return raw, err
		}
		detail := endpoint.ReadDetail(raw.Body)
		raw.Body.Close()
		if badRequest(raw.StatusCode) && p.drop(body, detail) {
			continue
		}
		return nil, p.ep.Refused(raw.StatusCode, raw.Header, detail)
	}
}

func badRequest(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

func (p *Provider) post(ctx context.Context, key string, body *request) (*http.Response, error) {
	b, err := json.Marshal(body, endpoint.Tolerant())
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.ep.BaseURL+"/chat/completions", bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for k, v := range p.ep.Headers {
		r.Header.Set(k, v)
	}
	return p.ep.Client.Do(r)
}

// drop takes the optional field that the server complains about out of the
// request, for good, and reports whether there was one.
func (p *Provider) drop(body *request, d endpoint.Detail) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, field := range body.optional() {
		if d.Param == field || strings.Contains(d.Message, field) {
			p.refused[field] = true
			body.clear(field)
			return true
		}
	}
	return false
}

// without takes the fields out of the request that the server has refused.
func (p *Provider) without(body *request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for field := range p.refused {
		body.clear(field)
	}
}

// readAll reads an answer that is no stream.
func readAll(r io.Reader) ([]byte, error) {
	const most = 64 << 20
	return io.ReadAll(io.LimitReader(r, most))
}

// Package anthropic reaches models through the Anthropic Messages API, at
// Anthropic or at any server that speaks it. Requests are built and sent by
// the official SDK; the stream is decoded here, because decoding a delta into
// the SDK's union of all events costs ten times what the rest of its way does.
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/assemble"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
)

// OfficialURL is the base URL of Anthropic's own service.
const OfficialURL = "https://api.anthropic.com"

// Provider is one server that speaks the Messages API.
type Provider struct {
	ep       *endpoint.Endpoint
	messages anthropic.MessageService
}

// New returns a provider for cfg. It connects to nothing yet.
func New(cfg endpoint.Config) (*Provider, error) {
	ep, err := endpoint.New(cfg, OfficialURL)
	if err != nil {
		return nil, err
	}
	opts := []option.RequestOption{
		option.WithBaseURL(baseURL(ep.BaseURL)),
		option.WithHTTPClient(ep.Client),
		option.WithMaxRetries(0), // model.WithRetry does it, and says so
	}
	for k, v := range ep.Headers {
		opts = append(opts, option.WithHeader(k, v))
	}
	return &Provider{ep: ep, messages: anthropic.NewMessageService(opts...)}, nil
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
		return nil, p.failed(ctx, guarded, err)
	}
	defer raw.Body.Close()
	s := &stream{ep: p.ep, msg: assemble.New(emit), wire: p.ep.Wire(wire), asked: p.ep.Model(req)}
	resp, err := s.read(guard.Body(raw.Body))
	if stop := s.msg.Err(); stop != nil {
		return s.partial(), stop
	}
	if err != nil {
		return s.partial(), p.ep.Failed(ctx, guarded, err, true)
	}
	return p.ep.Finish(resp)
}

// send posts the request and returns the answer with its body unread.
func (p *Provider) send(ctx context.Context, key string, req *model.Request) (*http.Response, error) {
	var raw *http.Response
	opts := []option.RequestOption{option.WithResponseInto(&raw)}
	if key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	if err := p.messages.NewStreaming(ctx, p.params(req), opts...).Err(); err != nil {
		return nil, err
	}
	return raw, nil
}

func (p *Provider) failed(caller, guarded context.Context, err error) error {
	if refused, ok := errors.AsType[*anthropic.Error](err); ok && caller.Err() == nil {
		detail := endpoint.ReadDetail(refused.Response.Body)
		return p.ep.Refused(refused.StatusCode, refused.Response.Header, detail)
	}
	return p.ep.Failed(caller, guarded, err, false)
}

// baseURL is the root of the API without the version, which the SDK adds.
func baseURL(s string) string { return strings.TrimSuffix(s, "/v1") + "/" }

// Package provider builds model providers from their configuration. It is the
// only package that links all of them.
package provider

import (
	"fmt"
	"net/http"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/anthropic"
	"github.com/grapnel-ai/grapnel/internal/model/demo"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/openai"
	"github.com/grapnel-ai/grapnel/internal/model/openaichat"
	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// Kind is the protocol that a provider speaks.
type Kind string

// The kinds of providers.
const (
	Anthropic  Kind = "anthropic"   // Anthropic Messages
	OpenAI     Kind = "openai"      // OpenAI Responses
	OpenAIChat Kind = "openai-chat" // OpenAI Chat Completions, any compatible server
	Demo       Kind = "demo"        // scripted, offline
)

// Config describes one provider.
type Config struct {
	// Name is its name in the configuration, for messages to people.
	Name string
	Kind Kind
	// BaseURL is the root of the API; empty means the official one.
	BaseURL string
	// APIKey is asked before every request. nil or an empty key means none,
	// which only servers other than the official ones accept.
	APIKey  func() (string, error)
	Model   string
	Headers map[string]string
	// ContextWindow in tokens and Price override what is known of the model.
	ContextWindow int
	Price         *price.Price
	// Retry is how failed steps are tried again.
	Retry model.RetryPolicy
	// Silence is how long the server may say nothing in mid-answer; 0 means
	// endpoint.DefaultSilence.
	Silence time.Duration
	// Client sends the requests; nil means a new one.
	Client *http.Client
}

// New returns the provider that cfg describes, with repairs and retries.
func New(cfg Config) (model.Provider, error) {
	p, err := build(cfg)
	if err != nil {
		return nil, err
	}
	return model.WithRetry(model.WithRepair(p), cfg.Retry), nil
}

func build(cfg Config) (model.Provider, error) {
	ep := endpoint.Config{
		Name: cfg.Name, BaseURL: cfg.BaseURL, APIKey: cfg.APIKey, Model: cfg.Model, Headers: cfg.Headers,
		ContextWindow: cfg.ContextWindow, Price: cfg.Price, Client: cfg.Client, Silence: cfg.Silence,
	}
	switch cfg.Kind {
	case Anthropic:
		return anthropic.New(ep)
	case OpenAI:
		return openai.New(ep)
	case OpenAIChat:
		return openaichat.New(ep)
	case Demo:
		return demo.New(cfg.Name), nil
	default:
		return nil, fmt.Errorf("providers.%s.kind is %q, which is none of %s, %s, %s, %s", cfg.Name, cfg.Kind, Anthropic, OpenAI, OpenAIChat, Demo)
	}
}

// Package endpoint holds what the providers that speak HTTP share: where the
// server is, the credentials, a guard against servers that go silent, and how
// failures become model errors.
package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
)

// How long a server may say nothing. Models that think, and local ones that
// load or read a long prompt, are silent for minutes; hosted ones send
// keep-alives meanwhile. Past this nobody waits any more.
const (
	DefaultFirstByte = 10 * time.Minute // from the request to the response header
	DefaultSilence   = 5 * time.Minute  // between two reads of the body
)

// Config says how to reach a provider.
type Config struct {
	// Name is the provider's name in the configuration.
	Name string
	// BaseURL is the root of the API; empty means the official one.
	BaseURL string
	// APIKey is asked before every request, so that a key put in place later
	// is found. nil or an empty key means none.
	APIKey func() (string, error)
	// Model is used when a request names none.
	Model string
	// Headers are added to every request and win over the provider's own.
	Headers map[string]string
	// ContextWindow in tokens overrides what is known of the model.
	ContextWindow int
	// Price overrides what is known of the model.
	Price *price.Price
	// Client sends the requests; nil means NewClient().
	Client *http.Client
	// FirstByte and Silence override DefaultFirstByte and DefaultSilence.
	FirstByte, Silence time.Duration
}

// Endpoint is a provider's server. It is safe for concurrent use.
type Endpoint struct {
	Config
	official bool
}

// New checks cfg and fills what it leaves open. officialURL is the base URL of
// the provider's own service.
func New(cfg Config, officialURL string) (*Endpoint, error) {
	e := &Endpoint{Config: cfg}
	if e.BaseURL == "" {
		e.BaseURL = officialURL
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("base_url of provider %s is not an http or https address; set providers.%s.base_url", cfg.Name, cfg.Name)
	}
	e.BaseURL = strings.TrimRight(e.BaseURL, "/")
	e.official = e.BaseURL == strings.TrimRight(officialURL, "/")
	if e.Client == nil {
		e.Client = NewClient()
	}
	if e.FirstByte <= 0 {
		e.FirstByte = DefaultFirstByte
	}
	if e.Silence <= 0 {
		e.Silence = DefaultSilence
	}
	return e, nil
}

// DefaultPath adds the path under which servers usually have the API to an
// address that is only a host.
func (e *Endpoint) DefaultPath(path string) {
	if u, err := url.Parse(e.BaseURL); err == nil && u.Path == "" {
		e.BaseURL += path
	}
}

// Official reports whether this is the provider's own service.
func (e *Endpoint) Official() bool { return e.official }

// Model returns the model that req is for.
func (e *Endpoint) Model(req *model.Request) string {
	if req.Model != "" {
		return req.Model
	}
	return e.Config.Model
}

// Wire names the protocol and the server, so that data which only this server
// understands goes back to no other one.
func (e *Endpoint) Wire(protocol string) string {
	if e.official {
		return protocol
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil {
		return protocol
	}
	return protocol + "@" + u.Host
}

// Key returns the API key. A provider's own service needs one; any other
// server may do without.
func (e *Endpoint) Key() (string, error) {
	if e.APIKey == nil {
		return "", e.checkKey("")
	}
	key, err := e.APIKey()
	if err != nil {
		return "", &model.Error{Kind: model.ErrAuth, Provider: e.Name, Message: "the API key could not be read", Err: err}
	}
	key = strings.TrimSpace(key)
	return key, e.checkKey(key)
}

func (e *Endpoint) checkKey(key string) error {
	for _, c := range []byte(key) {
		if c < 0x21 || c > 0x7e {
			return &model.Error{Kind: model.ErrAuth, Provider: e.Name, Message: "the API key holds characters that no key has"}
		}
	}
	if key == "" && e.official && !e.hasAuthHeader() {
		return &model.Error{Kind: model.ErrAuth, Provider: e.Name, Message: "no API key is configured"}
	}
	return nil
}

func (e *Endpoint) hasAuthHeader() bool {
	for k := range e.Headers {
		if strings.EqualFold(k, "Authorization") || strings.EqualFold(k, "X-Api-Key") {
			return true
		}
	}
	return false
}

// NewClient returns an HTTP client fit for streams: no overall time limit, no
// compression, proxies from the environment, and no redirect to another host,
// which could carry the key there.
func NewClient() *http.Client {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, ForceAttemptHTTP2: true}
	if d, ok := http.DefaultTransport.(*http.Transport); ok {
		t = d.Clone()
		t.DisableCompression = true
	}
	return &http.Client{Transport: t, CheckRedirect: sameHost}
}

func sameHost(req *http.Request, via []*http.Request) error {
	const most = 3
	if len(via) >= most || req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("it redirects to %s", req.URL.Host)
	}
	return nil
}

// Watch returns a context for one request that ends when the server stays
// silent for too long, and the guard that watches it. Stop must be called.
func (e *Endpoint) Watch(ctx context.Context) (context.Context, *Guard) {
	return watch(ctx, e.FirstByte, e.Silence)
}

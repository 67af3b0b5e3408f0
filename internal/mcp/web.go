package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/mcp/stdio"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// webLink is a server reached by HTTP.
type webLink struct {
	conf   Server
	client *http.Client
	trip   *webTrip
	hidden *secret.Redactor
	login  auth.OAuthHandler // nil without a login
	life   context.Context   // of the connection
	end    context.CancelFunc
}

func newWebLink(ctx context.Context, conf Server, secrets Secrets) (link, error) {
	u, err := url.Parse(conf.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &finalError{errors.New("its url is no http or https address")}
	}
	l := &webLink{conf: conf, trip: newWebTrip(u, secrets.Headers), hidden: secrets.redactor()}
	l.client = &http.Client{Transport: l.trip, CheckRedirect: l.trip.checkRedirect}
	if conf.Login != nil && conf.Transport == HTTP {
		if l.login, err = conf.Login(ctx); err != nil {
			return nil, &finalError{err}
		}
	}
	l.life, l.end = context.WithCancel(context.Background())
	return l, nil
}

func (l *webLink) transport() sdk.Transport {
	if l.conf.Transport == SSE {
		return &lasting{l, &sdk.SSEClientTransport{Endpoint: l.conf.URL, HTTPClient: l.client, MaxEventSize: stdio.MaxLine}}
	}
	return &sdk.StreamableClientTransport{Endpoint: l.conf.URL, HTTPClient: l.client, MaxEventSize: stdio.MaxLine, OAuthHandler: l.login}
}

// stop implements link: the server is not ours to end.
func (l *webLink) stop() {}

func (l *webLink) free() {
	l.end()
	l.trip.base.CloseIdleConnections()
}

// lasting is a transport whose connection would end with the context it was
// made under.
type lasting struct {
	link *webLink
	sdk.Transport
}

// Connect implements mcp.Transport.
func (l *lasting) Connect(ctx context.Context) (sdk.Connection, error) {
	defer context.AfterFunc(ctx, l.link.end)()
	return l.Transport.Connect(l.link.life)
}

// why says what the server's last refusal means.
func (l *webLink) why(err error) error {
	switch status := l.trip.refused(); status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &finalError{l.wanting(status)}
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable:
		return fmt.Errorf("it answered %s; check its url and whether its transport is http or sse", statusText(status))
	case 0:
	default:
		return fmt.Errorf("it answered %s", statusText(status))
	}
	if at := (*url.Error)(nil); errors.As(err, &at) { // its text repeats the address
		err = at.Err
	}
	return errors.New(l.hidden.Replace(err.Error()))
}

// wanting says how credentials are given to this server.
func (l *webLink) wanting(status int) error {
	where := fmt.Sprintf(`set headers = { Authorization = "env:NAME" } in [mcp.servers.%s], with "Bearer …" in the variable`, l.conf.Name)
	if l.conf.Login != nil && l.conf.Transport == HTTP {
		where = "run grapnel mcp login " + l.conf.Name + ", or " + where
	}
	if l.conf.FromClient {
		where = "set its Authorization header in your client"
	}
	return fmt.Errorf("it wants credentials, or others (%s); %s", statusText(status), where)
}

func statusText(status int) string { return fmt.Sprintf("%d %s", status, http.StatusText(status)) }

// webTrip sends the requests to one server: with its headers, to its origin
// alone, and with bounds on what comes back.
type webTrip struct {
	base    *http.Transport
	origin  *url.URL
	headers map[string]string

	mu     sync.Mutex
	status int // of the last refusal, 0 when the last request went well
}

func newWebTrip(origin *url.URL, headers map[string]string) *webTrip {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConnsPerHost = 4
	base.MaxResponseHeaderBytes = 64 << 10
	return &webTrip{base: base, origin: origin, headers: headers}
}

func (t *webTrip) sameOrigin(u *url.URL) bool {
	return u.Scheme == t.origin.Scheme && u.Host == t.origin.Host
}

// checkRedirect follows redirects within the server's origin: its headers are
// for nobody else.
func (t *webTrip) checkRedirect(r *http.Request, via []*http.Request) error {
	if !t.sameOrigin(r.URL) {
		return fmt.Errorf("it leads to %s; set its url to that if you trust it", r.URL.Host)
	}
	if len(via) > 5 {
		return errors.New("it redirects in a circle")
	}
	return nil
}

// RoundTrip implements http.RoundTripper.
func (t *webTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.sameOrigin(r.URL) {
		return nil, fmt.Errorf("it leads to %s, which is not its own address", r.URL.Host)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	r = r.Clone(ctx)
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	resp, err := t.send(r, cancel)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	t.note(r, resp.StatusCode)
	resp.Body = newWebBody(resp, func() { cancel(nil) })
	return resp, nil
}

// note remembers a refusal. That a server has no stream of its own to offer, or
// no session to end, is none.
func (t *webTrip) note(r *http.Request, status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case status < 400:
		if r.Method == http.MethodPost {
			t.status = 0
		}
	case r.Method == http.MethodPost, status == http.StatusUnauthorized, status == http.StatusForbidden:
		t.status = status
	}
}

func (t *webTrip) refused() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}

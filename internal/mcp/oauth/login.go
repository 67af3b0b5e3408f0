package oauth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// LoginBound is how long a person may take to log in.
const LoginBound = 5 * time.Minute

// greeting is a request that a server which wants a login refuses.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"grapnel","version":"1"}}}`

// ErrNotWanted is a server that wants no login.
var ErrNotWanted = errors.New("the server does not ask for a login")

// LogIn logs in to the server of that name and keeps the tokens. show is given
// the address to open in a browser; the browser comes back to a port of this
// machine.
func (s Store) LogIn(ctx context.Context, name, url string, show func(address string)) error {
	ctx, cancel := context.WithTimeout(ctx, LoginBound)
	defer cancel()
	back, err := listen()
	if err != nil {
		return err
	}
	defer back.close()
	refused, err := refusal(ctx, url)
	if err != nil {
		return err
	}
	h, err := auth.NewAuthorizationCodeHandler(s.flow(name, url, back, show))
	if err != nil {
		return err
	}
	if err := h.Authorize(ctx, refused.Request, refused); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("nobody logged in within %s", LoginBound)
		}
		return fmt.Errorf("log in to %s: %w", name, err)
	}
	return nil
}

// flow says how the SDK is to log in.
func (s Store) flow(name, url string, back *callback, show func(string)) *auth.AuthorizationCodeHandlerConfig {
	return &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.url, Client: newClient(), RequestRefreshToken: true,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Grapnel", RedirectURIs: []string{back.url}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		AuthorizationCodeFetcher: func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			show(a.URL)
			return back.wait(ctx)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			l := &login{
				URL: url, ClientID: c.ClientID, ClientSecret: c.ClientSecret, Scopes: c.Scopes,
				TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle,
			}
			l.take(t)
			return oauth2.StaticTokenSource(t), s.save(name, l)
		},
	}
}

// refusal is the response of a server that wants a login.
func refusal(ctx context.Context, url string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(greeting))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := newClient().Do(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusUnauthorized {
		return nil, errors.Join(ErrNotWanted, resp.Body.Close())
	}
	return resp, nil
}

// callback is where the browser comes back to.
type callback struct {
	url    string
	server *http.Server
	result chan *auth.AuthorizationResult
	denied chan error
}

// listen waits for the browser on a port of the loopback interface.
func listen() (*callback, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("wait for the browser: %w", err)
	}
	c := &callback{
		url:    fmt.Sprintf("http://%s/callback", l.Addr()),
		result: make(chan *auth.AuthorizationResult, 1), denied: make(chan error, 1),
	}
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: tokenBound}
	go func() { _ = c.server.Serve(l) }() // ends with close
	return c, nil
}

// ServeHTTP takes the first answer; which login it belongs to, its state says.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case r.URL.Path != "/callback":
		http.NotFound(w, r)
		return
	case q.Get("error") != "":
		select {
		case c.denied <- fmt.Errorf("the server refused it: %.200q %.500q", q.Get("error"), q.Get("error_description")):
		default:
		}
	default:
		select {
		case c.result <- &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}:
		default:
		}
	}
	_, _ = fmt.Fprintln(w, "Grapnel has what it needs. This window can be closed.")
}

func (c *callback) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case r := <-c.result:
		return r, nil
	case err := <-c.denied:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.server.Shutdown(ctx) // the page is on its way
	_ = c.server.Close()
}

package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
)

// tokenBound bounds one request to an authorization server.
const tokenBound = 30 * time.Second

// newClient is the client for authorization servers.
func newClient() *http.Client { return &http.Client{Timeout: tokenBound} }

// Handler gives requests to a server the tokens of an earlier login, or nil when
// there was none. Tokens that have run out are renewed and kept.
func (s Store) Handler(ctx context.Context, name, url string) (auth.OAuthHandler, error) {
	l, err := s.load(ctx, name, url)
	if errors.Is(err, errNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &handler{store: s, name: name, url: url, last: l.token()}, nil
}

// handler is the login to one server (auth.OAuthHandler), and the source of its
// tokens (oauth2.TokenSource).
type handler struct {
	store     Store
	name, url string

	mu   sync.Mutex
	last *oauth2.Token
}

// TokenSource implements auth.OAuthHandler.
func (h *handler) TokenSource(context.Context) (oauth2.TokenSource, error) { return h, nil }

// Authorize implements auth.OAuthHandler: nobody is there to log in.
func (h *handler) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	return fmt.Errorf("the login is not good any more; log in again with grapnel mcp login %s", h.name)
}

// Token implements oauth2.TokenSource. Before it renews a token it looks whether
// another session has: many servers take a refresh token only once.
func (h *handler) Token() (*oauth2.Token, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last.Valid() {
		return h.last, nil
	}
	unlock, err := h.store.lock(h.name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), oauth2.HTTPClient, newClient()), tokenBound)
	defer cancel()
	l, err := h.store.load(ctx, h.name, h.url)
	if err != nil {
		return nil, fmt.Errorf("%w; log in with grapnel mcp login %s", err, h.name)
	}
	if h.last = l.token(); h.last.Valid() {
		return h.last, nil
	}
	fresh, err := l.config().TokenSource(ctx, h.last).Token()
	if err != nil {
		return nil, err // the SDK knows the kind that means a new login
	}
	h.last = fresh
	l.take(fresh)
	return fresh, h.store.save(h.name, l)
}

// lock has the sessions of all processes renew a login one after the other.
func (s Store) lock(name string) (unlock func(), err error) {
	f, err := filelock.Open(s.file(name) + ".lock")
	if err != nil {
		return nil, fmt.Errorf("renew the login to %s: %w", name, err)
	}
	if err := filelock.LockWithin(f, filelock.Exclusive, 2*tokenBound); err != nil {
		return nil, errors.Join(fmt.Errorf("renew the login to %s: %w", name, err), f.Close())
	}
	return func() { _ = f.Close() }, nil // which unlocks
}

func (l *login) token() *oauth2.Token {
	t := &oauth2.Token{AccessToken: l.AccessToken, RefreshToken: l.RefreshToken, TokenType: l.TokenType}
	if l.Expiry > 0 {
		t.Expiry = time.Unix(l.Expiry, 0)
	}
	return t
}

func (l *login) take(t *oauth2.Token) {
	l.AccessToken, l.TokenType, l.Expiry = t.AccessToken, t.TokenType, 0
	if t.RefreshToken != "" {
		l.RefreshToken = t.RefreshToken
	}
	if !t.Expiry.IsZero() {
		l.Expiry = t.Expiry.Unix()
	}
}

func (l *login) config() *oauth2.Config {
	return &oauth2.Config{
		ClientID: l.ClientID, ClientSecret: l.ClientSecret, Scopes: l.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: l.AuthStyle},
	}
}

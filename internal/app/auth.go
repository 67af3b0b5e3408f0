package app

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// JSON-RPC codes of failures decided here.
const (
	codeInternal     = -32603
	codeAuthRequired = -32000
)

// Ids of the ways to log in.
const (
	methodKey   = "api-key"
	methodSetup = "setup"
)

// errLoggedOut is what a prompt fails with after logout.
var errLoggedOut = errors.New("logged out: authenticate again to use the configured credentials")

// auth is logging in, which for a native agent means: a usable provider is
// configured or found in the environment.
type auth struct {
	conf      *live
	redact    *secret.Redactor
	loggedOut atomic.Bool
}

// Methods implements serve.Auth.
func (a *auth) Methods(terminal bool) []serve.AuthMethod {
	list := []serve.AuthMethod{{
		ID: methodKey, Name: "API key in place",
		Description: "Uses the key from config.toml or the environment; choose this after putting one there.",
	}}
	if terminal {
		list = append(list, serve.AuthMethod{
			ID: methodSetup, Name: "Set up in a terminal", Type: "terminal", Args: []string{"setup"},
			Description: "Asks for a provider and its key, and stores them.",
		})
	}
	return list
}

// Authenticate implements serve.Auth.
func (a *auth) Authenticate(ctx context.Context, method string) error {
	switch method {
	case methodKey:
	case methodSetup:
		return session.Invalidf("authentication method %q runs in a terminal: run grapnel setup there, then authenticate with %q", method, methodKey)
	default:
		return session.Invalidf("unknown authentication method %q; there is %q", method, methodKey)
	}
	if err := a.check(ctx); err != nil {
		return &session.FailureError{Failure: session.Failure{Code: codeAuthRequired, Message: err.Error()}}
	}
	a.loggedOut.Store(false)
	return nil
}

// check finds out whether the default agent's provider has its credentials.
func (a *auth) check(ctx context.Context) error {
	c, err := a.conf.get()
	if err != nil {
		return err
	}
	alias, err := c.PickAgent()
	if err != nil {
		return nil // several agents: each prompt finds out for its own
	}
	src := config.Sources{Getenv: a.conf.getenv, Probe: config.ProbeModels, Seen: a.redact}
	choice, err := c.ProviderFor(ctx, alias, src)
	if err != nil {
		return err
	}
	_, err = choice.Credentials(ctx, src)
	return err
}

// Logout implements serve.Auth.
func (a *auth) Logout(context.Context) error {
	a.loggedOut.Store(true)
	return nil
}

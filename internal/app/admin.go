package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// The methods that manage a gateway, on the socket of its instance only: it is
// out of reach of other users, of sandboxes and of the network.
const (
	methodPair        = serve.MethodAdmin + "pair"
	methodTokenCreate = serve.MethodAdmin + "token/create"
	methodTokenList   = serve.MethodAdmin + "token/list"
	methodTokenRevoke = serve.MethodAdmin + "token/revoke"
	methodStatus      = serve.MethodAdmin + "status"
)

// PairingCode is a code by which one client gets a token.
type PairingCode struct {
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
}

// TokenRequest says what token to create.
type TokenRequest struct {
	Name    string    `json:"name"`
	Owner   string    `json:"owner,omitzero"` // empty: an owner of the token's name
	Role    string    `json:"role,omitzero"`  // empty: approver
	Scope   []string  `json:"scope,omitzero"` // aliases of agents; empty means all
	Expires time.Time `json:"expires,omitzero"`
}

// CreatedToken is a new token, the only time it is shown.
type CreatedToken struct {
	door.Token
	Secret string `json:"token"`
}

// tokenList is the answer to methodTokenList.
type tokenList struct {
	Tokens []door.Token `json:"tokens"`
}

// admin answers what other processes of the same user ask of the gateway in this
// one. It implements serve.Options.Admin.
func (a *App) admin(ctx context.Context, method string, params jsontext.Value) (any, error) {
	d := a.door.Load()
	if d == nil {
		return nil, acp.Errorf(acp.CodeInvalidRequest, "there is no gateway in this process")
	}
	switch method {
	case methodPair:
		code, until, err := d.NewCode(ctx)
		return PairingCode{code, until}, err
	case methodTokenCreate:
		return a.createToken(ctx, d, params)
	case methodTokenList:
		return tokenList{d.Tokens()}, nil
	case methodTokenRevoke:
		var p struct {
			Name string `json:"name"`
		}
		if err := adminParams(params, &p); err != nil {
			return nil, err
		}
		return struct{}{}, d.Revoke(ctx, p.Name)
	case methodStatus:
		return a.gatewayStatus(ctx), nil
	}
	return nil, acp.MethodNotFound(method)
}

func adminParams(params jsontext.Value, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return acp.Errorf(acp.CodeInvalidParams, "the params cannot be read: they are from another version of grapnel")
	}
	return nil
}

func (a *App) createToken(ctx context.Context, d *door.Door, params jsontext.Value) (any, error) {
	var p TokenRequest
	if err := adminParams(params, &p); err != nil {
		return nil, err
	}
	role := session.Approver
	if p.Role != "" {
		var err error
		if role, err = session.ParseRole(p.Role); err != nil {
			return nil, err
		}
	}
	if err := a.checkScope(p.Scope); err != nil {
		return nil, err
	}
	t, text, err := d.Create(ctx, door.NewToken{Name: p.Name, Owner: p.Owner, Role: role, Scope: p.Scope, Expires: p.Expires})
	return CreatedToken{t, text}, err
}

// checkScope refuses aliases that no agent has: a typing error would make a token
// that is good for nothing.
func (a *App) checkScope(scope []string) error {
	c, err := a.conf.get()
	if err != nil {
		return errBrokenConfig
	}
	for _, alias := range scope {
		if _, ok := c.Agents[alias]; !ok {
			return fmt.Errorf("there is no agent %.80q; there are %s", alias, strings.Join(slices.Sorted(maps.Keys(c.Agents)), ", "))
		}
	}
	return nil
}

package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/beacon"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/door"
)

// GatewayAdmin manages the gateway that runs on a configuration directory, over
// the socket of its instance.
type GatewayAdmin struct{ beacon beacon.Beacon }

// FindGateway finds the gateway that runs on home, also one that drains. The
// error says that none does.
func FindGateway(home config.Home) (GatewayAdmin, error) {
	b, err := beacon.Look(string(home))
	return GatewayAdmin{b}, err
}

// URL is where clients reach the gateway.
func (g GatewayAdmin) URL() string { return g.beacon.URL }

// PairingCode returns a new code.
func (g GatewayAdmin) PairingCode(ctx context.Context) (code PairingCode, err error) {
	err = g.ask(ctx, methodPair, struct{}{}, &code)
	return code, err
}

// CreateToken makes a token.
func (g GatewayAdmin) CreateToken(ctx context.Context, r TokenRequest) (t CreatedToken, err error) {
	err = g.ask(ctx, methodTokenCreate, r, &t)
	return t, err
}

// Tokens lists the tokens by name.
func (g GatewayAdmin) Tokens(ctx context.Context) ([]door.Token, error) {
	var list tokenList
	err := g.ask(ctx, methodTokenList, struct{}{}, &list)
	return list.Tokens, err
}

// RevokeToken takes a token back and ends its connections.
func (g GatewayAdmin) RevokeToken(ctx context.Context, name string) error {
	return g.ask(ctx, methodTokenRevoke, struct {
		Name string `json:"name"`
	}{name}, nil)
}

// Status asks the gateway how it does.
func (g GatewayAdmin) Status(ctx context.Context) (s GatewayStatus, err error) {
	err = g.ask(ctx, methodStatus, struct{}{}, &s)
	s.URL, s.ACP, s.PID = g.beacon.URL, g.beacon.ACP, g.beacon.PID
	return s, err
}

// ask makes one request. What the gateway says is an error of its own already.
func (g GatewayAdmin) ask(ctx context.Context, method string, params, result any) error {
	err := askThere(ctx, g.beacon.Socket, method, params, result)
	if rpc, ok := errors.AsType[*acp.Error](err); ok {
		return errors.New(rpc.Message)
	}
	if err != nil {
		return fmt.Errorf("reach the gateway (process %d) by its socket %s: %w", g.beacon.PID, g.beacon.Socket, err)
	}
	return nil
}

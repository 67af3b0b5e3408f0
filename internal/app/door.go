package app

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/door/address"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// The files of the door in the data directory.
const (
	tokensFile = "tokens.json"
	bridgeFile = "bridge-token"
)

// shortCredential is how long a credential has to be that nobody guesses.
const shortCredential = 16

// openDoor opens the door of a gateway. From then on the instance's socket takes
// the methods that manage it.
func (a *App) openDoor(ctx context.Context, c *config.Config) (*door.Door, error) {
	s, err := a.doorSettings(ctx, c)
	if err != nil {
		return nil, err
	}
	d, err := door.Open(door.Options{
		Path:     filepath.Join(c.DataPath(), tokensFile),
		Settings: s, Redact: a.redact, Audit: a.audit, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	a.door.Store(d)
	return d, nil
}

// configureDoor puts what a changed configuration says in force at the door. An
// error leaves it as it is.
func (a *App) configureDoor(ctx context.Context, d *door.Door, c *config.Config) error {
	s, err := a.doorSettings(ctx, c)
	if err != nil {
		return err
	}
	d.Configure(s)
	return nil
}

// doorSettings are what a configuration says about the door. A credential that
// is set and cannot be read is an error: without it, others would decide who
// comes in.
func (a *App) doorSettings(ctx context.Context, c *config.Config) (s door.Settings, err error) {
	g := c.Gateway
	s.Pairing = g.RequirePairing
	s.Limits = door.Limits{Connections: g.Limits.Connections, PerMinute: g.Limits.RequestsPerMinute}
	if err = s.Lists(g.AllowedHosts, g.AllowedOrigins, g.TrustedProxies); err != nil {
		return s, err
	}
	for _, name := range append([]string{g.Host}, g.TLS.ACMEDomains...) {
		if h, err := address.ParseHost(name); err == nil && !h.IP.IsValid() {
			s.Hosts = append(s.Hosts, h) // an IP address is ours when connections come to it
		}
	}
	if s.Token, err = a.staticCredential(ctx, c, "token", g.Auth.Token); err != nil {
		return s, err
	}
	if s.Password, err = a.staticCredential(ctx, c, "password", g.Auth.Password); err != nil {
		return s, err
	}
	s.Bridge, err = door.BridgeToken(filepath.Join(c.DataPath(), bridgeFile))
	return s, err
}

func (a *App) staticCredential(ctx context.Context, c *config.Config, key string, ref secret.Ref) (string, error) {
	value, err := ref.ResolveFor(ctx, key, c.Home().Secrets(a.conf.getenv, a.redact))
	if err != nil {
		return "", fmt.Errorf("gateway.auth.%s cannot be read: %w; put it in place, or take the setting away", key, err)
	}
	if value != "" && len(value) < shortCredential {
		a.log.Warn("a credential of the gateway is short enough to be guessed: use 32 random characters", "setting", "gateway.auth."+key)
	}
	return value, nil
}

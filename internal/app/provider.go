package app

import (
	"context"
	"errors"
	"slices"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
	"github.com/grapnel-ai/grapnel/internal/model/provider"
	"github.com/grapnel-ai/grapnel/internal/native"
)

// chosen is the provider an agent uses, as far as it is known without secrets
// and without the network.
type chosen struct {
	choice config.ProviderChoice
	known  model.Provider // for Info only
	prices *price.Book    // the user's own
}

func (c chosen) info(name string) model.Info {
	if name == "" {
		name = c.choice.Model
	}
	info := c.known.Info(name)
	if own, ok := c.prices.Find(name); ok {
		info.Price = &own.Price
		if own.ContextWindow > 0 {
			info.ContextWindow = own.ContextWindow
		}
	}
	return info
}

// providerOf finds an agent's provider without asking the network.
func (a *App) providerOf(c *config.Config, alias string) (chosen, error) {
	choice, err := c.ProviderFor(context.Background(), alias, config.Sources{Getenv: a.conf.getenv})
	if err != nil {
		return chosen{}, err
	}
	known, err := provider.New(a.providerConfig(choice, config.Credentials{}))
	return chosen{choice, known, a.prices.of(c, a.report)}, err
}

func (a *App) providerConfig(p config.ProviderChoice, secrets config.Credentials) provider.Config {
	return provider.Config{
		Name: p.Name, Kind: provider.Kind(p.Kind), BaseURL: p.BaseURL, Model: p.Model,
		APIKey:  func() (string, error) { return secrets.APIKey, nil },
		Headers: secrets.Headers, ContextWindow: p.ContextWindow, Client: a.client,
	}
}

// bindProvider gives a native agent its provider: what is known of it now, and
// a way to get it with its credentials at each turn.
func (a *App) bindProvider(c *config.Config, alias string, n *native.Agent) {
	n.Info = func(string) model.Info { return model.Info{} }
	if p, err := a.providerOf(c, alias); err == nil {
		n.Info = p.info
		n.Model = p.choice.Model
		n.Models = modelsOf(c, p.choice)
	}
	n.Provider = func(ctx context.Context) (model.Provider, error) {
		p, err := a.connect(ctx, alias)
		if errors.Is(err, config.ErrNoCredentials) || errors.Is(err, errLoggedOut) {
			err = &native.LoginError{Err: err}
		}
		return p, err
	}
}

// modelsOf are the models an agent offers: its own, those other agents use with
// the same provider, and the provider's well-known ones.
func modelsOf(c *config.Config, p config.ProviderChoice) []string {
	list := []string{p.Model}
	add := func(names ...string) {
		for _, m := range names {
			if m != "" && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	add(c.Providers[p.Name].Model)
	for _, alias := range c.Aliases() {
		if c.Agents[alias].Provider == p.Name {
			add(c.Agents[alias].Model)
		}
	}
	add(p.KnownModels()...)
	return list
}

// connect resolves an agent's provider with its credentials as they are now.
func (a *App) connect(ctx context.Context, alias string) (model.Provider, error) {
	if a.auth.loggedOut.Load() {
		return nil, errLoggedOut
	}
	c, err := a.conf.get()
	if err != nil {
		return nil, err
	}
	src := config.Sources{Getenv: a.conf.getenv, Probe: config.ProbeModels, Seen: a.redact}
	choice, err := c.ProviderFor(ctx, alias, src)
	if err != nil {
		return nil, err
	}
	first, err := a.withSecrets(ctx, choice, src)
	if err != nil {
		return nil, err
	}
	var others []model.Provider
	for _, name := range choice.Fallback {
		other, err := c.ProviderNamed(ctx, name, src)
		if err != nil {
			return nil, err
		}
		p, err := a.withSecrets(ctx, other, src)
		if errors.Is(err, config.ErrNoCredentials) {
			continue // a fallback without a key is no fallback
		}
		if err != nil {
			return nil, err
		}
		others = append(others, p)
	}
	return model.WithFallback(first, others...), nil
}

func (a *App) withSecrets(ctx context.Context, choice config.ProviderChoice, src config.Sources) (model.Provider, error) {
	secrets, err := choice.Credentials(ctx, src)
	if err != nil {
		return nil, err
	}
	return provider.New(a.providerConfig(choice, secrets))
}

package app

import (
	"context"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// environmentSecrets knows the credentials in an environment, going by the names
// of variables: what this process could reach, a tool may come across.
func environmentSecrets(environ []string) *secret.Redactor {
	var values []string
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); secret.Sensitive(name, value) {
			values = append(values, value)
		}
	}
	return secret.NewRedactor(values...)
}

// KnownSecrets knows the credentials of an environment and of a configuration,
// for commands that print what was kept. No command is run for it: what a cmd:
// reference stands for is not known.
func KnownSecrets(ctx context.Context, c *config.Config, environ []string, getenv func(string) string) *secret.Redactor {
	r := environmentSecrets(environ)
	src := c.Home().Secrets(getenv, r)
	for _, s := range c.Secrets() {
		if s.Ref.Scheme() == secret.SchemeCommand {
			continue
		}
		value, _ := s.Ref.ResolveFor(ctx, s.Path[len(s.Path)-1], src) // one that is not there cannot be shown
		if config.IsSecret(s.Path) {
			r.Add(value)
		}
	}
	return r
}

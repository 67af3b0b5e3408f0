package app

import (
	"context"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
)

const (
	// tryBound is how long a person waits for a sign of life.
	tryBound = time.Minute
	// tryTokens is enough for a word, also of a model that thinks first.
	tryTokens = 256
)

// Try sends an agent's model one short message and returns what it answers.
func Try(ctx context.Context, home config.Home, environ []string, alias string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, tryBound)
	defer cancel()
	a := &App{conf: newLive(home, environ), client: endpoint.NewClient(), redact: environmentSecrets(environ)} // what connecting needs
	a.auth = &auth{conf: a.conf, redact: a.redact}
	p, err := a.connect(ctx, alias)
	if err != nil {
		return "", err
	}
	resp, err := p.Stream(ctx, &model.Request{
		Messages:  []model.Message{model.UserText("Answer with the word ready and nothing else.")},
		MaxTokens: tryTokens,
	}, func(model.Event) error { return nil })
	if err != nil {
		return "", a.redact.Error(err) // a provider may quote the key
	}
	return strings.TrimSpace(a.redact.Replace(resp.Message.Text())), nil
}

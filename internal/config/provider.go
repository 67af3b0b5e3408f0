package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/secret"
)

// ErrNoCredentials is matched by errors that a login or a key would cure.
var ErrNoCredentials = errors.New("no credentials")

// Sources is where providers and keys are looked for. It is asked anew at each
// call, so a key put in place after start-up is found.
type Sources struct {
	Getenv func(string) string // nil: os.Getenv
	// Probe returns a model that the OpenAI-compatible server at baseURL
	// offers, and false when there is no server or it has none. nil: no server
	// is looked for.
	Probe func(ctx context.Context, baseURL string) (model string, ok bool)
	// Seen gets to know the secrets that are looked up; nil: nobody does.
	Seen *secret.Redactor
}

// Secrets is where the references of a configuration in this home directory are
// looked up.
func (h Home) Secrets(getenv func(string) string, seen *secret.Redactor) secret.Source {
	return secret.Source{Getenv: getenv, Dir: string(h), KeyFile: h.KeyFile(), Seen: seen}
}

func (s Sources) getenv(name string) string {
	if s.Getenv == nil {
		return strings.TrimSpace(os.Getenv(name))
	}
	return strings.TrimSpace(s.Getenv(name))
}

// ProviderChoice is a provider that an agent uses, with everything settled but
// the secrets.
type ProviderChoice struct {
	Name          string // section, or the kind when found in the environment
	Kind          string // KindAnthropic, KindOpenAI, KindChat or KindDemo
	BaseURL       string
	Model         string
	APIKey        secret.Ref // unset when the provider needs none
	Headers       map[string]secret.Ref
	ContextWindow int      // tokens
	Fallback      []string // names for ProviderNamed
	// Found names the variable or server the choice came from; empty when the
	// configuration names the provider.
	Found string

	home Home // of relative file: references and the key of age: ones
}

// ProviderFor returns the provider of the agent: the one it names, else the
// only one configured, else what the environment offers, in this order:
// ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, a
// local server. It reads no secret; the probe is the only thing that can take
// time, and is used last. The error matches ErrNoCredentials when there is none.
func (c *Config) ProviderFor(ctx context.Context, alias string, src Sources) (ProviderChoice, error) {
	choice, err := c.agentProvider(ctx, c.Agents[alias], src)
	if err != nil {
		return ProviderChoice{}, err
	}
	if model := c.Agents[alias].Model; model != "" {
		choice.Model = model
	}
	return choice, nil
}

func (c *Config) agentProvider(ctx context.Context, a Agent, src Sources) (ProviderChoice, error) {
	name := a.Provider
	if name == "" && len(c.Providers) == 1 {
		name = keys(c.Providers)[0]
	}
	if name != "" {
		return c.providerNamed(ctx, name, a.Model, src)
	}
	if len(c.Providers) > 1 {
		return ProviderChoice{}, fmt.Errorf("the agent names no provider and there are several (%s); set its provider", strings.Join(keys(c.Providers), ", "))
	}
	return c.environmentProvider(ctx, src)
}

// ProviderNamed returns the provider configured as [providers.<name>], or the
// built-in kind of that name.
func (c *Config) ProviderNamed(ctx context.Context, name string, src Sources) (ProviderChoice, error) {
	return c.providerNamed(ctx, name, "", src)
}

// providerNamed prefers model, then the provider's, then the kind's default,
// and asks the server when none of them says.
func (c *Config) providerNamed(ctx context.Context, name, model string, src Sources) (ProviderChoice, error) {
	p := c.Providers[name]
	preset := presetOf(name, p)
	if preset.kind == "" {
		return ProviderChoice{}, fmt.Errorf("provider %q has no kind; set providers.%s.kind", name, quoteKey(name))
	}
	choice := preset.choice(name, src)
	choice.Headers, choice.Fallback, choice.home = p.Headers, p.Fallback, c.home
	if p.BaseURL != "" {
		if preset.kind == KindChat && p.BaseURL != preset.baseURL {
			choice.APIKey = secret.Ref{} // the preset's key is not for another server
		}
		choice.BaseURL = p.BaseURL
	}
	if !p.APIKey.IsZero() {
		choice.APIKey = p.APIKey
	}
	if p.ContextWindow > 0 {
		choice.ContextWindow = p.ContextWindow
	}
	choice.Model = cmp.Or(model, p.Model, choice.Model)
	if choice.BaseURL == "" && choice.Kind == KindChat {
		return ProviderChoice{}, fmt.Errorf("provider %s has no address; set providers.%s.base_url", name, quoteKey(name))
	}
	if choice.Model == "" && src.Probe != nil {
		choice.Model, _ = src.Probe(ctx, choice.BaseURL)
	}
	if choice.Model == "" {
		return ProviderChoice{}, fmt.Errorf("provider %s names no model, and its server at %s does not answer or has none; start it, or set providers.%s.model", name, choice.BaseURL, quoteKey(name))
	}
	return choice, nil
}

// presetOf finds the preset by kind, and by name for a chat provider named
// like one ([providers.groq] kind = "openai-chat").
func presetOf(name string, p Provider) preset {
	all := presets()
	if p.Kind == "" || p.Kind == KindChat {
		if known, ok := all[name]; ok && (p.Kind == "" || known.kind == KindChat) {
			return known
		}
	}
	return all[p.Kind]
}

func (p preset) choice(name string, src Sources) ProviderChoice {
	choice := ProviderChoice{Name: name, Kind: p.kind, BaseURL: p.baseURL, Model: p.model, ContextWindow: p.window}
	if p.keyEnv != "" {
		choice.APIKey = secret.NewRef("env:" + p.keyEnv)
	}
	if p.baseEnv != "" {
		if moved := src.getenv(p.baseEnv); moved != "" {
			choice.BaseURL = moved
		}
	}
	return choice
}

// environmentProvider is the choice without any configuration. The demo
// provider is never chosen this way.
func (c *Config) environmentProvider(ctx context.Context, src Sources) (ProviderChoice, error) {
	all := presets()
	for _, kind := range []string{KindAnthropic, KindOpenAI, "gemini", "openrouter"} {
		p := all[kind]
		if src.getenv(p.keyEnv) == "" {
			continue
		}
		choice := p.choice(kind, src)
		choice.Found, choice.home = p.keyEnv, c.home
		return choice, nil
	}
	if src.Probe != nil {
		if model, ok := src.Probe(ctx, localURL); ok {
			choice := all["ollama"].choice("ollama", src)
			choice.Model, choice.Found = model, "127.0.0.1:11434"
			return choice, nil
		}
	}
	return ProviderChoice{}, fmt.Errorf("%w: no model provider is configured; run grapnel setup, or set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY", ErrNoCredentials)
}

// Credentials are a provider's secrets, for immediate use.
type Credentials struct {
	APIKey  string // empty when the provider needs none
	Headers map[string]string
}

// Format shows no secret, whatever the verb.
func (Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, secret.Redacted) }

// LogValue shows no secret to structured logs.
func (Credentials) LogValue() slog.Value { return slog.StringValue(secret.Redacted) }

// Credentials looks up the secrets. It reads the environment and files and
// runs commands at every call. The error matches ErrNoCredentials when a
// secret is not where its reference points.
func (p ProviderChoice) Credentials(ctx context.Context, src Sources) (Credentials, error) {
	from := p.home.Secrets(src.Getenv, src.Seen)
	key, err := p.APIKey.Resolve(ctx, from)
	if err != nil {
		return Credentials{}, p.credentialError("api_key", err)
	}
	src.Seen.Add(key)
	headers := make(map[string]string, len(p.Headers))
	for name, ref := range p.Headers {
		if headers[name], err = ref.ResolveFor(ctx, name, from); err != nil {
			return Credentials{}, p.credentialError("header "+name, err)
		}
	}
	return Credentials{APIKey: key, Headers: headers}, nil
}

func (p ProviderChoice) credentialError(what string, err error) error {
	if errors.Is(err, secret.ErrMissing) {
		return fmt.Errorf("%w: %s of provider %s: %w; put it in place or run grapnel setup", ErrNoCredentials, what, p.Name, err)
	}
	return fmt.Errorf("%s of provider %s: %w", what, p.Name, err)
}

package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/config"
)

// Terminal is where a person is asked. Its errors end the setup.
type Terminal interface {
	// Say shows a line.
	Say(format string, args ...any)
	// Ask returns a line of text, or the suggestion for an empty one.
	Ask(ctx context.Context, question, suggestion string) (string, error)
	// Choose returns the index of one of the options; suggested is the index of
	// an empty answer.
	Choose(ctx context.Context, question string, options []string, suggested int) (int, error)
	// Secret returns a line that is not shown while it is typed.
	Secret(ctx context.Context, question string) (string, error)
}

// World is what the questions depend on.
type World struct {
	Config *config.Config // as it is now
	Getenv func(string) string
	// Probe returns a model of the server at an address, as config.ProbeModels.
	Probe func(ctx context.Context, baseURL string) (model string, ok bool)
}

// titles say what a kind of provider is. The order is theirs in the list; kinds
// that are not here follow.
func titles() [][2]string {
	return [][2]string{
		{config.KindAnthropic, "Anthropic (Claude)"},
		{config.KindOpenAI, "OpenAI"},
		{"gemini", "Google Gemini"},
		{"openrouter", "OpenRouter, models of many vendors"},
		{"ollama", "Ollama, models on this machine"},
		{config.KindChat, "another server that speaks OpenAI's Chat Completions"},
		{config.KindDemo, "the demo: a script instead of a model, offline"},
		{"lmstudio", "LM Studio, models on this machine"},
		{"vllm", "vLLM, models on a machine of yours"},
		{"groq", "Groq"},
		{"deepseek", "DeepSeek"},
		{"mistral", "Mistral"},
		{"xai", "xAI (Grok)"},
	}
}

// Ask asks for everything. agent is the alias it is for, "" to ask for it where
// there are several.
func (w World) Ask(ctx context.Context, t Terminal, agent string) (Answers, error) {
	known, err := w.chooseProvider(ctx, t)
	if err != nil {
		return Answers{}, err
	}
	a := Answers{Provider: known.Kind, Kind: known.Kind, Agent: agent}
	if known.Kind == config.KindChat {
		if err := w.askServer(ctx, t, &a); err != nil {
			return a, err
		}
	}
	if err := w.askKey(ctx, t, known, &a); err != nil {
		return a, err
	}
	if err := w.askModel(ctx, t, known, &a); err != nil {
		return a, err
	}
	return a, w.askAgent(ctx, t, &a)
}

func (w World) chooseProvider(ctx context.Context, t Terminal) (config.KnownProvider, error) {
	list := ordered()
	options := make([]string, len(list))
	suggested := -1
	for i, p := range list {
		options[i] = titleOf(p.Kind)
		switch {
		case p.KeyEnv != "" && w.Getenv(p.KeyEnv) != "":
			options[i] += "; " + p.KeyEnv + " is set"
		case p.Kind == "ollama" && w.serves(ctx, p.BaseURL):
			options[i] += "; it is running"
		default:
			continue
		}
		if suggested < 0 {
			suggested = i
		}
	}
	i, err := t.Choose(ctx, "Which provider?", options, max(suggested, 0))
	if err != nil {
		return config.KnownProvider{}, err
	}
	return list[i], nil
}

func (w World) serves(ctx context.Context, baseURL string) bool {
	_, ok := w.probe(ctx, baseURL)
	return ok
}

func (w World) probe(ctx context.Context, baseURL string) (string, bool) {
	if w.Probe == nil || baseURL == "" {
		return "", false
	}
	return w.Probe(ctx, baseURL)
}

// ordered lists the known providers as titles has them, the rest behind.
func ordered() []config.KnownProvider {
	rank := func(kind string) int {
		at := slices.IndexFunc(titles(), func(t [2]string) bool { return t[0] == kind })
		if at < 0 {
			return len(titles())
		}
		return at
	}
	list := config.KnownProviders()
	slices.SortStableFunc(list, func(a, b config.KnownProvider) int { return rank(a.Kind) - rank(b.Kind) })
	return list
}

func titleOf(kind string) string {
	for _, t := range titles() {
		if t[0] == kind {
			return t[1]
		}
	}
	return kind
}

func (w World) askServer(ctx context.Context, t Terminal, a *Answers) error {
	for {
		address, err := t.Ask(ctx, "Its address, such as http://127.0.0.1:8080/v1", "")
		if err != nil {
			return err
		}
		if config.ValidBaseURL(address) {
			a.BaseURL = address
			break
		}
		t.Say("That is no http or https address.")
	}
	name, err := t.Ask(ctx, "A short name for it", "server")
	a.Provider = name
	return err
}

// askKey finds out where the key is. Where the kind needs none, a key is still
// possible.
func (w World) askKey(ctx context.Context, t Terminal, known config.KnownProvider, a *Answers) error {
	if known.KeyEnv == "" && known.Kind != config.KindChat {
		return nil
	}
	var options []string
	var actions []func() error
	offer := func(text string, action func() error) {
		options, actions = append(options, text), append(actions, action)
	}
	which := "a"
	if known.KeyEnv != "" && w.Getenv(known.KeyEnv) != "" {
		which = "another"
		offer("take it from the variable "+known.KeyEnv+", which is set here", func() error {
			a.KeyEnv = known.KeyEnv
			return nil
		})
	}
	if known.Kind == config.KindChat {
		offer("it needs none", func() error { return nil })
	}
	offer("type it now; it is kept in a file that only you can read", func() error { return w.typeKey(ctx, t, a) })
	offer("take it from "+which+" variable of the environment", func() error { return w.nameVariable(ctx, t, known, a) })
	offer("take it from a file", func() error { return w.nameFile(ctx, t, a) })
	i, err := t.Choose(ctx, "Where is its key?", options, 0)
	if err != nil {
		return err
	}
	return actions[i]()
}

func (w World) typeKey(ctx context.Context, t Terminal, a *Answers) error {
	for {
		key, err := t.Secret(ctx, "Key")
		if err != nil {
			return err
		}
		key = strings.TrimSpace(key)
		if err := CheckKey(key); err != nil {
			t.Say("%v.", err)
			continue
		}
		a.Key = key
		return nil
	}
}

func (w World) nameVariable(ctx context.Context, t Terminal, known config.KnownProvider, a *Answers) error {
	for {
		name, err := t.Ask(ctx, "Name of the variable", known.KeyEnv)
		if err != nil {
			return err
		}
		if name = strings.TrimPrefix(name, "$"); !ValidVariable(name) {
			t.Say("That is no name of a variable.")
			continue
		}
		if w.Getenv(name) == "" {
			t.Say("%s is not set here; whatever starts grapnel must set it.", name)
		}
		a.KeyEnv = name
		return nil
	}
}

func (w World) nameFile(ctx context.Context, t Terminal, a *Answers) error {
	for {
		path, err := t.Ask(ctx, "Path of the file", "")
		if err != nil {
			return err
		}
		abs, err := absolute(path)
		if err == nil {
			err = CheckFile(abs)
		}
		if err != nil {
			t.Say("That file cannot be read: %v.", err)
			continue
		}
		a.KeyFile = abs
		return nil
	}
}

// askModel asks for the model, suggesting the kind's default or what the server
// has.
func (w World) askModel(ctx context.Context, t Terminal, known config.KnownProvider, a *Answers) error {
	if known.Kind == config.KindDemo {
		return nil
	}
	suggestion := known.Model
	if now := w.Config.Providers[a.Provider].Model; now != "" {
		suggestion = now
	}
	if suggestion == "" {
		address, ok := known.BaseURL+a.BaseURL, false
		if suggestion, ok = w.probe(ctx, address); !ok {
			t.Say("The server at %s does not answer or has no model. Start it and name none to take the first it has, or name one.", address)
		}
	}
	model, err := t.Ask(ctx, "Model", suggestion)
	a.Model = model
	return err
}

func (w World) askAgent(ctx context.Context, t Terminal, a *Answers) error {
	aliases := nativeAgents(w.Config)
	switch {
	case a.Agent != "":
		return nil
	case len(aliases) <= 1:
		a.Agent = DefaultAgent(w.Config)
		return nil
	}
	suggested := max(0, slices.Index(aliases, DefaultAgent(w.Config)))
	i, err := t.Choose(ctx, "Which agent shall use it?", aliases, suggested)
	if err == nil {
		a.Agent = aliases[i]
	}
	return err
}

// Summary says in a line what the answers come to. It shows no key.
func (a Answers) Summary() string {
	s := fmt.Sprintf("agent %s uses %s", a.Agent, a.Provider)
	if a.Model != "" {
		s += " with model " + a.Model
	}
	return s
}

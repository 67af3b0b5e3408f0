package config

// The protocols a provider speaks.
const (
	KindAnthropic = "anthropic"   // Messages
	KindOpenAI    = "openai"      // Responses
	KindChat      = "openai-chat" // Chat Completions, any compatible server
	KindDemo      = "demo"        // built in, offline
)

// preset is what is known about a kind of provider.
type preset struct {
	kind    string // protocol
	baseURL string
	baseEnv string // variable that moves baseURL, as the vendor's own tools read it
	keyEnv  string // variable that usually holds the key; empty: needs none
	model   string // empty: whatever the server offers
	window  int    // tokens
}

// kinds lists the presets in the order they are shown.
func kinds() []string {
	return []string{
		KindAnthropic, KindOpenAI, KindChat, KindDemo, "ollama", "lmstudio", "vllm",
		"openrouter", "gemini", "groq", "deepseek", "mistral", "xai",
	}
}

// presets returns what is known by kind. Windows are cautious: compacting a
// little early costs less than a request that is refused.
func presets() map[string]preset {
	return map[string]preset{
		KindAnthropic: {KindAnthropic, "https://api.anthropic.com", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "claude-sonnet-4-6", 200_000},
		KindOpenAI:    {KindOpenAI, "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", "gpt-5.4", 272_000},
		KindChat:      {kind: KindChat, window: 32_768},
		KindDemo:      {kind: KindDemo, model: "demo", window: 200_000},
		"ollama":      {kind: KindChat, baseURL: localURL, window: 32_768},
		"lmstudio":    {kind: KindChat, baseURL: "http://127.0.0.1:1234/v1", window: 32_768},
		"vllm":        {kind: KindChat, baseURL: "http://127.0.0.1:8000/v1", window: 32_768},
		"openrouter":  {KindChat, "https://openrouter.ai/api/v1", "", "OPENROUTER_API_KEY", "openrouter/auto", 128_000},
		"gemini":      {KindChat, "https://generativelanguage.googleapis.com/v1beta/openai", "", "GEMINI_API_KEY", "gemini-2.5-pro", 1_000_000},
		"groq":        {KindChat, "https://api.groq.com/openai/v1", "", "GROQ_API_KEY", "openai/gpt-oss-120b", 131_072},
		"deepseek":    {KindChat, "https://api.deepseek.com/v1", "", "DEEPSEEK_API_KEY", "deepseek-chat", 128_000},
		"mistral":     {KindChat, "https://api.mistral.ai/v1", "", "MISTRAL_API_KEY", "mistral-large-latest", 128_000},
		"xai":         {KindChat, "https://api.x.ai/v1", "", "XAI_API_KEY", "grok-4", 256_000},
	}
}

// KnownProvider is what is known of a kind of provider before anything is
// configured.
type KnownProvider struct {
	Kind    string // also its protocol's name where it is one
	BaseURL string // empty for a server that must be named
	KeyEnv  string // variable that usually holds the key; empty where none is needed
	Model   string // default; empty for whatever the server offers
}

// KnownProviders returns every kind of provider, the usual ones first.
func KnownProviders() []KnownProvider {
	all := presets()
	list := make([]KnownProvider, 0, len(all))
	for _, kind := range kinds() {
		p := all[kind]
		list = append(list, KnownProvider{Kind: kind, BaseURL: p.baseURL, KeyEnv: p.keyEnv, Model: p.model})
	}
	return list
}

// localURL is where Ollama listens.
const localURL = "http://127.0.0.1:11434/v1"

// KnownModels returns models the provider is known to serve, for a choice to be
// offered; none where its server is not the vendor's own.
func (p ProviderChoice) KnownModels() []string {
	if p.BaseURL != presets()[p.Kind].baseURL {
		return nil
	}
	switch p.Kind {
	case KindAnthropic:
		return []string{"claude-opus-4-6", "claude-sonnet-4-6", "claude-haiku-4-5"}
	case KindOpenAI:
		return []string{"gpt-5.4", "gpt-5.4-mini"}
	}
	return nil
}

package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/config"
)

// script is a Terminal whose person answers from a list: the text of an option,
// or of the answer; "" takes what is suggested.
type script struct {
	t       *testing.T
	answers []string
	said    []string
}

func (s *script) next(question string) string {
	s.t.Helper()
	s.said = append(s.said, question)
	if len(s.answers) == 0 {
		s.t.Fatalf("asked %q too many", question)
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer
}

func (s *script) Say(format string, args ...any) {
	s.said = append(s.said, fmt.Sprintf(format, args...))
}

func (s *script) Ask(_ context.Context, question, suggestion string) (string, error) {
	answer := s.next(question + " [" + suggestion + "]")
	if answer == "EOF" {
		return "", errEnded
	}
	if answer == "" {
		answer = suggestion
	}
	return answer, nil
}

func (s *script) Choose(_ context.Context, question string, options []string, suggested int) (int, error) {
	answer := s.next(question + " " + strings.Join(options, " / "))
	if answer == "" {
		return suggested, nil
	}
	for i, o := range options {
		if strings.HasPrefix(o, answer) {
			return i, nil
		}
	}
	s.t.Fatalf("there is no option %q among %q", answer, options)
	return 0, nil
}

func (s *script) Secret(_ context.Context, question string) (string, error) {
	return s.next(question), nil
}

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	home := config.Home(filepath.Join(t.TempDir(), "home"))
	if text != "" {
		if err := home.Create(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(home.File(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAsk(t *testing.T) {
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte("k"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		config  string
		env     map[string]string
		local   string // model of the server on this machine
		agent   string
		answers []string
		want    Answers
		says    string
	}{
		{
			"a key that is set is suggested", "",
			map[string]string{"OPENAI_API_KEY": "x"},
			"", "",
			[]string{"", "", ""},
			Answers{Provider: "openai", Kind: "openai", KeyEnv: "OPENAI_API_KEY", Model: "gpt-5.4", Agent: "main"},
			"OPENAI_API_KEY is set",
		},
		{
			"a typed key, at the second try", "", nil, "", "",
			[]string{"", "type", "sk with blanks", "  sk-1 ", "claude-x"},
			Answers{Provider: "anthropic", Kind: "anthropic", Key: "sk-1", Model: "claude-x", Agent: "main"},
			"copy it again",
		},
		{
			"a local server", "", nil, "qwen3", "",
			[]string{"", ""},
			Answers{Provider: "ollama", Kind: "ollama", Model: "qwen3", Agent: "main"},
			"it is running",
		},
		{
			"a local server that is not running", "", nil, "", "",
			[]string{"Ollama", "qwen3"},
			Answers{Provider: "ollama", Kind: "ollama", Model: "qwen3", Agent: "main"},
			"The server at http://127.0.0.1:11434/v1 does not answer or has no model.",
		},
		{
			"a server of one's own", "", nil, "served", "helper",
			[]string{"another server", "localhost:1", "http://localhost:1/v1", "mine", "it needs none", ""},
			Answers{Provider: "mine", Kind: "openai-chat", BaseURL: "http://localhost:1/v1", Model: "served", Agent: "helper"},
			"no http or https address",
		},
		{
			"a variable", "", nil, "", "",
			[]string{"Google", "take it from a variable", "A B", "$MY_KEY", ""},
			Answers{Provider: "gemini", Kind: "gemini", KeyEnv: "MY_KEY", Model: "gemini-2.5-pro", Agent: "main"},
			"MY_KEY is not set here",
		},
		{
			"a file", "", nil, "", "",
			[]string{"Groq", "take it from a file", "/no/such/file", filepath.Dir(keyFile), keyFile, ""},
			Answers{Provider: "groq", Kind: "groq", KeyFile: keyFile, Model: "openai/gpt-oss-120b", Agent: "main"},
			"cannot be read: " + filepath.Dir(keyFile) + " is a directory.",
		},
		{
			"the demo", "", nil, "", "",
			[]string{"the demo"},
			Answers{Provider: "demo", Kind: "demo", Agent: "main"},
			"",
		},
		{
			"several agents, of which one is external", "[agents.a]\n[agents.b]\n[agents.c.runtime]\ntype = 'acp'\nagent = 'codex'\n[acp]\ndefault_agent = 'c'\n[providers.openai]\nmodel = 'old'", nil, "", "",
			[]string{"OpenAI", "take it from a variable", "OPENAI_API_KEY", "", "b"},
			Answers{Provider: "openai", Kind: "openai", KeyEnv: "OPENAI_API_KEY", Model: "old", Agent: "b"},
			"Which agent shall use it? a / b",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{t: t, answers: c.answers}
			w := World{
				Config: load(t, c.config),
				Getenv: func(name string) string { return c.env[name] },
				Probe:  func(context.Context, string) (string, bool) { return c.local, c.local != "" },
			}
			got, err := w.Ask(t.Context(), s, c.agent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if said := strings.Join(s.said, "\n"); !strings.Contains(said, c.says) {
				t.Errorf("it does not say %q but\n%s", c.says, said)
			}
			if len(s.answers) > 0 {
				t.Errorf("never asked for %q", s.answers)
			}
		})
	}
}

func TestAskEnds(t *testing.T) {
	s := &script{t: t, answers: []string{"another server", "EOF"}}
	w := World{Config: load(t, ""), Getenv: func(string) string { return "" }}
	if _, err := w.Ask(t.Context(), s, ""); !errors.Is(err, errEnded) {
		t.Errorf("Ask: %v", err)
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name, before string
		answers      Answers
		after        string
	}{
		{
			"nothing there", "",
			Answers{Provider: "anthropic", Kind: "anthropic", KeyEnv: "K", Model: "m", Agent: "main"},
			"[providers.anthropic]\nkind = \"anthropic\"\napi_key = \"env:K\"\nmodel = \"m\"\n\n[agents.main]\nprovider = \"anthropic\"\n",
		},
		{
			"what is there stays",
			"# mine\n[agents.main]\nprovider = 'old' # was\nmodel = 'om'\n[providers.old]\nkind = 'demo'\n",
			Answers{Provider: "mine", Kind: "openai-chat", BaseURL: "http://h/v1", KeyFile: "/k", Model: "m", Agent: "main"},
			"# mine\n[agents.main]\nprovider = \"mine\" # was\nmodel = \"m\"\n[providers.old]\nkind = 'demo'\n\n[providers.mine]\nkind = \"openai-chat\"\nbase_url = \"http://h/v1\"\napi_key = \"file:/k\"\nmodel = \"m\"\n",
		},
		{
			"with a second agent the first stays the default", "[agents.a]\n",
			Answers{Provider: "demo", Kind: "demo", Agent: "b"},
			"[agents.a]\n\n[agents.b]\nprovider = \"demo\"\n\n[providers.demo]\nkind = \"demo\"\n\n[acp]\ndefault_agent = \"a\"\n",
		},
		{
			"where there is no default, the new one becomes it", "[agents.a]\n[agents.b]\n",
			Answers{Provider: "demo", Kind: "demo", Agent: "b"},
			"[agents.a]\n[agents.b]\nprovider = \"demo\"\n\n[providers.demo]\nkind = \"demo\"\n\n[acp]\ndefault_agent = \"b\"\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := load(t, c.before)
			if _, err := Write(now.Home(), now, c.answers); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(now.Home().File())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.after, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWriteKey(t *testing.T) {
	now := load(t, "")
	home := now.Home()
	a := Answers{Provider: "my/one", Kind: "openai-chat", BaseURL: "http://h/v1", Key: "sk-1", Model: "m", Agent: "main"}
	if _, err := Write(home, now, a); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.ProviderFor(t.Context(), "main", config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Credentials(t.Context(), config.Sources{}); err != nil || got.APIKey != "sk-1" {
		t.Errorf("the key resolves to %q, %v", got.APIKey, err)
	}
	if text, err := os.ReadFile(home.File()); err != nil || strings.Contains(string(text), "sk-1") {
		t.Errorf("config.toml: %v\n%s", err, text)
	}
	name := filepath.Join(home.Keys(), "my_one.key")
	for path, want := range map[string]os.FileMode{name: 0o600, home.Keys(): 0o700} {
		st, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, st.Mode(), err, want)
		}
	}

	// A change that does not load takes nothing of what was there.
	bad := a
	bad.Key, bad.Agent = "sk-2", "No Alias"
	if _, err := Write(home, now, bad); err == nil {
		t.Fatal("a bad alias was written")
	}
	if key, err := os.ReadFile(name); err != nil || string(key) != "sk-1\n" {
		t.Errorf("the key is %q, %v", key, err)
	}
	bad.Provider = "new"
	if _, err := Write(home, now, bad); err == nil {
		t.Fatal("a bad alias was written")
	}
	if left, _ := filepath.Glob(filepath.Join(home.Keys(), "*")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func TestResolve(t *testing.T) {
	now := load(t, "[providers.work]\nkind = 'openai'\n[providers.gemini]\nkind = 'openai-chat'\nbase_url = 'http://h'\n")
	for _, c := range []struct{ name, baseURL, kind, says string }{
		{"anthropic", "", "anthropic", ""},
		{"work", "", "openai", ""},
		{"gemini", "", "openai-chat", ""},
		{"mine", "http://h/v1", "openai-chat", ""},
		{"openai-chat", "http://h/v1", "openai-chat", ""},
		{"openai-chat", "", "", "give its address"},
		{"antropic", "", "", "choose one of anthropic, "},
		{"", "", "", "not known"},
	} {
		name, kind, err := Resolve(now, c.name, c.baseURL)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v, want %q", c.name, err, c.says)
			}
			continue
		}
		if err != nil || name != c.name || kind != c.kind {
			t.Errorf("%s: %s, %s, %v, want %s", c.name, name, kind, err, c.kind)
		}
	}
}

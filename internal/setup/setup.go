// Package setup makes a first configuration: which provider an agent uses, where
// its key is, which model. It asks a person, or takes the answers as they are
// given, and writes them into config.toml beside what is there.
package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/privatefile"
)

// Answers are what there is to decide.
type Answers struct {
	Provider string // name of its section
	Kind     string // of the provider, as in the configuration
	BaseURL  string // of a server of one's own
	Model    string // empty: the kind's default
	Agent    string // alias
	// At most one of these says where the key is. None: in the variable that is
	// usual for the kind, or none is needed.
	KeyEnv  string // name of a variable
	KeyFile string // path
	Key     string // the key itself, to be kept in a file
}

// dirMode keeps keys to their user.
const dirMode = 0o700

// Write stores the answers, all or none, and returns what the configuration is
// still warned of. A key goes into a file of its own, which the configuration
// refers to.
func Write(home config.Home, now *config.Config, a Answers) ([]config.Problem, error) {
	ref, undo, err := keyReference(home, a)
	if err != nil {
		return nil, err
	}
	warnings, err := config.SetAll(home, changes(now, a, ref))
	if err != nil {
		return nil, errors.Join(err, undo())
	}
	return warnings, nil
}

// changes are the settings the answers mean.
func changes(now *config.Config, a Answers, keyRef string) []config.Change {
	var list []config.Change
	set := func(value string, path ...string) {
		if value != "" {
			list = append(list, config.Change{Path: path, Value: value})
		}
	}
	set(a.Kind, "providers", a.Provider, "kind")
	set(a.BaseURL, "providers", a.Provider, "base_url")
	set(keyRef, "providers", a.Provider, "api_key")
	set(a.Model, "providers", a.Provider, "model")
	set(a.Provider, "agents", a.Agent, "provider")
	if now.Agents[a.Agent].Model != "" {
		set(a.Model, "agents", a.Agent, "model") // or it would go on overriding
	}
	set(newDefault(now, a.Agent), "acp", "default_agent")
	return list
}

// newDefault is the agent that has to be named as the default once agent is
// there too, or else sessions that name none would get none: the one they get
// now, where there is one. It is empty where nothing has to be named.
func newDefault(now *config.Config, agent string) string {
	others := slices.DeleteFunc(now.Aliases(), func(alias string) bool { return alias == agent })
	if now.ACP.DefaultAgent != "" || len(others) == 0 || now.Implicit() {
		return ""
	}
	if alias, err := now.PickAgent(); err == nil {
		return alias
	}
	return agent
}

// keyReference is how the configuration refers to the key. undo takes back what
// was made for it.
func keyReference(home config.Home, a Answers) (ref string, undo func() error, err error) {
	undo = func() error { return nil }
	switch {
	case a.KeyEnv != "":
		return "env:" + a.KeyEnv, undo, nil
	case a.KeyFile != "":
		return "file:" + a.KeyFile, undo, nil
	case a.Key != "":
		return storeKey(home, a.Provider, a.Key)
	}
	return "", undo, nil
}

// storeKey keeps a key in a file only its user can read.
func storeKey(home config.Home, provider, key string) (ref string, undo func() error, err error) {
	if err := home.Create(); err != nil {
		return "", nil, err
	}
	dir := home.Keys()
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return "", nil, fmt.Errorf("make the directory of keys: %w", err)
	}
	name := filepath.Join(dir, fileName(provider))
	before, readErr := os.ReadFile(name)
	if err := privatefile.Write(name, []byte(key+"\n")); err != nil {
		return "", nil, fmt.Errorf("store the key: %w", err)
	}
	undo = func() error { return os.Remove(name) }
	if readErr == nil {
		undo = func() error { return privatefile.Write(name, before) }
	}
	return "file:" + filepath.ToSlash(filepath.Join(filepath.Base(dir), filepath.Base(name))), undo, nil
}

// fileName is a provider's name as a file's.
func fileName(provider string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, provider) + ".key"
}

// CheckKey refuses what cannot be a key: it would fail later in a less clear way.
func CheckKey(key string) error {
	if key == "" {
		return errors.New("the key is empty")
	}
	for _, c := range []byte(key) {
		if c <= ' ' || c > '~' {
			return errors.New("the key holds blanks or characters that no key has; copy it again")
		}
	}
	return nil
}

// CheckFile refuses what cannot be the file of a key.
func CheckFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory", path)
	}
	return err
}

// ValidVariable reports whether name can be that of an environment variable.
func ValidVariable(name string) bool { return name != "" && !strings.ContainsAny(name, "= \t") }

// Resolve turns the name of a provider as people give it into its section and
// kind: a known kind, a section that exists, or with an address a name of one's
// own.
func Resolve(now *config.Config, name, baseURL string) (provider, kind string, err error) {
	var kinds []string
	for _, k := range config.KnownProviders() {
		kinds = append(kinds, k.Kind)
	}
	existing, configured := now.Providers[name]
	switch {
	case name == config.KindChat && baseURL == "":
		return "", "", fmt.Errorf("provider %s is any server that speaks OpenAI's Chat Completions; give its address (base URL)", name)
	case slices.Contains(kinds, name):
		kind = name
		if configured && existing.Kind != "" {
			kind = existing.Kind
		}
	case configured && existing.Kind != "":
		kind = existing.Kind
	case baseURL != "":
		kind = config.KindChat
	default:
		return "", "", fmt.Errorf("provider %q is not known; choose one of %s, or give the address of a server (base URL)", name, strings.Join(kinds, ", "))
	}
	return name, kind, nil
}

// DefaultAgent is the agent a first configuration is for: the one sessions get
// if a model drives it, else the first such agent, else main.
func DefaultAgent(now *config.Config) string {
	usable := nativeAgents(now)
	if alias, err := now.PickAgent(); err == nil && slices.Contains(usable, alias) {
		return alias
	}
	if len(usable) > 0 {
		return usable[0]
	}
	return "main"
}

// nativeAgents are the enabled agents that use a provider.
func nativeAgents(now *config.Config) []string {
	return slices.DeleteFunc(now.Aliases(), func(alias string) bool { return now.Agents[alias].Driver() != config.DriverNative })
}

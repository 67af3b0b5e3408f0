// Package testbed is a place to try Grapnel in: a fake model provider, a home
// directory that points at it, a directory to work in, and the program.
package testbed

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
	"github.com/grapnel-ai/grapnel/interop/peer"
)

// Wire is a protocol of a model provider.
type Wire string

// The wires that there are, by their kind in config.toml.
const (
	Anthropic Wire = "anthropic"
	Responses Wire = "openai"
	Chat      Wire = "openai-chat"
)

// Wires lists them.
func Wires() []Wire { return []Wire{Anthropic, Responses, Chat} }

// path is where the protocol lives below the root of a server.
func (w Wire) path() string {
	if w == Anthropic {
		return ""
	}
	return "/v1"
}

// Bare is the alias of an agent without a sandbox: commands that are confined do
// not run in the client's terminals.
const Bare = "bare"

// Bed is a place to try Grapnel in, for one test.
type Bed struct {
	LLM     *fakellm.Server
	Home    string   // the user's home directory
	Config  string   // the configuration directory
	Work    string   // where sessions work
	Command []string // runs grapnel; append arguments
	Env     []string // for the command, whole
}

// New makes a Bed whose provider speaks wire. It is gone when the test ends.
func New(tb testing.TB, wire Wire) *Bed {
	tb.Helper()
	llm := &fakellm.Server{}
	server := httptest.NewServer(llm)
	tb.Cleanup(server.Close)
	dir := tb.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	b := &Bed{LLM: llm, Home: filepath.Join(dir, "home"), Work: filepath.Join(dir, "work")}
	b.Config = filepath.Join(b.Home, ".grapnel")
	b.write(tb, filepath.Join(b.Work, "README.md"), "# A small repository\n")
	b.write(tb, filepath.Join(b.Config, "config.toml"), fmt.Sprintf(`schema_version = 1

[providers.fake]
kind = %q
base_url = %q
api_key = "fake-key"
model = "fake-model"

[acp]
default_agent = "main"

[agents.main]
provider = "fake"

[agents.bare]
provider = "fake"
[agents.bare.autonomy]
sandbox = "none"
`, wire, server.URL+wire.path()))
	b.Command, b.Env = command(tb), b.environ()
	return b
}

func (b *Bed) write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// environ is ours with the Bed's home and without what would change Grapnel's
// mind about providers.
func (b *Bed) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return name == "HOME" || strings.HasPrefix(name, "GRAPNEL_") || strings.HasSuffix(name, "_API_KEY")
	})
	return append(env, "HOME="+b.Home, runAsProgram+"=1")
}

// ACP returns the command of the agent on stdio.
func (b *Bed) ACP() []string { return append(slices.Clone(b.Command), "acp") }

// Start runs the agent on stdio.
func (b *Bed) Start(tb testing.TB, checker peer.Checker) *peer.Agent {
	tb.Helper()
	return peer.Start(tb, peer.Options{Command: b.ACP(), Env: b.Env, Dir: b.Work, Checker: checker})
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write puts text into config.toml of a new home.
func write(t *testing.T, text string) Home {
	t.Helper()
	home := Home(t.TempDir())
	if err := os.WriteFile(home.File(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// mustLoad loads text with overrides.
func mustLoad(t *testing.T, text string, environ ...string) *Config {
	t.Helper()
	c, err := Load(write(t, text), environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadWithoutFile(t *testing.T) {
	home := Home(filepath.Join(t.TempDir(), "absent"))
	c, err := Load(home, []string{"PATH=/bin"})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Implicit() || !c.Agents["main"].Enabled || c.Agents["main"].MaxIterations != 50 {
		t.Errorf("agents = %+v, want an enabled main", c.Agents)
	}
	if c.ACP.MaxMessageBytes != 67108864 || c.ACP.ConcurrentPrompt != "queue" || !c.ACP.Dispatch.Enabled {
		t.Errorf("acp = %+v, want the defaults", c.ACP)
	}
	if got, want := c.StorePath(), filepath.Join(string(home), "data", "sessions.db"); got != want {
		t.Errorf("store at %s, want %s", got, want)
	}
	if _, err := os.Stat(string(home)); !os.IsNotExist(err) {
		t.Errorf("loading created %s", home)
	}
}

func TestLoadKeepsDefaultsOfWhatIsAbsent(t *testing.T) {
	c := mustLoad(t, `
[acp]
max_sessions = 3
dispatch.enabled = false
[agents.codex]
runtime = { type = "acp", agent = "codex" }
[agents.off]
enabled = false
[mcp.servers.files]
command = "files"
[owners.ann]
identities = ["discord:1"]
[harnesses.codex]
args = ["-y"]
[[bindings]]
agent = "codex"
channel = "discord"
match = { guild = "7" }
`)
	if c.Implicit() {
		t.Error("main was added although agents are configured")
	}
	got := []any{
		c.ACP.MaxSessions, c.ACP.SessionTimeoutSecs, c.ACP.Dispatch.Enabled, c.Agents["codex"].Enabled,
		c.Agents["codex"].Driver(), c.Agents["codex"].Runtime.Mode, c.Agents["off"].Enabled,
		c.MCP.Servers["files"].TimeoutSecs, c.Owners["ann"].Ceiling, c.Harnesses["codex"].PermissionMode,
		c.Bindings[0].Mode, c.Bindings[0].Account, c.Bindings[0].Match["guild"],
	}
	want := []any{3, 3600, false, true, "acp", "persistent", false, 180, "supervised", "", "persistent", "default", "7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("effective settings (-want +got):\n%s", diff)
	}
}

// F11: editors on Windows put a byte order mark first.
func TestF11ByteOrderMark(t *testing.T) {
	c := mustLoad(t, "\ufeff[agents.one]\r\n[agents.two]\r\n")
	if diff := cmp.Diff([]string{"one", "two"}, c.Aliases()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	_, err := Load(write(t, "\ufeffx = 1\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "config.toml:1:1: ") {
		t.Errorf("error %v, want column 1 not to count the mark", err)
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct {
		name, text string
		want       string // after the file name
	}{
		{"syntax", "[acp]\nmax_sessions 3\n", ":2:14: expected '=' after key"},
		{"unclosed", "data_dir = \"x\n", ":1:14: basic strings cannot have new lines"},
		{"unknown key", "[acp]\n\n  defalt_agent = 'x'\n", ":3:3: acp.defalt_agent is not a setting; did you mean acp.default_agent?"},
		{"wildcard origin", "[gateway]\nallowed_origins = ['https://a.example', '*']\n", `:2:19: gateway.allowed_origins has the entry "*": an origin is`},
		{"null origin", "[gateway]\nallowed_origins = ['null']\n", `:2:19: gateway.allowed_origins has the entry "null": an origin is`},
		{"origin with a path", "[gateway]\nallowed_origins = ['https://a.example/']\n", `:2:19: gateway.allowed_origins has the entry "https://a.example/"`},
		{"wildcard host", "[gateway]\nallowed_hosts = ['*.example']\n", `:2:17: gateway.allowed_hosts has the entry "*.example": a host is`},
		{"proxy by name", "[gateway]\ntrusted_proxies = ['proxy.example']\n", `:2:19: gateway.trusted_proxies has the entry "proxy.example"`},
		{"case matters", "[acp]\nDefault_Agent = 'x'\n", ":2:1: acp.Default_Agent is not a setting; did you mean acp.default_agent?"},
		{"unknown section", "[acpp]\nx = 1\n", ":1:2: acpp is not a setting; did you mean acp?"},
		{"wrong section", "max_sessions = 3\n", ":1:1: max_sessions is not a setting; did you mean acp.max_sessions?"},
		{"nothing near", "[telemetry]\nzzzzzzzzzzzzzzzzz = 3\n", ":2:1: telemetry.zzzzzzzzzzzzzzzzz is not a setting; did you mean telemetry."},
		{"in an inline table", "acp.stream = { delivery = 'live', shw = [] }\n", ":1:35: acp.stream.shw is not a setting; did you mean acp.stream.show?"},
		{"in a map", "[providers.\"my one\"]\nkey = 'x'\n", ":2:1: providers.\"my one\".key is not a setting; did you mean providers.\"my one\".kind?"},
		{"in a list", "[[bindings]]\n[[bindings]]\nagnt = 'x'\n", ":3:1: bindings.1.agnt is not a setting; did you mean bindings.1.agent?"},
		{"below a value", "data_dir.x = 1\n", ":1:10: data_dir.x is not a setting; data_dir is a single value"},
		{"type", "[acp]\nmax_sessions = '3'\n", ":2:16: acp.max_sessions must be a whole number, not a string"},
		{"fraction", "[acp]\nmax_sessions = 1.5\n", ":2:16: acp.max_sessions must be a whole number, not a number with a fraction"},
		{"bool", "[acp]\nenabled = 1\n", ":2:11: acp.enabled must be true or false, not a number"},
		{"section as value", "acp = 1\n", ":1:7: acp must be a section, not a number"},
		{"value as section", "[data_dir]\n", ":1:2: data_dir must be a string, not a section"},
		{"list as section", "[bindings]\nagent = 'x'\n", ":1:2: bindings must be a list of sections, not a section"},
		{"section as list", "[[acp]]\n", ":1:3: acp must be a section, not a list of sections"},
		{"list item", "[acp]\nallowed_agents = ['a', 1]\n", ":2:24: acp.allowed_agents must be a list of strings, but one of them is a number"},
		{"enum", "[acp]\nconcurrent_prompt = 'drop'\n", ":2:21: acp.concurrent_prompt cannot be \"drop\"; it is one of queue, reject, steer"},
		{"enum in a list", "[acp]\nstream.show = ['plan', 'all']\n", ":2:24: acp.stream.show cannot be \"all\"; it is one of tool_call, plan, usage"},
		{"enum of an override", "[agents.a.autonomy]\nlevel = 'root'\n", ":2:9: agents.a.autonomy.level cannot be \"root\"; it is one of readonly, supervised, full"},
		{"malformed pattern", "[autonomy]\ndeny = ['a', 'shell(rm *']\n", ":2:14: autonomy.deny: pattern \"shell(rm *\" has to end in a pattern in parentheses"},
		{"malformed glob", "[autonomy]\nalways_ask = ['file_write(src/[)']\n", ":2:15: autonomy.always_ask: pattern \"file_write(src/[)\" cannot be read as a file pattern"},
		{"no tool", "[agents.a.autonomy]\nauto_approve = ['src/**']\n", ":2:17: agents.a.autonomy.auto_approve: pattern \"src/**\" has to begin with a tool name"},
		{"pattern as command", "[autonomy]\nallowed_commands = ['ls', 'git *']\n", ":2:27: autonomy.allowed_commands: \"git *\" is no command"},
		{"low", "[acp]\nmax_sessions = 0\n", ":2:16: acp.max_sessions must be at least 1, not 0"},
		{"range", "[gateway]\nport = 70000\n", ":2:8: gateway.port must be between 0 and 65535, not 70000"},
		{"huge number", "[acp]\nmax_sessions = 99999999999999999999\n", ":2:16: decimal number is too large to fit in a 64-bit signed integer"},
		{"schema version", "schema_version = 2\n", ":1:18: schema_version must be between 1 and 1, not 2"},
		{"twice", "[acp]\n[acp]\n", ":2:2: table acp already exists"},
		{"alias", "[agents.Main]\nmodel = 'x'\n", ":1:9: \"Main\" is not an agent alias; use 1 to 63 of a-z, 0-9 and single _ between them"},
		{"unknown provider", "[providers.a]\nkind = 'demo'\n[agents.main]\nprovider = 'b'\n", ":4:12: agents.main.provider names provider \"b\", which does not exist; there are a, anthropic, openai, demo, ollama,"},
		{"unknown fallback", "[providers.a]\nkind = 'demo'\nfallback = ['z']\n", ":3:12: providers.a.fallback names provider \"z\", which does not exist; there are a, anthropic,"},
		{"unknown MCP server", "[agents.main]\nmcp_servers = ['files']\n", ":2:15: agents.main.mcp_servers names MCP server \"files\", but none is configured"},
		{"age", "[providers.a]\nkind = 'openai'\napi_key = 'age:'\n", ":3:11: providers.a.api_key: age: holds no encrypted text"},
		{"columns count characters", "data_dir = 'é' x\n", ":1:16: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := write(t, tt.text)
			_, err := Load(home, nil)
			var bad *Error
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want an *Error", err)
			}
			if want := home.File() + tt.want; !strings.HasPrefix(err.Error(), want) || len(bad.Problems) != 1 {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}

func TestLoadReportsEverythingInOrder(t *testing.T) {
	_, err := Load(write(t, "zzz = 1\n[acp]\nmax_sessions = 'x'\nstream = 3\n[zap.x]\n[zap.y]\n"), nil)
	if got := strings.Count(err.Error(), "\n") + 1; got != 4 {
		t.Errorf("%d problems, want 4:\n%s", got, err)
	}
}

func TestLoadOtherEncoding(t *testing.T) {
	_, err := Load(write(t, "\xff\xfea\x00"), nil)
	if err == nil || !strings.HasSuffix(err.Error(), "config.toml:1:1: the file is UTF-16; save it as UTF-8") {
		t.Errorf("error %v, want it to name UTF-16", err)
	}
}

// What is incomplete stops only what uses it: the rest works, check reports it.
func TestWarnings(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown default", "[acp]\ndefault_agent = 'ghost'\n[agents.one]\n", `:2:17: acp.default_agent names agent "ghost", which does not exist; there are one`},
		{"disabled default", "[acp]\ndefault_agent = 'one'\n[agents.one]\nenabled = false\n", `:2:17: acp.default_agent names agent one, which is disabled`},
		{"kindless provider", "[providers.mine]\nmodel = 'x'\n", ":1:12: providers.mine.kind is missing; set one of anthropic, openai,"},
		{"addressless provider", "[providers.mine]\nkind = 'openai-chat'\n", ":1:12: providers.mine.base_url is missing"},
		{"no address", "[providers.mine]\nkind = 'openai-chat'\nbase_url = 'localhost:1'\n", ":3:12: providers.mine.base_url must be an http or https address"},
		{"harnessless agent", "[agents.x.runtime]\ntype = 'acp'\n", ":1:11: agents.x.runtime.agent is missing"},
		{"typeless harness", "[agents.x]\nruntime.agent = 'codex'\n", `:1:9: agents.x.runtime.agent needs agents.x.runtime.type = "acp"`},
		{"commandless server", "[mcp.servers.x]\nargs = []\n", ":1:14: mcp.servers.x.command is missing"},
		{"addressless server", "[mcp.servers.x]\ntransport = 'sse'\n", ":1:14: mcp.servers.x.url is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := write(t, tt.text)
			if _, err := Load(home, nil); err != nil {
				t.Errorf("load: %v", err)
			}
			got := Check(home, nil)
			if len(got) != 1 || !got[0].Warning || !strings.HasPrefix(got[0].Error(), home.File()+tt.want) {
				t.Errorf("got  %v\nwant %s", got, tt.want)
			}
		})
	}
}

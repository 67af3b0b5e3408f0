package config

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const secrets = `
[providers.a]
kind = "openai"
api_key = "SEKRET1"
headers = { X-Api-Key = "SEKRET2", Z = "env:Z" }
[providers.b]
kind = "openai"
api_key = "cmd:echo SEKRET3"
[mcp.servers.m]
command = "m"
env = { TOKEN = "SEKRET4" }
[gateway]
auth = { token = "SEKRET5", password = "env:PW" }
[channels.discord]
accounts.second.token = "SEKRET6"
`

func TestNothingShowsSecrets(t *testing.T) {
	c := mustLoad(t, secrets)
	all, err := c.Get(nil)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{c.TOML(), string(encoded), Text(nil, all)} {
		if strings.Contains(out, "SEKRET") {
			t.Errorf("a secret is shown:\n%s", out)
		}
		if !strings.Contains(out, "env:PW") || !strings.Contains(out, "env:Z") {
			t.Errorf("a harmless reference is hidden:\n%s", out)
		}
	}
}

// What show prints is a configuration with the same effect.
func TestTOMLLoadsAgain(t *testing.T) {
	c := mustLoad(t, "[providers.'a b']\nkind = 'demo'\nfallback = ['a b']\n[agents.x]\n[agents.y.autonomy]\nlevel = 'full'\n[[bindings]]\nagent = 'x'\nmatch = { 'g h' = \"q\\\"\\n\" }\n")
	first := c.TOML()
	again := mustLoad(t, first)
	if diff := cmp.Diff(first, again.TOML()); diff != "" {
		t.Errorf("shown, loaded and shown again (-first +again):\n%s", diff)
	}
	if again.AutonomyOf("y").Level != "full" || again.Bindings[0].Match["g h"] != "q\"\n" || !again.Agents["x"].Enabled {
		t.Errorf("settings were lost:\n%s", first)
	}
}

func TestGet(t *testing.T) {
	c := mustLoad(t, secrets+"[[bindings]]\nagent = 'x'\n[agents.main.autonomy]\nlevel = 'full'\n")
	tests := []struct{ path, want string }{
		{"acp.max_sessions", "10\n"},
		{"acp.enabled", "true\n"},
		{"acp.default_agent", "\n"},
		{"acp.allowed_agents", "[]\n"},
		{"acp.stream", "[acp.stream]\ndelivery = \"live\"\n"},
		{"data_dir", "data\n"},
		{"providers.a.api_key", "[redacted]\n"},
		{"providers.a.headers.X-Api-Key", "[redacted]\n"},
		{"gateway.auth.password", "env:PW\n"},
		{"agents.main.autonomy.level", "full\n"},
		{"agents.main.autonomy.network", "\n"},
		{"bindings.0.agent", "x\n"},
		{"providers.ghost.model", "error: providers.ghost does not exist"},
		{"bindings.1.agent", "error: bindings.1 does not exist"},
		{"acp.nothing", "error: acp.nothing is not a setting; did you mean acp."},
	}
	for _, tt := range tests {
		p, err := ParsePath(tt.path)
		if err != nil {
			t.Fatal(err)
		}
		value, err := c.Get(p)
		got := Text(p, value)
		if err != nil {
			got = "error: " + err.Error()
		}
		if !strings.HasPrefix(got, tt.want) || err == nil && got != tt.want {
			t.Errorf("%s is %q, want %q", tt.path, got, tt.want)
		}
	}
}

// The reference describes every setting, and the defaults in it are valid.
func TestReference(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Keys() {
		if k.Doc == "" || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s has no sentence: %q", k.Path, k.Doc)
		}
		if seen[k.Path] {
			t.Errorf("%s is there twice", k.Path)
		}
		seen[k.Path] = true
	}
	for _, path := range []string{"schema_version", "acp.dispatch.enabled", "providers.<name>.headers", "bindings[].match", "channels.telegram.accounts.<name>.token"} {
		if !seen[path] {
			t.Errorf("%s is missing", path)
		}
	}
	if got := strings.Count(Markdown(), "\n## `[acp]`\n"); got != 1 {
		t.Errorf("section acp is there %d times", got)
	}
}

func TestDefaultsSatisfyTheSchema(t *testing.T) {
	d, err := parseDocument([]byte(specimen().TOML()))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range d.check(schema()) {
		if !strings.Contains(f.message, "agent alias") { // the placeholder <name>
			t.Errorf("a default breaks the schema: %s", f.message)
		}
	}
}

func TestJSONSchema(t *testing.T) {
	encoded, err := json.Marshal(JSONSchema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("config.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("config.json")
	if err != nil {
		t.Fatal(err)
	}
	for text, valid := range map[string]bool{
		`{}`: true,
		`{"acp":{"max_sessions":3,"stream":{"show":["plan"]}},"agents":{"a_b":{"runtime":{"type":"acp"}}}}`: true,
		`{"acp":{"max_sessions":0}}`:              false,
		`{"acp":{"stream":{"show":["all"]}}}`:     false,
		`{"agents":{"A":{}}}`:                     false,
		`{"zzz":1}`:                               false,
		`{"bindings":[{"channel":"irc"}]}`:        false,
		`{"providers":{"x":{"headers":{"A":1}}}}`: false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); (err == nil) != valid {
			t.Errorf("%s: %v, want valid %v", text, err, valid)
		}
	}
}

func TestUnreadableFile(t *testing.T) {
	home := Home(t.TempDir())
	if err := os.Mkdir(home.File(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(home, nil); err == nil || !strings.HasPrefix(err.Error(), "read the configuration: ") {
		t.Errorf("error %v, want the file named", err)
	}
	if _, err := Set(home, Path{"acp", "enabled"}, "true"); err == nil {
		t.Error("a directory was replaced")
	}
}

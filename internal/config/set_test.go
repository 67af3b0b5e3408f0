package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetKeepsTheRest(t *testing.T) {
	tests := []struct {
		name, before, path, value, after string
	}{
		{"new file", "", "acp.max_sessions", "3", "[acp]\nmax_sessions = 3\n"},
		{"new root key", "# mine\n\n# the protocol\n[acp]\n", "data_dir", "d", "# mine\n\ndata_dir = \"d\"\n\n# the protocol\n[acp]\n"},
		{"root key in comments only", "# mine", "data_dir", "d", "# mine\ndata_dir = \"d\"\n"},
		{"second root key", "schema_version = 1 # v\n[acp]\n", "data_dir", "d", "schema_version = 1 # v\ndata_dir = \"d\"\n[acp]\n"},
		{
			"replace", "[acp] # a\n# b\nmax_sessions   =  3   # c\nenabled = true\n", "acp.max_sessions", "4",
			"[acp] # a\n# b\nmax_sessions   =  4   # c\nenabled = true\n",
		},
		{"replace a list over lines", "acp.allowed_agents = [\n  'a', # one\n  'b',\n] # end\n", "acp.allowed_agents", "c,d", "acp.allowed_agents = [\"c\", \"d\"] # end\n"},
		{"replace a multi-line string", "[agents.a]\nsystem_prompt = '''\n[x]\n# y\n'''\nmodel = 'm'\n", "agents.a.system_prompt", "z\n\"", "[agents.a]\nsystem_prompt = \"z\\n\\\"\"\nmodel = 'm'\n"},
		{"add below the last key", "[acp]\n  max_sessions = 3\n\n# next\n[gateway]\nport = 1\n", "acp.enabled", "false", "[acp]\n  max_sessions = 3\n  enabled = false\n\n# next\n[gateway]\nport = 1\n"},
		{"add to an empty section", "[acp]\n[gateway]\n", "acp.enabled", "false", "[acp]\nenabled = false\n[gateway]\n"},
		{"no newline at the end", "[acp]", "acp.enabled", "false", "[acp]\nenabled = false\n"},
		{"carriage returns", "[acp]\r\nmax_sessions = 3\r\n", "acp.enabled", "false", "[acp]\r\nmax_sessions = 3\r\nenabled = false\r\n"},
		{"inline table", "[acp]\nstream = { delivery = 'live' } # s\n", "acp.stream.show", "plan", "[acp]\nstream = { delivery = 'live', show = [\"plan\"] } # s\n"},
		{"inside an inline table", "[acp]\nstream = { delivery = 'live', show = [] }\n", "acp.stream.delivery", "final", "[acp]\nstream = { delivery = \"final\", show = [] }\n"},
		{"empty inline table", "providers.a = {}\n", "providers.a.kind", "demo", "providers.a = { kind = \"demo\" }\n"},
		{"below an inline table", "agents.a = { model = 'x' }\n", "agents.a.autonomy.level", "full", "agents.a = { model = 'x', autonomy.level = \"full\" }\n"},
		{"dotted keys", "[acp]\ndispatch.enabled = true\nmax_sessions = 1\n", "acp.dispatch.enabled", "false", "[acp]\ndispatch.enabled = false\nmax_sessions = 1\n"},
		{"beside a dotted key", "[acp]\nstream.delivery = 'live' # d\nmax_sessions = 1\n", "acp.stream.show", "plan", "[acp]\nstream.delivery = 'live' # d\nstream.show = [\"plan\"]\nmax_sessions = 1\n"},
		{
			"new section beside its like", "[agents.a]\nmodel = 'x'\n# more = 1\n\n# the door\n[gateway]\nport = 1\n", "agents.a.runtime.type", "acp",
			"[agents.a]\nmodel = 'x'\n# more = 1\n\n[agents.a.runtime]\ntype = \"acp\"\n\n# the door\n[gateway]\nport = 1\n",
		},
		{"new section at the end", "[acp]\nenabled = true\n\n\n", "gateway.port", "1", "[acp]\nenabled = true\n\n[gateway]\nport = 1\n\n\n"},
		{"quoted name", "", `providers."my one".kind`, "demo", "[providers.\"my one\"]\nkind = \"demo\"\n"},
		{"quoted header", "[providers.'my one'] # p\n", `providers."my one".kind`, "demo", "[providers.'my one'] # p\nkind = \"demo\"\n"},
		{"list entry", "[[bindings]]\nagent = 'a'\n[[bindings]]\nagent = 'b'\n[acp]\n", "bindings.1.cwd", "/x", "[[bindings]]\nagent = 'a'\n[[bindings]]\nagent = 'b'\ncwd = \"/x\"\n[acp]\n"},
		{"section of a list entry", "[[bindings]]\nagent = 'a'\n[bindings.match]\nguild = '1'\n", "bindings.0.match.guild", "2", "[[bindings]]\nagent = 'a'\n[bindings.match]\nguild = \"2\"\n"},
		{"whole section", "", "providers.a", `{ kind = "demo", model = "x" }`, "[providers]\na = { kind = \"demo\", model = \"x\" }\n"},
		{"quotes are not doubled", "", "acp.default_agent", `"main"`, "[acp]\ndefault_agent = \"main\"\n"},
		{"mark is dropped", "\ufeff[acp]\n", "acp.enabled", "true", "[acp]\nenabled = true\n"},
		{"mends a wrong value", "[acp]\nmax_sessions = 'x'\n", "acp.max_sessions", "1", "[acp]\nmax_sessions = 1\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := write(t, tt.before)
			p, err := ParsePath(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Set(home, p, tt.value); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(home.File())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetRefuses(t *testing.T) {
	tests := []struct {
		name, before, path, value, want string
	}{
		{"broken file", "[acp\n", "acp.enabled", "true", "config.toml:1:5: expected ']' to close table name; mend the file first, it was left as it is"},
		{"unknown key", "", "acp.enabld", "true", "acp.enabld is not a setting; did you mean acp.enabled?"},
		{"wrong type", "", "acp.enabled", "yes", "acp.enabled must be true or false"},
		{"out of range", "", "acp.max_sessions", "0", "acp.max_sessions must be at least 1, not 0"},
		{"unknown value", "", "acp.concurrent_prompt", "drop", `acp.concurrent_prompt cannot be "drop"; it is one of queue, reject, steer`},
		{"other problem", "zzz = 1\n", "acp.enabled", "true", "config.toml:1:1: zzz is not a setting; did you mean "},
		{"unknown provider", "", "agents.main.provider", "ghost", `agents.main.provider names provider "ghost", which does not exist; there are anthropic`},
		{"section", "[acp]\n", "acp", "{}", "acp is a section in the file; set its keys one by one"},
		{"dotted section", "acp.enabled = true\n", "acp", "{}", "acp is a section in the file; set its keys one by one"},
		{"array entry", "bindings = [{ agent = 'x' }]\n", "bindings.0.agent", "y", "bindings.0.agent is inside the list bindings; edit the file by hand"},
		{"absent entry", "[[bindings]]\n", "bindings.1.agent", "y", "bindings.1 does not exist; add a [[bindings]] to the file by hand"},
		{"twice defined", "[acp]\n[acp]\n", "gateway.port", "1", "config.toml:2:2: table acp already exists"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := write(t, tt.before)
			p, err := ParsePath(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Set(home, p, tt.value)
			if err == nil || !strings.HasPrefix(strings.TrimPrefix(err.Error(), string(home)+string(filepath.Separator)), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
			got, err := os.ReadFile(home.File())
			if err != nil || string(got) != tt.before {
				t.Errorf("file is now %q (%v), want it untouched", got, err)
			}
			if left, _ := filepath.Glob(filepath.Join(string(home), ".config-*")); len(left) > 0 {
				t.Errorf("left behind %v", left)
			}
		})
	}
}

// A provider is made key by key; what is still missing is said, not refused.
func TestSetStepByStep(t *testing.T) {
	home := Home(filepath.Join(t.TempDir(), "new", "home"))
	warnings, err := Set(home, Path{"providers", "local", "kind"}, "openai-chat")
	if err != nil || len(warnings) != 1 || warnings[0].Path != "providers.local.base_url" {
		t.Fatalf("warnings %v, error %v, want the missing base_url", warnings, err)
	}
	warnings, err = Set(home, Path{"providers", "local", "base_url"}, "http://127.0.0.1:8080/v1")
	if err != nil || len(warnings) != 0 {
		t.Fatalf("warnings %v, error %v, want none", warnings, err)
	}
	c, err := Load(home, nil)
	if err != nil || c.Providers["local"].BaseURL != "http://127.0.0.1:8080/v1" {
		t.Errorf("provider %v, error %v", c, err)
	}
}

func TestSetModesAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes and links differ on Windows")
	}
	home := Home(filepath.Join(t.TempDir(), "home"))
	elsewhere := filepath.Join(t.TempDir(), "dotfiles.toml")
	if err := os.WriteFile(elsewhere, []byte("# kept\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, home.File()); err != nil {
		t.Fatal(err)
	}
	if _, err := Set(home, Path{"acp", "enabled"}, "true"); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(home.File()); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("config.toml is %v (%v), want the link kept", info.Mode(), err)
	}
	info, err := os.Stat(elsewhere)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v (%v), want 0600", info.Mode(), err)
	}
	if info, err := os.Stat(string(home)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("home mode %v (%v), want 0700", info.Mode(), err)
	}
}

func TestReplaceNoticesAnotherWriter(t *testing.T) {
	home := write(t, "# theirs\n")
	err := replace(home.File(), []byte("# before\n"), []byte("# ours\n"))
	if err == nil || !strings.Contains(err.Error(), "was changed by someone else meanwhile") {
		t.Errorf("error %v, want the other writer noticed", err)
	}
	if got, _ := os.ReadFile(home.File()); string(got) != "# theirs\n" {
		t.Errorf("file is now %q", got)
	}
}

func TestParsePath(t *testing.T) {
	tests := []struct {
		text string
		want Path
	}{
		{"a", Path{"a"}},
		{"a.b_c.d-e", Path{"a", "b_c", "d-e"}},
		{`a."b.c".d`, Path{"a", "b.c", "d"}},
		{`'a b'`, Path{"a b"}},
		{"", nil},
		{".", nil},
		{"a.", nil},
		{"a..b", nil},
		{`a."b`, nil},
		{`a."b"c`, nil},
	}
	for _, tt := range tests {
		got, err := ParsePath(tt.text)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err == nil) != (tt.want != nil) {
			t.Errorf("ParsePath(%q) = %q, %v, want %q", tt.text, got, err, tt.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte("[acp]\nmax_sessions = 3\nstream = { show = ['plan'] }\n[[bindings]]\nmatch.a = 'b'\n"))
	f.Add([]byte("\ufeff[agents.\"x\"]\nruntime.type = 'acp'\n"))
	f.Add([]byte("a = [1, {b = 2}, [3]]\n[a.b]\n[[a.b.c]]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, problems := load("/home", text, nil)
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Errorf("problem without a place or words: %+v", p)
			}
		}
		if len(withoutWarnings(problems)) == 0 {
			_ = c.TOML()
		}
	})
}

// FuzzSet checks that no change panics and that an accepted one is lasting:
// making it again changes nothing.
func FuzzSet(f *testing.F) {
	f.Add("# a\n[acp] # b\nmax_sessions = 3 # c\n", "acp.default_agent", "main")
	f.Add("acp.stream = { show = ['plan'] }\n", "acp.stream.delivery", "final")
	f.Add("[[bindings]]\nagent = 'x'\n[agents.a]\n", "bindings.0.cwd", "/tmp")
	f.Add("[providers.'a b']\r\nkind = 'demo'", `providers."a b".headers.X`, "1")
	f.Fuzz(func(t *testing.T, text, path, value string) {
		p, err := ParsePath(path)
		if err != nil {
			return
		}
		out, _, err := changed("/home", []byte(text), p, value)
		if err != nil {
			if strings.HasPrefix(err.Error(), "/home") && !errors.As(err, new(*Error)) {
				t.Errorf("error without its type: %v", err)
			}
			return
		}
		again, _, err := changed("/home", out, p, value)
		if err != nil || string(again) != string(out) {
			t.Errorf("setting %s to %q twice gives\n%s\nthen\n%s\n(%v)", path, value, out, again, err)
		}
	})
}

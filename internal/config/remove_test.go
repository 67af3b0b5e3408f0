package config

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

func TestUnset(t *testing.T) {
	const file = `# top
[providers.a]
kind = "openai"   # kind
api_key = "x" # gone with it
headers = { A = "1", B = "2", C = "3" }
[mcp.servers.m]
command = "m"
env = { TOKEN = "t" }
[mcp.servers.n.env]
TOKEN = "only"
[mcp.servers.o.env]
# kept
TOKEN = "beside a comment"
[mcp.servers.p.env]
A = "one of two"
B = "t"
[gateway]
auth.token = "y"
`
	tests := []struct{ path, gone, instead string }{
		{"providers.a.api_key", "api_key = \"x\" # gone with it\n", ""},
		{"providers.a.headers.A", `A = "1", `, ""},
		{"providers.a.headers.B", `B = "2", `, ""},
		{"providers.a.headers.C", `, C = "3"`, ""},
		{"providers.a.headers", "headers = { A = \"1\", B = \"2\", C = \"3\" }\n", ""},
		{"mcp.servers.m.env.TOKEN", `TOKEN = "t"`, ""},
		{"mcp.servers.n.env.TOKEN", "[mcp.servers.n.env]\nTOKEN = \"only\"\n", ""},
		{"mcp.servers.o.env.TOKEN", "TOKEN = \"beside a comment\"\n", ""},
		{"mcp.servers.p.env.A", "A = \"one of two\"\n", ""},
		{"gateway.auth.token", "auth.token = \"y\"\n", ""},
		{"gateway.auth.password", "", ""},
		{"providers.b.api_key", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			home := write(t, file)
			p, err := ParsePath(tt.path)
			if err != nil {
				t.Fatal(err)
			}
			removed, err := Unset(home, p)
			if err != nil || removed != (tt.gone != "") {
				t.Fatalf("removed %v, %v", removed, err)
			}
			got, err := os.ReadFile(home.File())
			if want := strings.Replace(file, tt.gone, tt.instead, 1); err != nil || string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestUnsetRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"[acp\n":                         "mend the file first, it was left as it is",
		"[providers.a.headers]\nA='1'\n": "is a section in the file",
	} {
		home := write(t, text)
		if removed, err := Unset(home, Path{"providers", "a", "headers"}); removed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("removed %v, %v, want %q", removed, err, want)
		}
		if got, err := os.ReadFile(home.File()); err != nil || string(got) != text {
			t.Errorf("the file is now %q, %v", got, err)
		}
	}
}

// Changes made at the same time are all there afterwards.
func TestSetConcurrently(t *testing.T) {
	home := write(t, "[providers.a]\nkind = \"openai\"\n")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := Set(home, Path{"providers", "a", "headers", fmt.Sprintf("H%d", i)}, "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c, err := Load(home, nil)
	if err != nil || len(c.Providers["a"].Headers) != 8 {
		t.Errorf("%d headers, %v", len(c.Providers["a"].Headers), err)
	}
}

func TestSecrets(t *testing.T) {
	c := mustLoad(t, secrets)
	var got []string
	for _, s := range c.Secrets() {
		got = append(got, s.Path.String()+" "+string(s.Ref.Scheme()))
	}
	want := "channels.discord.accounts.second.token literal, gateway.auth.password env, gateway.auth.token literal, mcp.servers.m.env.TOKEN literal, " +
		"providers.a.api_key literal, providers.a.headers.X-Api-Key literal, providers.a.headers.Z env, providers.b.api_key cmd"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	for path, want := range map[string]bool{"providers.x.api_key": true, "mcp.servers.m.env.A": true, "providers.x.model": false, "acp": false} {
		p, _ := ParsePath(path)
		if got, err := HoldsSecret(p); got != want || err != nil {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
	if _, err := HoldsSecret(Path{"providers", "x", "key"}); err == nil {
		t.Error("providers.x.key is no setting")
	}
}

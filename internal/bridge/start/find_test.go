package start

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// found returns the address and the credential of a command line in a home with
// files, or the error's text.
func found(t *testing.T, home string, args, environ []string) string {
	t.Helper()
	var f Flags
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	f.Bind(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		return err.Error()
	}
	target, err := (&finder{
		flags: &f, world: World{Home: config.Home(home), Environ: environ}, seen: secret.NewRedactor(),
	}).find(t.Context())
	if err != nil {
		return "error: " + err.Error()
	}
	scheme, value, _ := strings.Cut(target.Header.Get("Authorization"), " ")
	if plain, err := base64.StdEncoding.DecodeString(value); scheme == "Basic" && err == nil {
		value = string(plain)
	}
	return strings.TrimSpace(target.URL + " " + value)
}

func put(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCredentialOrder(t *testing.T) {
	const remote = "[gateway.remote]\nurl = \"https://far.example\"\n"
	file := put(t, filepath.Join(t.TempDir(), "token"), "from-file\n", 0o600)
	env := []string{"GRAPNEL_GATEWAY_TOKEN=from-env"}
	bridgeEnv := append([]string{"GRAPNEL_ACP_BRIDGE_TOKEN=from-bridge-env"}, env...)
	tests := []struct {
		name, conf    string
		args, environ []string
		kept          bool // data/bridge-token is there
		want          string
	}{
		{name: "a file", args: []string{"--url", "ws://h:1", "--token-file", file}, environ: bridgeEnv, want: "ws://h:1/acp from-file"},
		{name: "a token", args: []string{"--url", "http://h:1/x/", "--token", "t"}, want: "ws://h:1/x/ t"},
		{name: "a password file", args: []string{"--url", "wss://h", "--password-file", file}, want: "wss://h/acp grapnel:from-file"},
		{name: "the bridge's variable", args: []string{"--url", "ws://h:1"}, environ: bridgeEnv, want: "ws://h:1/acp from-bridge-env"},
		{
			name: "an explicit URL reuses nothing", conf: remote + "token = \"from-conf\"\n[gateway.auth]\ntoken = \"a\"",
			args: []string{"--url", "wss://far.example"}, environ: env, kept: true, want: "wss://far.example/acp",
		},
		{name: "the remote's own", conf: remote + `token = "from-conf"`, environ: env, kept: true, want: "wss://far.example/acp from-conf"},
		{name: "the remote's password", conf: remote + `password = "from-conf"`, want: "wss://far.example/acp grapnel:from-conf"},
		{name: "then the environment", conf: remote, environ: env, kept: true, want: "wss://far.example/acp from-env"},
		{name: "not the local one's", conf: remote + "[gateway.auth]\ntoken = \"a\"", want: "wss://far.example/acp"},
		{name: "then the kept token", conf: remote, kept: true, want: "wss://far.example/acp from-kept"},
		{
			name: "a reference that leads nowhere", conf: remote + `token = "env:NOT_THERE"`, environ: env, kept: true,
			want: "error: gateway.remote.token cannot be resolved: ",
		},
		{name: "a file that is not there", args: []string{"--url", "ws://h:1", "--token-file", file + "x"}, environ: bridgeEnv, want: "error: --token-file cannot be read: "},
		{name: "no gateway", want: "error: no gateway runs on this configuration directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			put(t, filepath.Join(home, "config.toml"), tt.conf, 0o600)
			if tt.kept {
				put(t, filepath.Join(home, "data", "bridge-token"), "from-kept\n", 0o600)
			}
			got := found(t, home, tt.args, tt.environ)
			if strings.HasPrefix(tt.want, "error") && strings.HasPrefix(got, tt.want) {
				return
			}
			if got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestKeptTokenOfOthers: a token that others can read is not used.
func TestKeptTokenOfOthers(t *testing.T) {
	home := t.TempDir()
	put(t, filepath.Join(home, "config.toml"), "[gateway.remote]\nurl = \"wss://far.example\"\n", 0o600)
	name := put(t, filepath.Join(home, "data", "bridge-token"), "from-kept\n", 0o600)
	if err := os.Chmod(name, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := found(t, home, nil, nil); !strings.Contains(got, "can be read by others; run chmod 600 on it") {
		t.Error(got)
	}
}

func TestUsage(t *testing.T) {
	tests := map[string][]string{
		"--token and --password are both given: choose one":               {"--url", "ws://h", "--token", "a", "--password", "b"},
		"--token is empty: leave it out, or give it a value":              {"--url", "ws://h", "--token", ""},
		"--url is empty: leave it out":                                    {"--url", ""},
		"--session and --session-label are both given: choose one":        {"--session", "a", "--session-label", "b"},
		"--provenance must be off, meta or meta+receipt, not \"all\"":     {"--provenance", "all"},
		"--tools must be gateway or client, not \"here\"":                 {"--tools", "here"},
		"--url: the gateway's URL must begin with wss://":                 {"--url", "ftp://h"},
		"--url: the gateway's URL names no host":                          {"--url", "wss://:1"},
		"--url: the gateway's URL must not hold a password":               {"--url", "wss://u:SEKRET@h"},
		"--url: the gateway's URL must not hold a token":                  {"--url", "wss://h?token=SEKRET"},
		"--url: the gateway's URL cannot be read: write it like wss://ga": {"--url", "wss://h:x y"},
	}
	for want, args := range tests {
		got := found(t, t.TempDir(), args, nil)
		if !strings.HasPrefix(got, want) || strings.Contains(got, "SEKRET") {
			t.Errorf("%q: got %q, want %q", args, got, want)
		}
	}
}

// TestPairing trades a code for a token once, and again for another code.
func TestPairing(t *testing.T) {
	var codes []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/x/pair" || r.Method != http.MethodPost {
			t.Errorf("%s %s", r.Method, r.URL.Path)
		}
		code := r.Header.Get("X-Pairing-Code")
		codes = append(codes, code)
		if code == "wrong" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte(`{"token":"for-` + code + `"}`))
	}))
	defer server.Close()
	home, at := t.TempDir(), server.URL+"/x/acp"
	url := "ws" + strings.TrimPrefix(at, "http")
	for _, step := range []struct{ code, want string }{
		{"1111", url + " for-1111"},
		{"1111", url + " for-1111"},
		{"", url + " for-1111"},
		{"2222", url + " for-2222"},
		{"wrong", "error: cannot pair with "},
		{"", url + " for-2222"},
	} {
		args := []string{"--url", at}
		if step.code != "" {
			args = append(args, "--pair-code", step.code)
		}
		if got := found(t, home, args, nil); got != step.want && !strings.HasPrefix(got, step.want+strings.TrimPrefix(server.URL, "http://")) {
			t.Errorf("code %q: got %s, want %s", step.code, got, step.want)
		}
	}
	if len(codes) != 3 {
		t.Errorf("the gateway was asked with %q", codes)
	}
	kept, err := filepath.Glob(filepath.Join(home, "data", "bridge-tokens", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %q, %v", kept, err)
	}
	if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if got := found(t, home, []string{"--url", server.URL + "/other"}, nil); strings.Contains(got, "for-") {
		t.Errorf("the token of one gateway goes to another: %s", got)
	}
}

func TestTokenName(t *testing.T) {
	for host, want := range map[string]string{
		"laptop":                 "laptop",
		"Anna-B.local":           "Anna-B-local",
		"gp_host":                "gp_host",
		"büro 2":                 "b-ro-2",
		".-_":                    "bridge-client",
		"":                       "bridge-client",
		strings.Repeat("a.", 99): strings.Repeat("a-", 29) + "a",
	} {
		if got := tokenName(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

// TestPairingFollowsNoRedirect: the code goes to the gateway that was named.
func TestPairingFollowsNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another server is asked, with the code %q", r.Header.Get("X-Pairing-Code"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL+"/pair", http.StatusTemporaryRedirect))
	defer server.Close()
	if got := found(t, t.TempDir(), []string{"--url", server.URL, "--pair-code", "1111"}, nil); !strings.Contains(got, "HTTP 307") {
		t.Error(got)
	}
}

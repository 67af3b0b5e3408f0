package fieldtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Secrets as they are in the places a client, a configuration and an environment
// can put one.
const (
	secretOfServer   = "SEKRET1-of-a-server"
	secretOfHeader   = "SEKRET2-of-a-header"
	secretOfFrame    = "SEKRET4-of-a-frame"
	secretOfConfig   = "SEKRET5-kept-encrypted"
	secretOfVariable = "SEKRET6-of-a-variable"
	secretOfEcho     = "SEKRET7-of-a-provider-that-quotes-it"
)

// allSecrets are those that Grapnel gets to know. The frame's it does not: it is
// in what could not be read.
func allSecrets() []string {
	return []string{secretOfServer, secretOfHeader, secretOfConfig, secretOfVariable, secretOfEcho, "sk-fake"}
}

// grapnel runs the binary to its end, as a person does in a shell.
func (w *World) grapnel(stdin string, args ...string) string {
	w.T.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"--config-dir", w.Home}, args...)...)
	cmd.Env = append(append(os.Environ(), AsMain+"=1"), w.Env...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.T.Fatalf("grapnel %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// newSecretWorld is a world with a secret in every place, beside a provider that
// quotes the key it refuses.
func newSecretWorld(t *testing.T) *World {
	echo := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(rw, `{"error":{"message":"no such key: %s"}}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(echo.Close)
	w := NewWorld(t)
	text, err := os.ReadFile(filepath.Join(w.Home, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	w.Configure(string(text) + fmt.Sprintf(`
mcp_servers = ["kept"]
[autonomy]
auto_approve = ["shell", "mcp(*)"]
allowed_commands = ["cat", "sleep", "sh"]
[providers.echo]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "env:ECHO_KEY"
model = "m"
[agents.echo]
provider = "echo"
[mcp.servers.kept]
command = "sh"
args = ["-c", "echo the token is $TOKEN >&2; exit 3"]
`, echo.URL))
	w.Env = append(w.Env, "ECHO_KEY="+secretOfEcho, "MY_SERVICE_TOKEN="+secretOfVariable)
	w.grapnel(secretOfConfig+"\n", "secret", "set", "mcp.servers.kept.env.TOKEN")
	w.write("notes", "my keys: "+strings.Join(allSecrets(), " ")+"\n")
	return w
}

func (w *World) write(name, text string) {
	w.T.Helper()
	if err := os.WriteFile(filepath.Join(w.Cwd, name), []byte(text), 0o600); err != nil {
		w.T.Fatal(err)
	}
}

// TestZ4SecretsStayOut: at full verbosity, with secrets in every place a client
// or a configuration can put one, none is logged, stored, shown or given to a
// model.
func TestZ4SecretsStayOut(t *testing.T) {
	w := newSecretWorld(t)
	a := w.Start("-v", "--agent", "main")
	a.Init()
	a.Send(`{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"token":"` + secretOfFrame + `",}`)
	a.Response("null")
	var opened struct {
		SessionID string `json:"sessionId"`
	}
	servers := []object{
		{
			"name": "files", "command": "sh", "args": []string{"-c", "echo bad token $GITHUB_PERSONAL_ACCESS_TOKEN >&2; exit 1"},
			"env": []object{{"name": "GITHUB_PERSONAL_ACCESS_TOKEN", "value": secretOfServer}},
		},
		{"type": "http", "name": "web", "url": "http://127.0.0.1:1/", "headers": []object{{"name": "X-Api-Key", "value": secretOfHeader}}},
	}
	a.Must("session/new", object{"cwd": w.Cwd, "mcpServers": servers}, &opened)
	a.Prompt(opened.SessionID, "D:SAY hi")
	a.Prompt(opened.SessionID, "D:TOOL read notes ; D:TOOL shell cat notes ; D:SAY done")
	a.Prompt(opened.SessionID, "D:HTTP 401")
	a.Quit()

	b := w.Start("-v", "--agent", "echo")
	b.Init()
	if m := b.Prompt(b.New(), "hello"); m.Error == nil || !strings.Contains(m.Error.Message, "no such key: ") {
		t.Errorf("the provider's words are not in the answer: %+v", m.Error)
	}
	b.Quit()

	var sent strings.Builder
	for _, r := range w.Model.Requests() {
		sent.Write(r.Body)
	}
	if !strings.Contains(sent.String(), "my keys: ") {
		t.Error("the model never got the file: nothing is tested")
	}
	for _, secret := range append(allSecrets(), secretOfFrame) {
		for place, text := range map[string]string{
			"the log": a.Stderr() + b.Stderr(), "what the client got": a.wrote() + b.wrote(), "what the model got": sent.String(),
		} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s is in %s: …%s", secret, place, text[max(0, at-200):at+len(secret)])
			}
		}
		if name := fileWith(t, filepath.Join(w.Home, "data"), secret); name != "" {
			t.Errorf("%s is stored in %s", secret, name)
		}
	}
	if !strings.Contains(a.wrote(), "the token is [redacted]") {
		t.Error("the configured server's complaint did not come through")
	}
	if out := w.grapnel("", "audit", "verify"); !strings.HasPrefix(out, "intact: ") {
		t.Error(out)
	}
}

// TestZ3NoSecretInArguments: whatever runs during a turn, no argument of any
// process below grapnel is a secret, and no command gets one in its environment.
func TestZ3NoSecretInArguments(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("there is no /proc")
	}
	w := newSecretWorld(t)
	a := w.Start("-v", "--agent", "main")
	a.Init()
	var opened struct {
		SessionID string `json:"sessionId"`
	}
	a.Must("session/new", object{"cwd": w.Cwd, "mcpServers": []object{
		{"name": "files", "command": "sleep", "args": []string{"60"}, "env": []object{{"name": "API_TOKEN", "value": secretOfServer}}},
	}}, &opened)
	from := a.Lines()
	id := a.BeginPrompt(opened.SessionID, "D:TOOL shell sleep 30")
	a.AwaitRunning(opened.SessionID, from)
	waitFor(t, "the command to run", func() bool { return len(processesWith(t, a.Pid(), "sleep\x0030")) > 0 })
	for pid, arguments := range tree(t, a.Pid()) {
		for _, secret := range allSecrets() {
			if strings.Contains(arguments, secret) {
				t.Errorf("%s is in the arguments of process %d: %q", secret, pid, arguments)
			}
		}
	}
	for _, pid := range processesWith(t, a.Pid(), "sleep\x0030") {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		for _, secret := range allSecrets() {
			if bytes.Contains(environment, []byte(secret)) {
				t.Errorf("%s is in the environment of a command", secret)
			}
		}
	}
	a.Cancel(opened.SessionID)
	a.Response(id)
	a.Quit()
}

// wrote is everything the agent wrote to its client.
func (a *Agent) wrote() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.raw, "")
}

// tree is the arguments of a process and of all below it.
func tree(t *testing.T, root int) map[int]string {
	t.Helper()
	parents := map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		var pid, parent int
		var state string
		after := stat[bytes.LastIndexByte(stat, ')')+1:]
		_, err1 := fmt.Sscan(string(stat), &pid)
		_, err2 := fmt.Sscan(string(after), &state, &parent)
		if err1 == nil && err2 == nil {
			parents[pid] = parent
		}
	}
	found := map[int]string{}
	for pid := range parents {
		for at := pid; at > 1; at = parents[at] {
			if at == root {
				arguments, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
				found[pid] = string(arguments)
				break
			}
		}
	}
	return found
}

func processesWith(t *testing.T, root int, arguments string) []int {
	t.Helper()
	var found []int
	for pid, text := range tree(t, root) {
		if strings.Contains(text, arguments) {
			found = append(found, pid)
		}
	}
	return found
}

// fileWith returns a file below dir that holds text, or "".
func fileWith(t *testing.T, dir, text string) string {
	t.Helper()
	found := ""
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			found = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

package fieldtest

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestZ4SecretsStayOut: at full verbosity, with secrets in every place a client
// or a configuration can put one, none is logged, stored or in the arguments.
func TestZ4SecretsStayOut(t *testing.T) {
	w := NewWorld(t)
	a := w.Start("-v")
	a.Init()
	a.Send(`{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"token":"SEKRET4",}`)
	var opened struct {
		SessionID string `json:"sessionId"`
	}
	a.Must("session/new", object{"cwd": w.Cwd, "mcpServers": []object{
		{"name": "files", "command": "mcp-files", "args": []string{}, "env": []object{{"name": "GITHUB_PERSONAL_ACCESS_TOKEN", "value": "SEKRET1"}}},
		{"type": "http", "name": "web", "url": "http://127.0.0.1:1/", "headers": []object{{"name": "X-Api-Key", "value": "SEKRET2"}}},
	}}, &opened)
	a.Prompt(opened.SessionID, "D:SAY hi")
	a.Prompt(opened.SessionID, "D:HTTP 401")
	arguments, err := os.ReadFile(filepath.Join("/proc", jsonNumber(encode(a.Pid())).String(), "cmdline"))
	if err == nil && bytes.Contains(arguments, []byte("sk-fake")) {
		t.Error("the key is in the arguments")
	}
	a.Quit()
	for _, secret := range []string{"SEKRET1", "SEKRET2", "SEKRET4", "sk-fake"} {
		if strings.Contains(a.Stderr(), secret) {
			t.Errorf("%s is in the log:\n%s", secret, a.Stderr())
		}
		if name := fileWith(t, filepath.Join(w.Home, "data"), secret); name != "" {
			t.Errorf("%s is stored in %s", secret, name)
		}
	}
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

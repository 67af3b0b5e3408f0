package docs

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
)

// bridgeToken is what the gateways that snippets reach take.
const bridgeToken = "docs-token-0123456789abcdef"

// reachable makes true what a snippet says of a gateway: one runs, at the address
// put in place of the snippet's, with the agent of the session's key, and the
// token is in the file.
func (w world) reachable(t *testing.T, args []string) []string {
	t.Helper()
	args = slices.Clone(args)
	at := slices.Index(args, "--url") + 1
	if at == 0 {
		return args
	}
	elsewhere := newWorld(t)
	elsewhere.project = w.project
	elsewhere.env = append(elsewhere.env, "GRAPNEL_gateway__port=0", "GRAPNEL_gateway__auth__token="+bridgeToken,
		"GRAPNEL_agents__design__provider=demo")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := elsewhere.command(t, self, "gateway", "--json")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready struct {
		ACP string `json:"acp"`
	}
	if err != nil || json.Unmarshal(line, &ready) != nil || ready.ACP == "" {
		t.Fatalf("the gateway is not ready: %v in %q", err, line)
	}
	args[at] = ready.ACP
	if file := slices.Index(args, "--token-file") + 1; file > 0 {
		args[file] = filepath.Join(w.home, "token")
		write(t, args[file], bridgeToken)
	}
	return args
}

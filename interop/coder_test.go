//go:build interop

package interop

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// TestCoderSDK runs the example client of coder/acp-go-sdk.
func TestCoderSDK(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), peerTimeout)
	defer cancel()
	bed := testbed.New(t, testbed.Anthropic)
	binary := filepath.Join(t.TempDir(), "client")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/coder/acp-go-sdk/example/client")
	build.Dir = filepath.Join(testbed.Root(t), "interop", "coder")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the example client: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(ctx, binary, bed.ACP()...)
	cmd.Env, cmd.Dir = bed.Env, bed.Work
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("the example client: %v\n%s", err, out)
	}
	said := strings.ReplaceAll(string(out), "\n", "")
	for _, want := range []string{"Connected to agent (protocol v1)", "Created session: ", "Hello from the fake model.", "Agent completed"} {
		if !strings.Contains(said, want) {
			t.Errorf("the example client does not say %q:\n%s", want, out)
		}
	}
}

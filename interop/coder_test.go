//go:build interop

package interop

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// buildCoder builds a program of the module that pins coder's SDK.
func buildCoder(t *testing.T, pkg string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "client")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, pkg)
	build.Dir = filepath.Join(testbed.Root(t), "interop", "coder")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return binary
}

// runCoder runs a client against grapnel acp.
func runCoder(t *testing.T, bed *testbed.Bed, binary string) (stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), peerTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, bed.ACP()...)
	cmd.Env, cmd.Dir = bed.Env, bed.Work
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("the client: %v\n%s\n%s", err, &out, &errs)
	}
	return out.String(), errs.String()
}

// TestCoderExample runs the example client of coder/acp-go-sdk.
func TestCoderExample(t *testing.T) {
	t.Parallel()
	binary := buildCoder(t, "github.com/coder/acp-go-sdk/example/client")
	out, _ := runCoder(t, testbed.New(t, testbed.Anthropic), binary)
	said := strings.ReplaceAll(out, "\n", "")
	for _, want := range []string{"Connected to agent (protocol v1)", "Created session: ", "Hello from the fake model.", "Agent completed"} {
		if !strings.Contains(said, want) {
			t.Errorf("the example client does not say %q:\n%s", want, out)
		}
	}
}

// TestCoderSDK has a client on coder/acp-go-sdk go through what that SDK has.
func TestCoderSDK(t *testing.T) {
	binary := buildCoder(t, "./client")
	for _, wire := range testbed.Wires() {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			type turn struct{ Stop, Text string }
			type result struct {
				Permissions     int
				Tool, Cancelled turn
				Listed          bool
				Replay          string
				Again           turn
			}
			bed := testbed.New(t, wire)
			out, log := runCoder(t, bed, binary)
			var got result
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want := result{
				Permissions: 1,
				Tool:        turn{"end_turn", "It is done."},
				Cancelled:   turn{"cancelled", "It begins."},
				Listed:      true,
				Replay:      "It is done.It begins.",
				Again:       turn{"end_turn", "And on."},
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if log != "" {
				t.Errorf("the SDK complains: %s", log)
			}
		})
	}
}

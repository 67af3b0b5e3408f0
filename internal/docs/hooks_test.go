package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/policy"
)

// TestHookExample runs the program of docs/hooks.md as the hook it is there.
func TestHookExample(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("python3 is missing: the example of docs/hooks.md is not tested")
		}
		t.Skip("python3 is missing")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "guard.py"), []byte(hookBlock(t, "python")), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &hook.Commands{Before: []string{"python3", "guard.py"}, Dir: dir}
	for path, blocks := range map[string]bool{"db/migrations/released/1.sql": true, "db/migrations/next/2.sql": false} {
		input, err := json.Marshal(map[string]string{"path": path, "content": ""})
		if err != nil {
			t.Fatal(err)
		}
		reason, err := c.BeforeTool(t.Context(), hook.Call{Kind: "edit", Input: input}, policy.Decision{})
		if err != nil || (reason != "") != blocks {
			t.Errorf("%s: %q, %v", path, reason, err)
		}
		if blocks && !slices.ContainsFunc(pages(t), func(p page) bool { return strings.Contains(p.text, `"blocked by a hook: `+reason+`"`) }) {
			t.Errorf("the document says another reason than %q", reason)
		}
	}
}

// TestHookEvent holds the event the document shows against what a hook reads.
func TestHookEvent(t *testing.T) {
	dir := t.TempDir()
	c := &hook.Commands{Before: []string{"sh", "-c", "cat > event"}, Dir: dir}
	call := hook.Call{Input: jsontext.Value(`{"command":"git push"}`)}
	if _, err := c.BeforeTool(t.Context(), call, policy.Decision{}); err != nil {
		t.Skip(err) // no sh
	}
	read, err := os.ReadFile(filepath.Join(dir, "event"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keysOf(t, string(read)), keysOf(t, hookBlock(t, ""))); diff != "" {
		t.Errorf("the event (-read +shown)\n%s", diff)
	}
}

// keysOf lists the members of an object and of the objects in it.
func keysOf(t *testing.T, object string) []string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(object), &v); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for name, member := range v {
		keys = append(keys, name)
		if inner, ok := member.(map[string]any); ok {
			for k := range maps.Keys(inner) {
				keys = append(keys, name+"."+k)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func hookBlock(t *testing.T, lang string) string {
	t.Helper()
	for _, b := range blocksIn(t, lang) {
		if b.page == "docs/hooks.md" {
			return b.text
		}
	}
	t.Fatalf("docs/hooks.md has no block of %q", lang)
	return ""
}

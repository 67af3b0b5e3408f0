package hook

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sh is a hook that runs a script.
func sh(script string) []string { return []string{"sh", "-c", script} }

func onlyUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the hooks of this test are sh scripts")
	}
}

func aCall() Call {
	return Call{
		Session: "s_1", Turn: "t_1", Agent: "main", Owner: "local", Cwd: "/w", Mode: policy.ModeAsk,
		ID: "c_1", Tool: "shell", Kind: "execute", Title: "`ls`", Input: jsontext.Value(`{"command":"ls"}`),
	}
}

func TestBeforeTool(t *testing.T) {
	onlyUnix(t)
	tests := []struct {
		name, script string
		block        string
		err          string // a part of the error; "" for none
	}{
		{"nothing to say", `cat >/dev/null`, "", ""},
		{"an empty object", `cat >/dev/null; echo '{}'`, "", ""},
		{"does not read", `echo '{"block":false}'`, "", ""},
		{"blocks", `echo '{"block":true,"reason":"not on a Friday"}'`, "not on a Friday", ""},
		{"blocks without a reason", `echo '{"block":true}'`, "the before_tool_call hook gave no reason", ""},
		{"fails", `echo 'no such rule' >&2; exit 3`, "", "the before_tool_call hook (sh) failed (exit code 3): no such rule"},
		{"dies", `kill -9 $$`, "", "failed (ended by SIGKILL)"},
		{"garbage", `echo hello`, "", "printed something that is no answer to this point: hello"},
		{"an unknown word", `echo '{"blok":true}'`, "", "no answer to this point"},
		{"two answers", `echo '{}{}'`, "", "no answer to this point"},
		{"a flood", `yes | head -c 100000`, "", "printed more than 65536 bytes"},
		{"hangs", `sleep 60 & wait`, "", "did not answer within 300ms and was ended"},
		{"ignores being ended", `trap '' TERM; while :; do sleep 1; done`, "", "did not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &Commands{Before: sh(tt.script), Dir: t.TempDir()}
			if strings.Contains(tt.err, "did not answer") {
				c.Timeout = 300 * time.Millisecond
			}
			block, err := c.BeforeTool(t.Context(), aCall(), policy.Decision{})
			if block != tt.block || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q, %v; want %q, %q", block, err, tt.block, tt.err)
			}
		})
	}
}

func TestMissingProgram(t *testing.T) {
	c := &Commands{Before: []string{filepath.Join(t.TempDir(), "none")}}
	if _, err := c.BeforeTool(t.Context(), aCall(), policy.Decision{}); err == nil || !strings.Contains(err.Error(), "before_tool_call") {
		t.Errorf("%v", err)
	}
}

func TestPermissionAnswers(t *testing.T) {
	onlyUnix(t)
	tests := []struct {
		script string
		want   Answer
		failed bool
	}{
		{`:`, Answer{Verdict: policy.Ask}, false},
		{`echo '{"answer":""}'`, Answer{Verdict: policy.Ask}, false},
		{`echo '{"answer":"allow"}'`, Answer{policy.Allow, "the permission_request hook allows it"}, false},
		{`echo '{"answer":"allow","reason":"ci"}'`, Answer{policy.Allow, "ci"}, false},
		{`echo '{"answer":"deny","reason":"no"}'`, Answer{policy.Deny, "no"}, false},
		{`echo '{"answer":"yes"}'`, Answer{Verdict: policy.Ask}, true},
		{`exit 1`, Answer{Verdict: policy.Ask}, true},
		{`echo true`, Answer{Verdict: policy.Ask}, true},
	}
	for _, tt := range tests {
		c := &Commands{Permitting: sh(tt.script), Dir: t.TempDir()}
		got, err := c.Permission(t.Context(), aCall(), policy.Decision{Verdict: policy.Ask})
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.failed {
			t.Errorf("%s: %v (-want +got)\n%s", tt.script, err, diff)
		}
	}
}

func TestBeforeFinalize(t *testing.T) {
	onlyUnix(t)
	for script, want := range map[string]string{
		`:`: "", `echo '{"again":false,"reason":"x"}'`: "", `echo '{"again":true,"reason":"run the tests"}'`: "run the tests",
		`echo '{"again":true}'`: "Look over your work once more before you finish.",
	} {
		c := &Commands{Finalizing: sh(script), Dir: t.TempDir()}
		if got, err := c.BeforeFinalize(t.Context(), Final{Text: "done"}); got != want || err != nil {
			t.Errorf("%s: %q, %v", script, got, err)
		}
	}
}

// TestWhatAHookReads holds the event of each point, which users' programs rely
// on.
func TestWhatAHookReads(t *testing.T) {
	onlyUnix(t)
	dir := t.TempDir()
	c := &Commands{Before: sh("cat > before"), After: sh("cat > after"), Permitting: sh("cat > permission"), Finalizing: sh("cat > final"), Dir: dir}
	d := policy.Decision{Verdict: policy.Ask, Rule: "medium risk", Reason: "it changes files", Risk: policy.Medium, Network: true}
	_, before := c.BeforeTool(t.Context(), aCall(), d)
	_, permission := c.Permission(t.Context(), aCall(), d)
	after := c.AfterTool(t.Context(), aCall(), Result{IsError: true, Text: "no", Took: 1500 * time.Millisecond})
	_, final := c.BeforeFinalize(t.Context(), Final{Session: "s_1", Turn: "t_1", Agent: "main", Owner: "local", Cwd: "/w", Mode: policy.ModeAsk, Text: "done"})
	for _, err := range []error{before, permission, after, final} {
		if err != nil {
			t.Fatal(err)
		}
	}
	head := func(hook string) string {
		return `{"version":1,"hook":"` + hook + `","session":"s_1","turn":"t_1","agent":"main","owner":"local","cwd":"/w","mode":"ask"`
	}
	const (
		called  = `,"call":{"id":"c_1","tool":"shell","kind":"execute","title":"` + "`ls`" + `","input":{"command":"ls"}}`
		decided = `,"decision":{"verdict":"ask","rule":"medium risk","reason":"it changes files","risk":"medium","network":true,"outside":false}}`
	)
	for name, want := range map[string]string{
		"before":     head("before_tool_call") + called + decided,
		"permission": head("permission_request") + called + decided,
		"after":      head("after_tool_call") + called + `,"result":{"isError":true,"text":"no","tookMs":1500}}`,
		"final":      head("before_finalize") + `,"final":{"text":"done"}}`,
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestHooksSeeNoSecrets: a hook's environment is the scrubbed one.
func TestHooksSeeNoSecrets(t *testing.T) {
	onlyUnix(t)
	t.Setenv("ANTHROPIC_API_KEY", "sk-secret")
	t.Setenv("GRAPNEL_providers__x__api_key", "sk-secret")
	c := &Commands{Before: sh(`env >&2; exit 1`), Dir: t.TempDir()}
	_, err := c.BeforeTool(t.Context(), aCall(), policy.Decision{})
	if err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("%v", err)
	}
}

// TestCancelEndsAHook: with the turn its hooks end too, and nobody is told that
// a hook failed.
func TestCancelEndsAHook(t *testing.T) {
	onlyUnix(t)
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	if err := exec.Command("mkfifo", started).Run(); err != nil {
		t.Fatal(err)
	}
	c := &Commands{Before: sh(`: > started; sleep 60 & wait`), Dir: dir}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.BeforeTool(ctx, aCall(), policy.Decision{})
		done <- err
	}()
	if _, err := os.ReadFile(started); err != nil { // waits for the hook to open it
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func TestNoHooksCostNothing(t *testing.T) {
	c := &Commands{}
	block, err := c.BeforeTool(t.Context(), aCall(), policy.Decision{})
	a, err2 := c.Permission(t.Context(), aCall(), policy.Decision{})
	again, err3 := c.BeforeFinalize(t.Context(), Final{})
	if block != "" || a.Verdict != policy.Ask || again != "" || err != nil || err2 != nil || err3 != nil || c.AfterTool(t.Context(), aCall(), Result{}) != nil {
		t.Error("a hook that is not configured has an opinion")
	}
}

// FuzzAnswer: whatever a hook prints is an answer or an error, never a panic, and
// only what says so blocks.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"", "{}", `{"block":true}`, `{"block":true,"reason":"x"}`, "null", "[", `{"block":1}`, `{"Block":true}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		var a blocking
		if err := read(out, &a); err != nil {
			return
		}
		if a.Block && !strings.Contains(string(out), "true") {
			t.Errorf("%q blocks", out)
		}
		if len(out) > 0 {
			var any map[string]any
			if json.Unmarshal(out, &any) != nil && strings.TrimSpace(string(out)) != "" {
				t.Errorf("%q was taken", out)
			}
		}
	})
}

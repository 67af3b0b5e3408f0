//go:build interop

package interop

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// acpx is an installation of acpx with its agent, grapnel acp.
type acpx struct {
	t    *testing.T
	bed  *testbed.Bed
	as   string // the agent's alias
	root string
	dirs map[string]bool // of sockets, which acpx keeps outside of the home
}

func newACPX(t *testing.T, bed *testbed.Bed) *acpx {
	x := &acpx{t, bed, "main", filepath.Join(testbed.Root(t), "interop", "node_modules"), map[string]bool{}}
	t.Cleanup(func() {
		x.endOwners()
		for dir := range x.dirs {
			_ = os.RemoveAll(dir)
		}
	})
	return x
}

// run runs acpx with arguments and returns what it printed and its exit code.
func (x *acpx) run(args ...string) (stdout string, code int) {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), peerTimeout)
	defer cancel()
	agent := strconv.Quote(x.bed.Command[0]) + " acp --agent " + x.as
	args = append([]string{filepath.Join(x.root, "acpx", "dist", "cli.js"), "--agent", agent}, args...)
	cmd := exec.CommandContext(ctx, nodeBinary(x.t), args...)
	cmd.Env, cmd.Dir = x.bed.Env, x.bed.Work
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		x.t.Fatal(err)
	}
	if x.t.Failed() || cmd.ProcessState.ExitCode() != 0 {
		x.t.Logf("acpx %s: %v\n%s\n%s", strings.Join(args[3:], " "), cmd.ProcessState, &out, &errs)
	}
	for _, o := range x.owners() {
		x.dirs[filepath.Dir(o.Socket)] = true
	}
	return strings.TrimSpace(out.String()), cmd.ProcessState.ExitCode()
}

// ok is run for what has to work.
func (x *acpx) ok(args ...string) string {
	x.t.Helper()
	out, code := x.run(args...)
	if code != 0 {
		x.t.Fatalf("acpx %s ends with %d", strings.Join(args, " "), code)
	}
	return out
}

// owners are the processes that acpx keeps for its sessions.
func (x *acpx) owners() []owner {
	leases, err := filepath.Glob(filepath.Join(x.bed.Home, ".acpx", "queues", "*.lock"))
	if err != nil {
		x.t.Error(err)
	}
	var list []owner
	for _, lease := range leases {
		var o owner
		if text, err := os.ReadFile(lease); err == nil && json.Unmarshal(text, &o) == nil && o.PID > 1 {
			list = append(list, o)
		}
	}
	return list
}

// owner is what a lease tells of its process.
type owner struct {
	PID    int    `json:"pid"`
	Socket string `json:"socketPath"`
}

// endOwners ends the processes that acpx left behind.
func (x *acpx) endOwners() {
	for _, o := range x.owners() {
		if p, err := os.FindProcess(o.PID); err == nil {
			_ = p.Kill()
		}
	}
}

// TestACPXExec runs single prompts, with permissions given and refused.
func TestACPXExec(t *testing.T) {
	for _, wire := range testbed.Wires() {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			bed := testbed.New(t, wire)
			x := newACPX(t, bed)
			out := x.ok("--approve-all", "--format", "quiet", "exec", "D:TOOL shell touch by-acpx ; D:SAY That is done.")
			if out != "That is done." {
				t.Errorf("acpx printed %q", out)
			}
			if _, err := os.Stat(filepath.Join(bed.Work, "by-acpx")); err != nil {
				t.Error(err)
			}
			const denied = 5
			if _, code := x.run("--deny-all", "--format", "quiet", "exec", "D:TOOL shell touch refused"); code != denied {
				t.Errorf("with all permissions denied acpx ends with %d, not %d", code, denied)
			}
			if _, err := os.Stat(filepath.Join(bed.Work, "refused")); err == nil {
				t.Error("the refused command ran")
			}
		})
	}
}

// TestACPXFiles has the agent use the files and terminals of acpx, which it
// offers.
func TestACPXFiles(t *testing.T) {
	t.Parallel()
	x := newACPX(t, testbed.New(t, testbed.Anthropic))
	x.as = testbed.Bare
	out := x.ok("--approve-all", "--format", "json", "exec", "D:TOOL read README.md ; D:TOOL write new.txt text ; D:TOOL shell echo hi")
	for _, method := range []string{"fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/release"} {
		if !strings.Contains(out, strconv.Quote(method)) {
			t.Errorf("the agent does not use %s of acpx", method)
		}
	}
}

// TestACPXSession keeps a named session, also when the process that owns it is
// lost.
func TestACPXSession(t *testing.T) {
	t.Parallel()
	bed := testbed.New(t, testbed.Anthropic)
	x := newACPX(t, bed)
	id := strings.Fields(x.ok("sessions", "ensure", "--name", "work"))[0]
	if again := x.ok("sessions", "ensure", "--name", "work"); !strings.HasPrefix(again, id) {
		t.Errorf("the session is %s, then %s", id, again)
	}
	prompt := []string{"--approve-all", "--format", "quiet", "prompt", "-s", "work"}
	for _, word := range []string{"first", "second"} {
		if out := x.ok(append(prompt, "D:SAY "+word)...); out != word {
			t.Errorf("acpx printed %q, not %q", out, word)
		}
	}
	x.ok("set-mode", "-s", "work", "plan")
	x.endOwners() // as a crash would
	if out := x.ok(append(prompt, "D:SAY third")...); out != "third" {
		t.Errorf("acpx printed %q after its process was lost", out)
	}
	if !toldModel(bed, "D:SAY first") || !lastToldModel(bed, "D:SAY first") {
		t.Error("the session did not go on where it was")
	}
	if out := x.ok("sessions", "list"); !strings.Contains(out, id) {
		t.Errorf("the session is not in the agent's list: %s", out)
	}
	x.ok("sessions", "close", "work")
	if left := x.owners(); len(left) != 0 {
		t.Errorf("after the close there are %v", left)
	}
}

// lastToldModel reports whether the latest request to the model has text.
func lastToldModel(bed *testbed.Bed, text string) bool {
	all := bed.LLM.Requests()
	return len(all) > 0 && strings.Contains(string(all[len(all)-1].Body), text)
}

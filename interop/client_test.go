//go:build interop

package interop

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// peerTimeout bounds one run of somebody else's program.
const peerTimeout = 2 * time.Minute

// scenario is one of client/scenarios.mjs with its arguments.
type scenario struct {
	Name  string   `json:"scenario"`
	Agent []string `json:"agent"`
	Cwd   string   `json:"cwd"`

	URL       string `json:"url,omitzero"` // of a gateway, instead of Agent
	Token     string `json:"token,omitzero"`
	Transport string `json:"transport,omitzero"` // see client/remote.mjs

	Prompt  string       `json:"prompt,omitzero"`
	Prompts []string     `json:"prompts,omitzero"`
	Next    string       `json:"next,omitzero"`
	Permit  string       `json:"permit,omitzero"`  // kind of option, or "cancelled"
	Answers []any        `json:"answers,omitzero"` // to requests, in order
	Buffers any          `json:"buffers,omitzero"`
	Answer  any          `json:"answer,omitzero"`
	Session any          `json:"session,omitzero"` // client capabilities about sessions
	check   func(report) // judges the results
}

// report is what client.mjs prints for a scenario.
type report struct {
	t          *testing.T
	Scenario   string         `json:"scenario"`
	Results    jsontext.Value `json:"results"`
	Violations []violation    `json:"violations"`
	Failure    jsontext.Value `json:"error"`
	Stderr     string         `json:"stderr"`
	Transcript []struct {
		To      string         `json:"to"`
		Message jsontext.Value `json:"message"`
	} `json:"transcript"`
}

type violation struct {
	What     jsontext.Value `json:"what"`
	Evidence jsontext.Value `json:"evidence"`
}

// into reads the results.
func (r report) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal(r.Results, v); err != nil {
		r.t.Fatalf("results of %s: %v\n%s", r.Scenario, err, r.Results)
	}
}

// sound fails the test if the scenario broke off or the agent broke a rule.
func (r report) sound() {
	r.t.Helper()
	for _, v := range r.Violations {
		r.t.Errorf("violation: %s\n%s", v.What, v.Evidence)
	}
	if len(r.Failure) > 0 {
		r.t.Errorf("the scenario broke off: %s", r.Failure)
	}
	if r.t.Failed() {
		r.tell()
		r.t.FailNow()
	}
}

func (r report) tell() {
	for _, m := range r.Transcript {
		r.t.Logf("to %s: %.1500s", m.To, m.Message)
	}
	r.t.Logf("stderr: %s", r.Stderr)
}

// nodeBinary is the Node that is pinned: acpx needs a newer one than many
// systems have.
func nodeBinary(t *testing.T) string {
	t.Helper()
	return filepath.Join(testbed.Root(t), "interop", "node_modules", "node", "bin", "node")
}

// run has the client play scenarios, one after another.
func run(t *testing.T, bed *testbed.Bed, scenarios []scenario) []report {
	t.Helper()
	args, err := json.Marshal(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), peerTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, nodeBinary(t), filepath.Join(testbed.Root(t), "interop", "client", "client.mjs"), string(args))
	cmd.Env, cmd.Dir = bed.Env, bed.Work
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("the client: %v\n%s\n%s", err, &stdout, &stderr)
	}
	return reports(t, stdout.Bytes(), len(scenarios))
}

func reports(t *testing.T, printed []byte, want int) []report {
	t.Helper()
	lines := bytes.Split(bytes.TrimSpace(printed), []byte("\n"))
	if len(lines) != want {
		t.Fatalf("%d scenarios gave %d reports:\n%s", want, len(lines), printed)
	}
	list := make([]report, want)
	for i, line := range lines {
		if err := json.Unmarshal(line, &list[i]); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
	}
	return list
}

// play runs scenarios against grapnel acp and judges each in a subtest.
func play(t *testing.T, bed *testbed.Bed, scenarios []scenario) {
	t.Helper()
	for i := range scenarios {
		scenarios[i].Cwd = bed.Work
		if scenarios[i].Agent == nil {
			scenarios[i].Agent = bed.ACP()
		}
	}
	for i, r := range run(t, bed, scenarios) {
		s := scenarios[i]
		t.Run(strings.TrimSpace(s.Name+" "+s.Permit), func(t *testing.T) {
			r.t = t
			r.sound()
			s.check(r)
			if t.Failed() {
				r.tell()
			}
		})
	}
}

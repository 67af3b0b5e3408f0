//go:build linux

package fieldtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

// codingSteps are a session of work on a small repository in three languages,
// as models go about it.
var codingSteps = []string{
	"shell git status --short",
	"shell ls -la && cat README.md",
	`list_dir {"path":"."}`,
	`content_search {"pattern":"func Add"}`,
	"read calc/calc.go",
	"edit calc/calc.go|return a - b|return a + b",
	"shell go build ./...",
	"shell go vet ./... && gofmt -l .",
	"write calc/calc_test.go package calc\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n",
	"shell go test ./...",
	"shell go run . 2>&1 | tail -5",
	"edit web/index.js|a - b|a + b",
	"shell cd web && npm test",
	"shell node web/index.js",
	"edit tool.py|a - b|a + b",
	"shell python3 tool.py",
	"shell python3 -m unittest -q test_tool",
	"shell make check",
	"shell git diff --stat && git diff | head -50",
	`shell git add -A && git commit -q -m "Add, do not subtract" && git log --oneline -3`,
}

// codingRepository is what they work on.
var codingRepository = map[string]string{
	"README.md":         "# calc\n\nIt adds.\n",
	"go.mod":            "module example.com/calc\n\ngo 1.24\n",
	"main.go":           "package main\n\nimport \"example.com/calc/calc\"\n\nfunc main() {\n\tprintln(calc.Add(1, 2))\n}\n",
	"calc/calc.go":      "package calc\n\nfunc Add(a, b int) int {\n\treturn a - b\n}\n",
	"web/package.json":  `{"name":"web","version":"1.0.0","scripts":{"test":"node test.js"}}` + "\n",
	"web/index.js":      "exports.add = (a, b) => a - b;\n",
	"web/test.js":       "if (require('./index.js').add(1, 2) !== 3) process.exit(1);\n",
	"tool.py":           "def add(a, b):\n    return a - b\n\n\nif __name__ == '__main__':\n    print(add(1, 2))\n",
	"test_tool.py":      "import unittest\n\nfrom tool import add\n\n\nclass Test(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n",
	"Makefile":          "check:\n\tgo build -o /dev/null .\n\tpython3 -m unittest -q test_tool\n",
	".gitignore":        "__pycache__/\n",
	"docs/decisions.md": "None yet.\n",
}

// maxQuestions is how often a person may be asked in such a session where a
// sandbox works, in the mode accept-edits and with the settings as they come.
const maxQuestions = 3

// TestCodingSessionAsksLittle counts the questions of a session of twenty steps.
// Every step has to work, in the sandbox too.
func TestCodingSessionAsksLittle(t *testing.T) {
	for _, name := range []string{"git", "go", "npm", "node", "python3", "make"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed, and the session needs it", name)
		}
	}
	t.Parallel() // a compiler with empty caches takes its time
	w := NewWorld(t)
	for _, rung := range []sandbox.Rung{sandbox.Bubblewrap, sandbox.Landlock, sandbox.None} {
		t.Run(string(rung), func(t *testing.T) {
			w.T = t
			needRung(t, rung)
			asked := w.codingSession(t, rung)
			t.Logf("%s: %d questions in %d steps: %q", rung, len(asked), len(codingSteps), asked)
			if rung != sandbox.None && len(asked) > maxQuestions {
				t.Errorf("%d questions, more than %d", len(asked), maxQuestions)
			}
		})
	}
}

// needRung skips a rung that this machine does not have. CI must have it.
func needRung(t *testing.T, rung sandbox.Rung) {
	t.Helper()
	if rung == sandbox.None {
		return
	}
	home, _ := os.UserHomeDir() // unknown is fine
	st, err := sandbox.New(sandbox.Options{Home: home, Path: os.Getenv("PATH")}).Find(t.Context(), rung)
	switch {
	case err == nil && st.Works():
	case os.Getenv("CI") != "":
		t.Fatalf("%s does not work here, and CI must not leave it out: %s %v", rung, st.Why(), err)
	default:
		t.Skipf("%s does not work here: %s", rung, st.Why())
	}
}

// codingSession works through the steps on one rung and returns what the person
// was asked, who allowed all of it.
func (w *World) codingSession(t *testing.T, rung sandbox.Rung) []string {
	t.Helper()
	w.Cwd = realDir(t, t.TempDir())
	for name, text := range codingRepository {
		name = filepath.Join(w.Cwd, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"init -q -b main", "config user.name u", "config user.email u@example.com", "add -A", "commit -q -m first",
	} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir = w.Cwd
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	w.ConfigureFake(fmt.Sprintf("[autonomy]\nsandbox = %q", rung))
	a, s := w.Opened()
	a.Must("session/set_mode", object{"sessionId": s, "modeId": "accept-edits"}, nil)
	var asked []string
	for _, step := range codingSteps {
		asked = append(asked, a.codingStep(s, step)...)
	}
	a.Quit()
	return asked
}

// codingStep has the model take one step, allows what it asks, and holds that
// it worked.
func (a *Agent) codingStep(s, step string) (asked []string) {
	a.t.Helper()
	line := a.Lines()
	id := a.BeginPrompt(s, "D:TOOL "+codingCall(step))
	for {
		m, ok := a.Next(line, 5*time.Minute)
		if !ok {
			a.t.Fatalf("%s does not end\n%s", step, a.Transcript())
		}
		line = m.Line + 1
		u, _ := m.Update()
		switch {
		case m.Method == "" && string(m.ID) == id:
			return asked
		case m.Method == "session/request_permission":
			p := a.AwaitPermission(m.Line)
			asked = append(asked, p.ToolCall.Title)
			a.Choose(p, "allow_once")
		case u.Status == "failed":
			a.t.Errorf("%s failed: %s", step, u.Raw["content"])
		}
	}
}

// codingCall writes a step as a call of a tool with its input.
func codingCall(step string) string {
	verb, rest, _ := strings.Cut(step, " ")
	switch verb {
	case "shell":
		return "shell " + encode(object{"command": rest, "timeout_seconds": 300})
	case "write":
		name, text, _ := strings.Cut(rest, " ")
		return "file_write " + encode(object{"path": name, "content": text})
	case "edit":
		f := strings.Split(rest, "|")
		return "file_edit " + encode(object{"path": f[0], "old_text": f[1], "new_text": f[2]})
	}
	return step
}

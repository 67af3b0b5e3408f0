package docs

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// notRun are the commands that documents show and no test can run, with the
// reason; those that end in a blank stand for all that begin so.
var notRun = []struct{ command, reason string }{
	{"grapnel setup", "asks questions in a terminal; its own tests answer them"},
	{"go install ", "fetches from the network"},
	{"go get ", "fetches from the network"},
	{"go test ", "this is one"},
	{"ssh ", "needs another machine"},
	{"tailscale ", "needs an account and a network"},
	{"acpx ", "is somebody else's program; the interop suite runs it"},
}

// placeholder stands for a session's id in the documents.
const placeholder = "SESSION"

// TestShellBlocksRun runs every block of shell commands, each in a world of its
// own that has one session.
func TestShellBlocksRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the documents show a Unix shell")
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is missing")
	}
	for _, b := range blocksIn(t, "sh") {
		t.Run(b.page, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			script := runnable(t, b)
			if strings.Contains(script, placeholder) {
				id := w.open(t, []string{"acp"}, "read README.md", "say a greeting that says helo")
				script = strings.ReplaceAll(script, placeholder, string(id))
			}
			if out, err := w.command(t, "sh", "-euc", script).CombinedOutput(); err != nil {
				t.Errorf("%s:%d: %v\n%s\n%s", b.page, b.line, err, b.text, out)
			}
		})
	}
}

// runnable returns what of a block a test can run. make targets are looked at,
// not made.
func runnable(t *testing.T, b block) string {
	t.Helper()
	repo, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.text) {
		line = strings.TrimSpace(line)
		switch word, rest, _ := strings.Cut(line, " "); {
		case skipped(line), line == "", strings.HasPrefix(line, "#"):
		case word == "make":
			lines = append(lines, "make -n -C '"+repo+"' "+rest)
		case word == "grapnel", word == "which", word == "echo" && strings.Contains(line, "| grapnel "):
			lines = append(lines, line)
		default:
			t.Errorf("%s:%d: %q is neither run nor among the commands that cannot be", b.page, b.line, line)
		}
	}
	return strings.Join(lines, "\n")
}

func skipped(line string) bool {
	for _, n := range notRun {
		if line == n.command || strings.HasSuffix(n.command, " ") && strings.HasPrefix(line, n.command) {
			return true
		}
	}
	return false
}

// commandLine finds command lines of grapnel in code spans and in blocks.
var commandLine = regexp.MustCompile("(?m)(?:`|^|\\| )grapnel ((?:[^`\\n|])*)")

// TestCommandsExist looks up every command and flag that documents mention.
func TestCommandsExist(t *testing.T) {
	w := newWorld(t)
	seen := map[string]bool{}
	for _, p := range pages(t) {
		for _, m := range commandLine.FindAllStringSubmatch(p.text, -1) {
			verbs, flags := words(m[1])
			if len(verbs) > 2 { // the third may be an argument
				if help, _ := w.grapnel(t, append(slices.Clone(verbs), "--help")...); !strings.Contains(help, "\n  grapnel "+strings.Join(verbs, " ")) {
					verbs = verbs[:2]
				}
			}
			key := strings.Join(verbs, " ") + "|" + strings.Join(flags, " ")
			if len(verbs) == 0 && len(flags) == 0 || seen[key] {
				continue
			}
			seen[key] = true
			help, err := w.grapnel(t, append(slices.Clone(verbs), "--help")...)
			if usage := strings.TrimSpace("grapnel " + key[:strings.Index(key, "|")]); err != nil || !strings.Contains(help, "\n  "+usage) {
				t.Errorf("%s: there is no `%s`: %v", p.name, usage, err)
				continue
			}
			for _, f := range flags {
				if !regexp.MustCompile(`(?m)[ ,]` + regexp.QuoteMeta(f) + `[ ,\n]`).MatchString(help) {
					t.Errorf("%s: `grapnel %s` has no flag %s", p.name, strings.Join(verbs, " "), f)
				}
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("the documents mention only %d commands: is the test looking right?", len(seen))
	}
}

// word is a command's name: what follows that is no name is its arguments.
var word = regexp.MustCompile(`^[a-z]+$`)

// words returns the names at the start of a command line, and its flags.
func words(line string) (verbs, flags []string) {
	fields := strings.Fields(line)
	for len(fields) > 0 && word.MatchString(fields[0]) && len(verbs) < 3 {
		verbs = append(verbs, fields[0])
		fields = fields[1:]
	}
	for _, f := range fields {
		if name, _, _ := strings.Cut(f, "="); strings.HasPrefix(name, "-") && name != "-" {
			flags = append(flags, name)
		}
	}
	return verbs, flags
}

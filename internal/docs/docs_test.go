package docs

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/cli"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // as in cmd/grapnel
)

const (
	// asMain is set in the environment of a test binary that is to be grapnel.
	// The demo keeps variables that begin with GRAPNEL_ from its child.
	asMain = "DOCS_TEST_AS_GRAPNEL"
	// patience bounds one command; a loaded machine is slow.
	patience = time.Minute
)

// TestMain is grapnel itself where the tests start the binary as such.
func TestMain(m *testing.M) {
	if os.Getenv(asMain) == "" {
		os.Exit(m.Run())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(),
	})
	stop()
	os.Exit(code)
}

// root is the repository.
const root = "../.."

// generated stands in the pages that are made from the code. The tests of that
// code look after their examples.
const generated = "This page is generated"

// page is one document.
type page struct {
	name   string // from the repository's root, with slashes
	text   string
	blocks []block
}

// block is a fenced block of a page.
type block struct {
	page string
	line int // of its first line
	lang string
	text string
}

// pages reads every document.
func pages(t *testing.T) []page {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		names = append(names, filepath.Join(root, name))
	}
	var list []page
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		p := page{name: filepath.ToSlash(rel), text: string(text)}
		if !strings.Contains(p.text, generated) {
			p.blocks = fences(t, p)
		}
		list = append(list, p)
	}
	return list
}

// fences finds the fenced blocks of a page.
func fences(t *testing.T, p page) []block {
	t.Helper()
	var found []block
	var open *block
	s := bufio.NewScanner(strings.NewReader(p.text))
	for n := 1; s.Scan(); n++ {
		lang, fence := strings.CutPrefix(s.Text(), "```")
		switch {
		case fence && open == nil:
			open = &block{page: p.name, line: n + 1, lang: lang}
		case fence:
			found = append(found, *open)
			open = nil
		case open != nil:
			open.text += s.Text() + "\n"
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block is not closed", p.name, open.line)
	}
	return found
}

// blocksIn returns all blocks of a language.
func blocksIn(t *testing.T, lang string) []block {
	t.Helper()
	var list []block
	for _, p := range pages(t) {
		for _, b := range p.blocks {
			if b.lang == lang {
				list = append(list, b)
			}
		}
	}
	if len(list) == 0 {
		t.Fatalf("no document has a block of %s", lang)
	}
	return list
}

// world is a fresh home and a project, with grapnel on the PATH.
type world struct {
	home, project string
	env           []string
}

// configured is a configuration that needs nothing from outside.
const configured = `[acp]
default_agent = "main"

[providers.demo]
kind = "demo"

[agents.main]
provider = "demo"

[agents.review]
provider = "demo"
`

func newWorld(t *testing.T) world {
	t.Helper()
	dir := t.TempDir()
	w := world{home: filepath.Join(dir, "home"), project: filepath.Join(dir, "project")}
	bin := filepath.Join(dir, "bin")
	for _, d := range []string{filepath.Join(w.home, ".grapnel"), w.project, bin} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "grapnel")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	write(t, filepath.Join(w.home, ".grapnel", "config.toml"), configured)
	write(t, filepath.Join(w.project, "README.md"), "# Greeter\n\nSays helo to whoever runs it.\n")
	w.env = []string{
		asMain + "=1", "HOME=" + w.home, "USERPROFILE=" + w.home, "GORACE=atexit_sleep_ms=10",
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	return w
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// command is a program of this world, in the project.
func (w world) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = w.project, w.env
	return cmd
}

// grapnel runs a command line of grapnel and returns what it wrote.
func (w world) grapnel(t *testing.T, args ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.command(t, self, args...).CombinedOutput()
	return string(out), err
}

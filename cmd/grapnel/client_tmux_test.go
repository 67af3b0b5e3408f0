//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pane is a terminal with a program in it, as a person has it.
type pane struct {
	t      *testing.T
	socket string
	dir    string
}

// openPane starts acp client in a terminal of its own, with the demo provider.
// What is left of it is gone when the test ends.
func openPane(t *testing.T, env ...string) *pane {
	t.Helper()
	return openPaneUntil(t, ":help lists commands", env...)
}

// openPaneUntil is openPane for a client that greets otherwise.
func openPaneUntil(t *testing.T, greeting string, env ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tmux is missing; run scripts/setup")
		}
		t.Skip("tmux is missing")
	}
	base := t.TempDir()
	home, work := filepath.Join(base, "home"), filepath.Join(base, "work")
	for name, text := range map[string]string{
		filepath.Join(home, "config.toml"): "[providers.demo]\nkind = \"demo\"\n[agents.main]\nprovider = \"demo\"\n",
		filepath.Join(work, "note.txt"):    "first line\nsecond line\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &pane{t: t, socket: filepath.Join(base, "tmux"), dir: work}
	grapnel, err := exec.LookPath("grapnel")
	if err != nil {
		t.Fatal(err)
	}
	command := strings.Join(env, " ") + " GORACE=atexit_sleep_ms=10 HOME=" + base + " GRAPNEL_CONFIG_DIR=" + home +
		" " + grapnel + " acp client --cwd " + work + "; echo exit=$?; stty -a | grep -o ' -*icanon'; cat"
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "30", command)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.see(greeting)
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=xterm-256color")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", args, err, out)
	}
	return string(out)
}

// press presses keys by tmux's names for them.
func (p *pane) press(keys ...string) {
	p.t.Helper()
	p.tmux(append([]string{"send-keys"}, keys...)...)
}

// enter types a line.
func (p *pane) enter(text string) {
	p.t.Helper()
	p.tmux("send-keys", "-l", text)
	p.press("Enter")
}

// screen is what stands on the terminal, without the blanks at line ends.
func (p *pane) screen() string {
	p.t.Helper()
	return p.tmux("capture-pane", "-p")
}

// see waits until the terminal shows a text.
func (p *pane) see(text string) {
	p.t.Helper()
	p.await("shows "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

func (p *pane) await(what string, there func(string) bool) {
	p.t.Helper()
	screen := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if screen = p.screen(); there(screen) {
			return
		}
	}
	p.t.Fatalf("the terminal never %s:\n%s", what, screen)
}

// line is the last line that has anything on it.
func line(screen string) string {
	lines := strings.Split(strings.TrimRight(screen, "\n "), "\n")
	return lines[len(lines)-1]
}

// idle waits for the prompt with nothing typed.
func (p *pane) idle() {
	p.t.Helper()
	p.await("waits for a line", func(screen string) bool { return line(screen) == ">" })
}

func TestClientInATerminal(t *testing.T) {
	t.Parallel()
	p := openPane(t)
	p.enter("say 你好 wörld 👋 there")
	p.see("你好 wörld 👋 there")
	p.idle()

	// The line is edited where its wide characters are.
	p.press("你们好", "Left", "BSpace", "Left", "x")
	p.await("edits", func(screen string) bool { return line(screen) == "> x你好" })
	p.press("C-c")
	p.idle()

	// A change is shown and asked about; the answer counts.
	p.enter("replace second with 2nd in note.txt")
	p.see("press a key:")
	if screen := p.screen(); !strings.Contains(screen, "-second line") || !strings.Contains(screen, "+2nd line") || !strings.Contains(screen, "@@ ") {
		t.Errorf("there is no diff:\n%s", screen)
	}
	p.press("y")
	p.idle()
	if text, err := os.ReadFile(filepath.Join(p.dir, "note.txt")); err != nil || string(text) != "first line\n2nd line\n" {
		t.Errorf("the file is %q, %v", text, err)
	}
	p.enter("run rm -rf note.txt")
	p.see("press a key:")
	p.press("n")
	p.idle()
	if _, err := os.Stat(filepath.Join(p.dir, "note.txt")); err != nil {
		t.Error("it ran what was denied")
	}

	// What is typed while a turn runs is there when it has ended; one Ctrl+C
	// cancels the turn and the program lives.
	p.enter("wait 60")
	p.await("has no line", func(screen string) bool {
		return !strings.HasPrefix(line(screen), ">") || strings.Contains(line(screen), "wait 60")
	})
	p.press("C-c")
	p.see("the turn ended: cancelled")
	p.idle()
	p.press("Up")
	p.await("recalls", func(screen string) bool { return line(screen) == "> wait 60" })
	p.press("C-c")
	p.idle()
	p.press("C-d")
	p.see("exit=0")
	p.see(" icanon") // the terminal is as it was
}

func TestClientCompletesAndPastes(t *testing.T) {
	t.Parallel()
	p := openPane(t, "NO_COLOR=1")
	p.press("/com")
	p.await("completes", func(screen string) bool {
		if line(screen) == "> /compact" {
			return true
		}
		p.press("Tab") // the agent tells its commands when the session is open already
		return false
	})
	p.press("C-u", ":se", "Tab")
	p.await("lists", func(screen string) bool { return strings.Contains(screen, ":sessions  :set") })
	p.press("C-u")
	p.idle()

	// Pasted lines stay together.
	p.tmux("set-buffer", "say one\nsay two")
	p.tmux("paste-buffer", "-p")
	p.await("shows both lines", func(screen string) bool { return strings.Contains(screen, "> say one\n  say two") })
	p.press("Enter")
	p.await("answers both", func(screen string) bool {
		return strings.Count(screen, "one") >= 2 && strings.Count(screen, "two") >= 2
	})
	p.idle()

	// A narrower terminal and a longer line leave no rests.
	p.tmux("set-window-option", "-g", "window-size", "manual")
	p.tmux("resize-window", "-x", "40", "-y", "20")
	words := func(screen string) int { return strings.Count(strings.ReplaceAll(screen, "\n", ""), "abcdefghi") }
	p.press(strings.Repeat("abcdefghi ", 7))
	p.await("wraps", func(screen string) bool { return words(screen) == 7 })
	p.tmux("resize-window", "-x", "70", "-y", "20")
	p.press("X")
	p.await("draws anew", func(screen string) bool { return words(screen) == 7 && strings.Contains(screen, "X") })
	p.press("C-c")
	p.idle()
	if screen := p.screen(); strings.Contains(screen, "abcdefghi") {
		t.Errorf("rests of a line:\n%s", screen)
	}

	p.enter(":mode")
	p.see("* ask")
	p.enter(":nonsense")
	p.see("there is no :nonsense")
	p.enter("::) is a prompt")
	p.see("Connect a real model with: grapnel setup")
	p.idle()
	if strings.Contains(p.tmux("capture-pane", "-p", "-e"), "\x1b[3") {
		t.Error("there are colours in spite of NO_COLOR")
	}
	p.press("C-c")
	p.see("Ctrl+C again or Ctrl+D quits")
	p.press("C-c")
	p.see("exit=130")
}

// Ctrl+C twice quits in the middle of a turn, and with a question open.
func TestClientQuitsTwice(t *testing.T) {
	t.Parallel()
	p := openPane(t)
	p.enter("run touch asked")
	p.see("press a key:")
	p.press("C-c")
	p.see("the turn ended: cancelled")
	p.idle()
	p.enter("wait 60")
	p.press("C-c", "C-c")
	p.see("exit=130")
	p.see(" icanon")
}

// A client that is told to end gives the terminal back as it was.
func TestClientIsTerminated(t *testing.T) {
	t.Parallel()
	p := openPane(t)
	p.enter("wait 60")
	pid := strings.TrimSpace(p.tmux("display-message", "-p", "#{pane_pid}"))
	out, err := exec.Command("pkill", "-TERM", "-P", pid, "grapnel").CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	p.see("exit=130")
	p.see(" icanon")
}

// A terminal that can only show lines is worked as a script is.
func TestClientOnADumbTerminal(t *testing.T) {
	t.Parallel()
	p := openPaneUntil(t, "", "TERM=dumb")
	p.enter("say plain")
	p.see("context:")
	p.press("C-d")
	p.see("exit=0")
	if screen := p.tmux("capture-pane", "-p", "-e"); strings.Contains(screen, "\x1b") {
		t.Errorf("%q", screen)
	}
}

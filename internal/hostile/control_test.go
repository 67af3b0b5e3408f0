//go:build linux

package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestControls makes every escape without Grapnel: a harm that would not be
// noticed here proves nothing when it is not noticed later.
func TestControls(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.grace = 50 * time.Millisecond
	g.config = "# a note: " + g.secret + "\n"
	for _, e := range escapes() {
		t.Run(e.name, func(t *testing.T) {
			e.possible(t)
			g.t = t
			defer func() { g.t = nil }()
			g.reset()
			if e.prepare != nil {
				e.prepare(g)
			}
			g.watch()
			var seen []byte
			if e.control != nil {
				seen = e.control(g)
			} else {
				seen = g.carelessly(e.tries)
			}
			if !g.noticed(seen) {
				t.Errorf("nothing is noticed, so that this escape proves nothing; it printed:\n%s", seen)
			}
		})
	}
}

// noticed reports whether harm shows within controlTime: a connection is
// counted by the listener's own goroutine, after the try has ended.
func (g *ground) noticed(seen []byte) bool {
	g.t.Helper()
	for end := time.Now().Add(controlTime); ; time.Sleep(10 * time.Millisecond) {
		if len(g.harm(seen)) > 0 {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// controlTime bounds a try: what takes longer hangs.
const controlTime = 5 * time.Second

// carelessly does what the model asks, as an agent without any care would, and
// returns what the model gets to see.
func (g *ground) carelessly(tries []try) []byte {
	var seen bytes.Buffer
	c := careless{repo: g.repo, home: g.home, env: append(cleanEnv(), g.environ()...)}
	for _, t := range tries {
		t.input = g.fill(t.input)
		done := make(chan []byte, 1)
		go func() { // it may hang for good
			out, err := c.run(t)
			if err != nil {
				out = append(out, []byte("\n"+err.Error())...)
			}
			done <- out
		}()
		select {
		case out := <-done:
			seen.Write(out)
		case <-time.After(hanging(t)):
			seen.WriteString(boast + ": an agent that does this hangs")
		}
	}
	return seen.Bytes()
}

// hanging is how long a try takes that never ends.
func hanging(t try) time.Duration {
	if t.tool == "shell" || t.tool == "git" {
		return controlTime
	}
	return controlTime / 10
}

// careless is an agent without any care.
type careless struct {
	repo, home string
	env        []string
}

// run runs one tool.
func (c careless) run(t try) ([]byte, error) {
	var in struct {
		Path, Command, Cwd, Content, Pattern, URL string
		OldText                                   string `json:"old_text"`
		NewText                                   string `json:"new_text"`
		Args                                      []string
	}
	if err := json.Unmarshal([]byte(t.input), &in); err != nil {
		return nil, err
	}
	path := c.path(in.Path)
	switch t.tool {
	case "shell":
		return c.shell(in.Command, in.Cwd)
	case "git":
		return c.shell("git "+quoteAll(in.Args), "")
	case "file_read", "deliver_file", "upload":
		return carelessRead(path)
	case "file_write":
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		return nil, os.WriteFile(path, []byte(in.Content), 0o600)
	case "file_edit":
		text, err := os.ReadFile(path)
		return nil, errors.Join(err, os.WriteFile(path, bytes.ReplaceAll(text, []byte(in.OldText), []byte(in.NewText)), 0o600))
	case "list_dir":
		return c.shell("ls "+quoteAll([]string{path}), "")
	case "glob_search":
		found, err := filepath.Glob(c.path(in.Pattern))
		return []byte(strings.Join(found, "\n")), err
	case "content_search":
		return c.shell("grep -Rn "+quoteAll([]string{in.Pattern, path}), "")
	case "web_fetch":
		return carelessFetch(in.URL)
	}
	return nil, errors.New("no such tool")
}

func (c careless) path(path string) string {
	path, _, _ = strings.Cut(path, "\x00") // as C reads it
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		path = c.home + rest
	}
	path = strings.TrimPrefix(path, "file://")
	if !filepath.IsAbs(path) {
		path = c.repo + "/" + path // not cleaned: links are followed first
	}
	return path
}

// carelessRead stops where there is no end.
func carelessRead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if len(data) == 1<<20 {
		return []byte(boast + ": there is no end"), err
	}
	return data, err
}

func carelessFetch(url string) ([]byte, error) {
	r, err := http.Get(url) //nolint:noctx // carelessly
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

// carelessShell runs a command below a shell that has Grapnel's environment, in
// which case the parent's is there to be read as well.
func (c careless) shell(command, cwd string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), controlTime-time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", `sh -c "$0"; true`, command)
	cmd.Dir = c.repo
	if cwd != "" {
		cmd.Dir = c.path(cwd)
	}
	cmd.Env = c.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 100 * time.Millisecond
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) || errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = nil // something stays and holds the pipe
	}
	return out, err
}

// cleanEnv is our environment without what speaks of another home.
func cleanEnv() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "GRAPNEL_") || strings.Contains(kv, "_proxy=") || strings.Contains(kv, "_PROXY=")
	})
}

func quoteAll(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

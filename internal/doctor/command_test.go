package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programs makes a directory with one program and one script, and an environment
// that finds the program.
func programs(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"interpreter", "check.py"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{"PATH=" + dir}
}

func TestHook(t *testing.T) {
	dir, env := programs(t)
	for _, c := range []struct {
		argv []string
		want Status
		says string
	}{
		{[]string{"interpreter"}, OK, "runs interpreter"},
		{[]string{"interpreter", "check.py"}, OK, ""},
		{[]string{"interpreter", "nosuch"}, OK, ""}, // a word may be anything
		{[]string{"interpreter", "nosuch.py"}, Fail, "nosuch.py"},
		{[]string{"nosuch"}, Fail, "nosuch"},
		{[]string{filepath.Join(dir, "gone")}, Fail, "gone"},
	} {
		f := Hook("before_tool_call", c.argv, dir, env)
		if f.Status != c.want || !strings.Contains(f.Message, c.says) {
			t.Errorf("%q: %+v, want %s", c.argv, f, c.want)
		}
	}
}

func TestServer(t *testing.T) {
	_, env := programs(t)
	for name, c := range map[string]struct {
		argv    []string
		secrets error
		want    Status
		says    string
	}{
		"there":            {[]string{"interpreter"}, nil, OK, "is configured"},
		"over the network": {nil, nil, OK, "is configured"},
		"no program":       {[]string{"nosuch"}, nil, Warn, "nosuch"},
		"no script":        {[]string{"interpreter", "/nosuch.js"}, nil, Warn, "/nosuch.js"},
		"of the session":   {[]string{"./server"}, nil, OK, ""},
		"script of it":     {[]string{"interpreter", "server.js"}, nil, OK, ""},
		"no secret":        {[]string{"interpreter"}, errors.New("TOKEN is not set"), Warn, "TOKEN is not set"},
	} {
		f := Server("files", c.argv, env, c.secrets)
		if f.Status != c.want || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %+v, want %s", name, f, c.want)
		}
	}
}

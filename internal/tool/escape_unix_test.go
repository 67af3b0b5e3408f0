//go:build unix

package tool

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Z5: nothing outside the roots is read, written or waited for.
func TestZ5Escapes(t *testing.T) {
	env := newEnv(t, map[string]string{"in": "inside\n"})
	base := filepath.Dir(env.Cwd)
	out := filepath.Join(base, "out")
	writeFile(t, filepath.Join(out, "secret"), "secret\n")
	writeFile(t, filepath.Join(base, "w-evil", "x"), "evil\n")
	for name, to := range map[string]string{
		"dangling": filepath.Join(out, "new"), "dirlink": out, "passwd": filepath.Join(out, "secret"), "good": "in",
	} {
		if err := os.Symlink(to, filepath.Join(env.Cwd, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(env.Cwd, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"dangling", "dirlink/x", base + "/w-evil/x", env.Cwd + "/../out/x", "passwd", "fifo", `a\u0000b`} {
		for _, tool := range []Tool{fileRead{}, fileWrite{}, fileEdit{}} {
			input := `{"path":"` + path + `"`
			switch tool.(type) {
			case fileWrite:
				input += `,"content":"x"`
			case fileEdit:
				input += `,"old_text":"e","new_text":"x"`
			}
			refuses(t, env, tool, input+"}", "")
		}
	}
	if names, _ := os.ReadDir(out); len(names) != 1 || readBack(t, filepath.Join(out, "secret")) != "secret\n" {
		t.Errorf("outside: %v", names)
	}
	if res := run(t, env, fileRead{}, `{"path":"good"}`); res.Text != "inside\n" {
		t.Errorf("a link in the root: %+v", res)
	}
}

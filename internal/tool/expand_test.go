//go:build unix

package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/policy"
)

// What a pattern is judged by is at least what sh makes of it.
func TestExpandFindsWhatTheShellFinds(t *testing.T) {
	env := newEnv(t, map[string]string{
		"a.go": "", "b.go": "", ".hidden": "", "sub/c.go": "", "sub/d.txt": "", "sub/deep/e.go": "", "sp ace": "", "你.go": "", "x[1]": "", "é/f": "",
	})
	if err := os.Symlink("sub", filepath.Join(env.Cwd, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(env.Cwd, "out")); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{
		"*", "*.go", "?.go", "[ab].go", "[!a].go", ".h*", "sub/*", "*/*.go", "link/*.go", "sub/*/e.go", "s*/d*/*", "sp*", `x\[*`,
		"./*.go", "sub/../*.go", "nope/*", "a.go/*", "?/f", "??/f", "???.go", env.Cwd + "/*.go",
	} {
		paths, ok := env.expand(pattern, env.Cwd)
		if !ok && !strings.HasPrefix(pattern, "*/") {
			t.Errorf("%s: cannot be told", pattern)
		}
		if !ok {
			continue // through out/, which is outside
		}
		cmd := exec.Command("sh", "-c", "for f in "+pattern+`; do [ -e "$f" ] && realpath "$f"; done`)
		cmd.Dir = env.Cwd
		out, _ := cmd.Output()
		for want := range strings.Lines(string(out)) {
			want = strings.TrimSuffix(want, "\n")
			found := slices.ContainsFunc(paths, func(p policy.Path) bool {
				if want == "/etc" { // a link out of the roots is named, not followed
					return !p.InRoot
				}
				return p.Abs == want && p.InRoot
			})
			if !found {
				t.Errorf("%s: %s is not among %+v", pattern, want, paths)
			}
		}
	}
	for _, pattern := range []string{"out/*", "/etc/*", "../*", "[[:alpha:]]*", "["} {
		if paths, ok := env.expand(pattern, env.Cwd); ok {
			t.Errorf("%s: %+v", pattern, paths)
		}
	}
	for i := range maxExpanded + 1 {
		writeFile(t, filepath.Join(env.Cwd, "many", strings.Repeat("x", i%100)+string(rune('0'+i/100))), "")
	}
	if _, ok := env.expand("many/*", env.Cwd); ok {
		t.Error("more than can be judged is told")
	}
}

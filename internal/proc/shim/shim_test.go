package shim

import (
	"go/build"
	"slices"
	"testing"
)

// The init of this package runs early only while it needs nothing else.
func TestImports(t *testing.T) {
	const procfs = "github.com/grapnel-ai/grapnel/internal/proc/procfs"
	for dir, allowed := range map[string][]string{
		".": {"os", "syscall", "time", procfs}, "../procfs": {"os"},
	} {
		pkg, err := build.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pkg.Imports {
			if !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", dir, path)
			}
		}
	}
}

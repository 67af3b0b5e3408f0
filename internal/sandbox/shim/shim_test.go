package shim

import (
	"go/build"
	"slices"
	"testing"
)

// The init of this package runs early only while it needs nothing else.
func TestImports(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pkg.Imports {
		if !slices.Contains([]string{"os", "runtime", "syscall", "unsafe"}, path) {
			t.Errorf("imports %s", path)
		}
	}
}

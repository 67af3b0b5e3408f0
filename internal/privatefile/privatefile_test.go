package privatefile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/privatefile"
)

func TestWriteReplacesAndKeepsToItsUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("the old and longer text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"new", "", strings.Repeat("x", 1<<20)} {
		if err := privatefile.Write(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Fatalf("%d bytes, %v, want %d", len(got), err, len(want))
		}
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	alone(t, path)
}

// TestFailureLeavesNothing: a directory stands in the way.
func TestFailureLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.MkdirAll(filepath.Join(path, "in it"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := privatefile.Write(path, []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	alone(t, path)
	if err := privatefile.Write(filepath.Join(path, "none", "token"), nil); err == nil {
		t.Error("a directory was made")
	}
}

// TestWritersAtOnce: the file is that of one of them.
func TestWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	var all sync.WaitGroup
	for _, c := range "abcd" {
		all.Go(func() {
			if err := privatefile.Write(path, []byte(strings.Repeat(string(c), 1<<16))); err != nil && runtime.GOOS != "windows" {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(path)
	if err != nil || len(got) != 1<<16 || strings.Count(string(got), string(got[:1])) != len(got) {
		t.Errorf("%d bytes of several, %v", len(got), err)
	}
	alone(t, path)
}

// alone checks that nothing else was left where a file is.
func alone(t *testing.T, path string) {
	t.Helper()
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

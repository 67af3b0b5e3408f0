package lease

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func head() Head {
	return Head{Boot: "b-1", Space: "pid:[1]", Groups: "/sys/fs/cgroup/user.slice", Temp: "/tmp/a\n\"b"}
}

func child(serial uint64) Child {
	return Child{Serial: serial, Pid: 4194303, Start: math.MaxUint64, Guard: 2, GuardStart: 1}
}

func put(t *testing.T, f *File, serial uint64) int {
	t.Helper()
	line, err := f.Put(child(serial))
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func requireChildren(t *testing.T, path string, want ...Child) {
	t.Helper()
	h, got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(head(), h); diff != "" {
		t.Errorf("head (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("children (-want +got)\n%s", diff)
	}
}

func TestLinesAreReused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "i_a"+Suffix)
	f, err := Create(path, head())
	if err != nil {
		t.Fatal(err)
	}
	requireChildren(t, path)
	one, two := put(t, f, 1), put(t, f, math.MaxUint64)
	requireChildren(t, path, child(1), child(math.MaxUint64))
	if err := f.Clear(one); err != nil {
		t.Fatal(err)
	}
	requireChildren(t, path, child(math.MaxUint64))
	if three := put(t, f, 3); three != one {
		t.Errorf("line %d, want %d again", three, one)
	}
	requireChildren(t, path, child(3), child(math.MaxUint64))
	if err := f.Clear(one); err != nil {
		t.Fatal(err)
	}
	if err := f.Clear(two); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty record is left: %v", err)
	}
}

// What still has a child is left for the next start.
func TestCloseKeepsWhatIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "i_a"+Suffix)
	f, err := Create(path, head())
	if err != nil {
		t.Fatal(err)
	}
	put(t, f, 1)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	requireChildren(t, path, child(1))
	if _, err := Create(path, head()); err == nil {
		t.Error("a record is overwritten")
	}
}

func TestReadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, text := range []string{"", "x", "grapnel-lease 2\n", magic + "\n", magic + "\n\"a\"\n\"b\"\n\"c\"\n", magic + "\na\nb\nc\nd\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Read(path); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if _, _, err := Read(path + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(head().text())
	f.Add([]byte(magic + "\n\"\"\n\"\"\n\"\"\n\"\"\n1 2 3 4 5                                                                                      \n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, children, err := parse(text)
		if err != nil && children != nil {
			t.Fatal("children of a file that is none")
		}
		for _, c := range children {
			if c.Pid < 0 || c.Guard < 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func BenchmarkPutClear(b *testing.B) {
	f, err := Create(filepath.Join(b.TempDir(), "i_a"+Suffix), head())
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	for b.Loop() {
		line, err := f.Put(child(1))
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Clear(line); err != nil {
			b.Fatal(err)
		}
	}
}

package secret

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func seal(t *testing.T, keyFile, value string) string {
	t.Helper()
	ref, _, err := Seal(keyFile, value)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestSealAndResolve(t *testing.T) {
	keyFile := filepath.Join(t.TempDir(), "keys", "age.key")
	seen := NewRedactor()
	src := Source{KeyFile: keyFile, Seen: seen}
	for _, value := range []string{"SEKRET-1", "two\nlines", strings.Repeat("x", 5000), "ü"} {
		ref := seal(t, keyFile, value)
		if strings.ContainsAny(ref, "\n\"\\ ") || strings.Contains(ref, "SEKRET") {
			t.Errorf("%q is not one plain word", ref)
		}
		if got, err := NewRef(ref).Resolve(t.Context(), src); got != value || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, value)
		}
	}
	if got := seen.Replace("a SEKRET-1"); got != "a [redacted]" {
		t.Errorf("a resolved secret is not known: %q", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]os.FileMode{keyFile: 0o600, filepath.Dir(keyFile): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
}

func TestResolveWithoutTheRightKey(t *testing.T) {
	dir := t.TempDir()
	keyFile, other := filepath.Join(dir, "age.key"), filepath.Join(dir, "other.key")
	ref := seal(t, keyFile, "SEKRET")
	seal(t, other, "x")
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tests := []struct{ name, ref, keyFile, want string }{
		{"no key file", ref, filepath.Join(dir, "none"), "does not exist; put it back, or set the secret again"},
		{"another key", ref, other, "which is not the one it was encrypted for"},
		{"no key in the file", ref, write("empty", "# nothing\n"), "holds no age key"},
		{"a directory", ref, dir, "is not a key file"},
		{"cut short", ref[:len(ref)-8], keyFile, "is cut short or changed"},
		{"cut in the header", ref[:40], keyFile, "is cut short or changed"},
		{"not base64", "age:%%%", keyFile, "is cut short or changed"},
		{"not age", "age:aGVsbG8=", keyFile, "is cut short or changed"},
		{"changed", ref[:len(ref)-8] + "AAAAAAA=", keyFile, "is cut short or changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := NewRef(tt.ref).Resolve(t.Context(), Source{KeyFile: tt.keyFile})
			if got != "" || !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "SEKRET") {
				t.Errorf("got %q, %v, want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestKeyOthersCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	keyFile := filepath.Join(t.TempDir(), "keys", "age.key")
	ref := seal(t, keyFile, "SEKRET")
	if err := os.Chmod(keyFile, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRef(ref).Resolve(t.Context(), Source{KeyFile: keyFile}); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "run chmod 600") {
		t.Errorf("error %v", err)
	}
	if _, mended, err := Seal(keyFile, "more"); !mended || err != nil {
		t.Errorf("mended %v, %v", mended, err)
	}
	if got, err := NewRef(ref).Resolve(t.Context(), Source{KeyFile: keyFile}); got != "SEKRET" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Whoever makes the key at the same time, all secrets are for the one there is.
func TestSealConcurrently(t *testing.T) {
	keyFile := filepath.Join(t.TempDir(), "keys", "age.key")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			ref, _, err := Seal(keyFile, "SEKRET")
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := NewRef(ref).Resolve(t.Context(), Source{KeyFile: keyFile}); got != "SEKRET" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	wg.Wait()
	if names, err := filepath.Glob(filepath.Join(filepath.Dir(keyFile), "*")); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

// Where a file system has no links, a key is made without them, and one that is
// there stays.
func TestKeyWithoutLinks(t *testing.T) {
	keyFile := filepath.Join(t.TempDir(), "age.key")
	if err := createKeyBy(keyFile, func(string, string) error { return errors.ErrUnsupported }); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(keyFile); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != keyFileMode {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	ref := seal(t, keyFile, "SEKRET")
	if got, err := NewRef(ref).Resolve(t.Context(), Source{KeyFile: keyFile}); got != "SEKRET" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if err := writeNew(keyFile, "another"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over the key that is there: %v", err)
	}
	if kept, err := os.ReadFile(keyFile); err != nil || string(kept) != string(made) {
		t.Errorf("the key became %q, %v", kept, err)
	}
	if names, err := os.ReadDir(filepath.Dir(keyFile)); err != nil || len(names) != 1 {
		t.Errorf("left behind: %v, %v", names, err)
	}
}

func TestResolveFor(t *testing.T) {
	tests := []struct {
		name, ref string
		known     bool
	}{
		{"TOKEN", "value-of-it", true},
		{"NODE_ENV", "value-of-it", false},
		{"ANY", "env:MY_TOKEN", true},
		{"ANY", "env:MY_PLACE", false},
		{"ANY", "cmd:echo value-of-it", true},
	}
	for _, tt := range tests {
		seen := NewRedactor()
		src := Source{Getenv: func(string) string { return "value-of-it" }, Seen: seen}
		got, err := NewRef(tt.ref).ResolveFor(t.Context(), tt.name, src)
		if got != "value-of-it" || err != nil {
			t.Errorf("%s=%s: %q, %v", tt.name, tt.ref, got, err)
		}
		if known := seen.Replace(got) == Redacted; known != tt.known {
			t.Errorf("%s=%s is known: %v, want %v", tt.name, tt.ref, known, tt.known)
		}
	}
}

func FuzzUnseal(f *testing.F) {
	keyFile := filepath.Join(f.TempDir(), "age.key")
	ref, _, err := Seal(keyFile, "SEKRET")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(ref)
	f.Add("age:YWdlLWVuY3J5cHRpb24ub3JnL3YxCg==")
	f.Add("age:")
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := fromAge(text, keyFile); err == nil && got == "" {
			t.Errorf("%q is an empty secret", text)
		}
	})
}

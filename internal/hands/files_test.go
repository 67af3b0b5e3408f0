package hands

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
)

// open returns hands on a new directory, and the directory.
func open(t *testing.T, files map[string]string) (*Hands, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd := filepath.Join(dir, "cwd")
	if err := os.MkdirAll(cwd, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(cwd, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, err := Open(Options{Cwd: cwd, Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h, cwd
}

func code(err error) acp.ErrorCode {
	if e := (*acp.Error)(nil); errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func num(n uint32) *uint32 { return &n }

// TestC6WindowsOfAFile reads windows of a file without a final line end.
func TestC6WindowsOfAFile(t *testing.T) {
	h, cwd := open(t, map[string]string{"f": "one\ntwo\r\nthree", "bin": "a\xffb", "empty": "", "cut": strings.Repeat("x", 510) + "你"})
	for name, c := range map[string]struct {
		file        string
		line, limit *uint32
		want        string
		code        acp.ErrorCode
	}{
		"all":           {"f", nil, nil, "one\ntwo\r\nthree", 0},
		"from":          {"f", num(2), nil, "two\r\nthree", 0},
		"window":        {"f", num(2), num(1), "two\r\n", 0},
		"first":         {"f", nil, num(1), "one\n", 0},
		"more":          {"f", num(3), num(100), "three", 0},
		"past the end":  {"f", num(4), nil, "", 0},
		"far past":      {"f", num(1 << 31), num(1 << 31), "", 0},
		"line 0":        {"f", num(0), nil, "", acp.CodeInvalidParams},
		"limit 0":       {"f", nil, num(0), "", acp.CodeInvalidParams},
		"empty":         {"empty", num(1), num(1), "", 0},
		"character cut": {"cut", nil, nil, strings.Repeat("x", 510) + "你", 0},
		"not text":      {"bin", nil, nil, "", acp.CodeInternalError},
		"not there":     {"none", nil, nil, "", acp.CodeResourceNotFound},
		"directory":     {".", nil, nil, "", acp.CodeInvalidParams},
		"outside":       {"../x", nil, nil, "", acp.CodeInvalidParams},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := h.ReadTextFile(t.Context(), &v1.ReadTextFileRequest{Path: filepath.Join(cwd, c.file), Line: c.line, Limit: c.limit})
			if code(err) != c.code || (err != nil) != (c.code != 0) {
				t.Fatalf("%v, want code %d", err, c.code)
			}
			if err == nil && got.Content != c.want {
				t.Errorf("%q, want %q", got.Content, c.want)
			}
		})
	}
}

func TestWritesStayInside(t *testing.T) {
	h, cwd := open(t, map[string]string{"old": "x"})
	outside := filepath.Join(filepath.Dir(cwd), "outside")
	if err := os.Mkdir(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"leak": outside, "dangling": filepath.Join(outside, "none")} {
		if err := os.Symlink(to, filepath.Join(cwd, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		path string
		ok   bool
	}{
		"new":              {filepath.Join(cwd, "new"), true},
		"over":             {filepath.Join(cwd, "old"), true},
		"directories made": {filepath.Join(cwd, "a", "b", "c"), true},
		"outside":          {filepath.Join(outside, "f"), false},
		"upwards":          {cwd + "/../outside/f", false},
		"through a link":   {filepath.Join(cwd, "leak", "f"), false},
		"dangling link":    {filepath.Join(cwd, "dangling"), false},
		"NUL":              {filepath.Join(cwd, "a\x00b"), false},
		"directory":        {cwd, false},
		"empty":            {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.WriteTextFile(t.Context(), &v1.WriteTextFileRequest{Path: c.path, Content: "written"})
			if (err == nil) != c.ok {
				t.Fatal(err)
			}
			if !c.ok {
				return
			}
			if text, err := os.ReadFile(c.path); err != nil || string(text) != "written" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside there is %v (%v)", left, err)
	}
}

func TestForbiddenPlaces(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, ".ssh", "id")
	if err := os.MkdirAll(filepath.Dir(secret), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := Open(Options{Cwd: dir, Forbidden: []string{filepath.Join(dir, ".ssh")}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = h.Close() }()
	if got, err := h.ReadTextFile(t.Context(), &v1.ReadTextFileRequest{Path: secret}); err == nil {
		t.Errorf("it reads %q", got.Content)
	}
	if _, err := h.WriteTextFile(t.Context(), &v1.WriteTextFileRequest{Path: secret}); err == nil {
		t.Error("it writes")
	}
}

func TestMissingDirectory(t *testing.T) {
	_, err := Open(Options{Cwd: filepath.Join(t.TempDir(), "none")})
	if err == nil || !strings.Contains(err.Error(), "use the directory") {
		t.Error(err)
	}
	if runtime.GOOS != "windows" {
		if _, err := Open(Options{Cwd: "relative"}); err == nil {
			t.Error("a relative directory is taken")
		}
	}
}

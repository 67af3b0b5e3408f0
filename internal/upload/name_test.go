package upload_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"report.pdf":                        "report.pdf",
		"/tmp/a/report.pdf":                 "report.pdf",
		"file:///tmp/a%20b%2Fc.pdf":         "c.pdf",
		"https://x.test/f/季度报告.csv?q=/e.sh": "季度报告.csv",
		`C:\Users\me\report.pdf`:            "report.pdf",
		"../../../etc/passwd":               "passwd",
		"attachment://deliver/ab.pdf":       "ab.pdf",
		"notes: today.txt":                  "notes: today.txt",
		"..":                                "",
		"":                                  "",
		"/":                                 "",
		"a\x00b.txt":                        "a",
		"evil\nname\x1b[31m.txt":            "evil name.txt",
		"x\u202egpj.exe":                    "xgpj.exe",
		"50%.txt":                           "50%.txt",
	} {
		if got := upload.Name(in); got != want {
			t.Errorf("Name(%q) = %q, want %q", in, got, want)
		}
	}
	long := upload.Name(strings.Repeat("é", 5000) + ".docx")
	if utf8.RuneCountInString(long) != 120 || !strings.HasSuffix(long, ".docx") {
		t.Errorf("a long name became %q", long)
	}
}

// FuzzName: whatever a file is called, its name stays one line without a slash,
// and what is kept stays in uploads under its hash.
func FuzzName(f *testing.F) {
	for _, seed := range []string{"../x", "file:///%2e%2e%2fetc", "a\x00b", "\xff\xfe", "data:text/plain,x", "x.p/d\\f", strings.Repeat(".", 999)} {
		f.Add(seed)
	}
	cwd, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	roots, err := fsroot.Open([]fsroot.Root{{Path: cwd, Name: fsroot.NameCwd, Writable: true}}, fsroot.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = roots.Close() })
	f.Fuzz(func(t *testing.T, name string) {
		if got := upload.Name(name); strings.ContainsAny(got, "/\\\n\x00\x1b") || utf8.RuneCountInString(got) > 120 {
			t.Errorf("Name(%q) = %q", name, got)
		}
		saved, err := (upload.Store{Roots: roots, Cwd: cwd}).Save(upload.File{Data: []byte("hello"), Name: name})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		base := filepath.Base(saved.Path)
		if filepath.Dir(saved.Path) != filepath.Join(cwd, "uploads") || !strings.HasPrefix(base, sum) || len(base) > len(sum)+9 {
			t.Errorf("%q was kept as %s", name, saved.Path)
		}
	})
}

package tool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/policy"
)

// helloSum is the SHA-256 of "hello".
const helloSum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestDeliverFile(t *testing.T) {
	env := newEnv(t, map[string]string{"out/notes.md": "hello"})
	got := run(t, env, deliverFile{}, `{"path":"out/notes.md","mimeType":"text/markdown","title":" The\nnotes "}`)
	uri := "attachment://deliver/" + helloSum + ".md"
	kept := filepath.Join(env.Cwd, "uploads", helloSum+".md")
	want := Result{
		Title:     "The notes",
		Text:      "Delivered The notes to the user as " + uri,
		Content:   []Content{{Resource: &Resource{URI: uri, MimeType: "text/markdown", Blob: []byte("hello")}}},
		RawOutput: raw(map[string]any{"uri": uri, "mimeType": "text/markdown", "path": kept, "bytes": 5}),
	}
	if diff := cmp.Diff(string(want.RawOutput), string(canonical(t, got.RawOutput))); diff != "" {
		t.Error(diff)
	}
	want.RawOutput, got.RawOutput = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if readBack(t, kept) != "hello" {
		t.Error("the copy differs")
	}
	if got := run(t, env, deliverFile{}, `{"path":"out/notes.md"}`); got.Title != "notes.md" {
		t.Errorf("without a title it is called %q", got.Title)
	}
}

func canonical(t *testing.T, v []byte) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(v, &m); err != nil {
		t.Fatal(err)
	}
	return raw(m)
}

func TestDeliverFileTellsTheTrueType(t *testing.T) {
	env := newEnv(t, map[string]string{"pic": "\x89PNG\r\n\x1a\n", "blob.~1~": "\x00\x01"})
	got := run(t, env, deliverFile{}, `{"path":"pic","mimeType":"application/pdf"}`)
	if r := got.Content[0].Resource; r.MimeType != "image/png" || !strings.HasSuffix(r.URI, ".png") {
		t.Errorf("%s %s", r.MimeType, r.URI)
	}
	got = run(t, env, deliverFile{}, `{"path":"blob.~1~"}`)
	if r := got.Content[0].Resource; r.MimeType != "application/octet-stream" || !strings.HasSuffix(r.URI, ".bin") {
		t.Errorf("%s %s", r.MimeType, r.URI)
	}
}

func TestDeliverFileRefuses(t *testing.T) {
	env := newEnv(t, map[string]string{"empty": "", "big": strings.Repeat("x", 10<<20+1), "most": strings.Repeat("x", 10<<20)})
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "key"), "secret")
	if err := os.Symlink(filepath.Join(outside, "key"), filepath.Join(env.Cwd, "link")); err != nil {
		t.Skip(err)
	}
	refuses(t, env, deliverFile{}, `{}`, `"path" is missing`)
	refuses(t, env, deliverFile{}, `{"path":"missing"}`, "does not exist")
	refuses(t, env, deliverFile{}, `{"path":"."}`, "is a directory")
	refuses(t, env, deliverFile{}, `{"path":"link"}`, "outside the allowed directories")
	refuses(t, env, deliverFile{}, `{"path":"empty"}`, "nothing to deliver")
	refuses(t, env, deliverFile{}, `{"path":"big"}`, "larger than 10485760 bytes")
	run(t, env, deliverFile{}, `{"path":"most"}`)
	if files, err := os.ReadDir(filepath.Join(env.Cwd, "uploads")); err != nil || len(files) != 1 {
		t.Errorf("kept %v, %v", files, err)
	}
}

// TestDeliverFileReadsWhereFileReadMay: what policy says of file_read holds.
func TestDeliverFileReadsWhereFileReadMay(t *testing.T) {
	env := newEnv(t, map[string]string{"secret.txt": "s"})
	env.Judge = func(s policy.Subject) error {
		if s.As == "file_read" && len(s.Paths) == 1 && strings.HasSuffix(s.Paths[0].Abs, "secret.txt") {
			return errors.New("file_read may not read it")
		}
		return nil
	}
	refuses(t, env, deliverFile{}, `{"path":"secret.txt"}`, "file_read may not read it")
}

// TestDeliverFileUploadsInTheWay: what cannot be kept is not delivered.
func TestDeliverFileUploadsInTheWay(t *testing.T) {
	env := newEnv(t, map[string]string{"a.txt": "hello", "uploads": "a file"})
	refuses(t, env, deliverFile{}, `{"path":"a.txt"}`, "a.txt cannot be kept")
}

package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestFileRead(t *testing.T) {
	env := newEnv(t, map[string]string{
		"a.txt":   "one\ntwo\r\nthree",
		"empty":   "",
		"bin":     "a\x00b",
		"latin":   "caf\xe9",
		"utf16":   "\xFF\xFEa\x00\n\x00",
		"long":    strings.Repeat("line\n", 3000),
		"wide":    strings.Repeat("你", 40<<10) + "\nsecond\n",
		"sub/x":   "x",
		"two/big": strings.Repeat("x", 40<<10) + "\n" + strings.Repeat("y", 40<<10) + "\n",
	})
	for _, tc := range []struct{ input, want string }{
		{`{"path":"a.txt"}`, "one\ntwo\r\nthree"},
		{`{"path":"a.txt","line":2}`, "two\r\nthree\n[lines 2 to 3 of 3]"},
		{`{"path":"a.txt","line":"2","limit":1}`, "two\r\n\n[lines 2 to 2 of 3; read on with line=3]"},
		{`{"path":"empty"}`, "[the file is empty]"},
		{`{"path":"utf16"}`, "a\n"},
		{`{"path":"long"}`, strings.Repeat("line\n", 2000) + "\n[lines 1 to 2000 of 3000; read on with line=2001]"},
		{`{"path":"two/big"}`, strings.Repeat("x", 40<<10) + "\n\n[lines 1 to 1 of 2; read on with line=2]"},
	} {
		if res := run(t, env, fileRead{}, tc.input); res.Text != tc.want {
			t.Errorf("%s: got %d bytes %.80q, want %.80q", tc.input, len(res.Text), res.Text, tc.want)
		}
	}
	wide := run(t, env, fileRead{}, `{"path":"wide"}`).Text
	if strings.Count(wide, "你") != 64<<10/3 || !strings.Contains(wide, "line 1 is longer") || strings.Contains(wide, "\uFFFD") {
		t.Errorf("wide: %d bytes ending in %q", len(wide), wide[len(wide)-100:])
	}
	for input, want := range map[string]string{
		`{}`:                            `"path" is missing`,
		`{"path":"nope"}`:               `"nope" does not exist`,
		`{"path":"sub"}`:                "use list_dir",
		`{"path":"bin"}`:                "not a text file",
		`{"path":"latin"}`:              "not a text file",
		`{"path":"a.txt","line":9}`:     "the file has 3 lines",
		`{"path":"a.txt","line":-1}`:    "count from 1",
		`{"path":"../agent/../secret"}`: "outside",
	} {
		refuses(t, env, fileRead{}, input, want)
	}
}

func TestFileReadLarge(t *testing.T) {
	env := newEnv(t, map[string]string{
		"big": strings.Repeat("a line of text\n", 1000) + strings.Repeat("w", 5000),
		"bin": strings.Repeat("\x00", 5000),
	})
	env.Limits = Limits{FileBytes: 4096, ModelBytes: 1000}
	res := run(t, env, fileRead{}, `{"path":"big","line":900,"limit":2}`)
	if want := "a line of text\na line of text\n\n[lines 900 to 901 of 1001; read on with line=902]"; res.Text != want {
		t.Errorf("got %q", res.Text)
	}
	if res := run(t, env, fileRead{}, `{"path":"big","line":1001}`); !strings.HasPrefix(res.Text, strings.Repeat("w", 1000)+"\n[line 1001 is longer") {
		t.Errorf("got %q", res.Text)
	}
	refuses(t, env, fileRead{}, `{"path":"bin"}`, "not a text file")
	refuses(t, env, fileRead{}, `{"path":"big","line":5000}`, "the file has 1001 lines")
}

// T5: the path of a diff is the real file's, and what was there is exact.
func TestT5Diffs(t *testing.T) {
	env := newEnv(t, nil)
	path := filepath.Join(env.Cwd, "sub", "dir", "a.txt")
	call := prepare(t, env, fileWrite{}, `{"path":"sub/dir/a.txt","content":"one\n"}`)
	if d := call.Diff; d.Path != path || d.OldText != nil || d.NewText != "one\n" {
		t.Errorf("new file: %+v", d)
	}
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("preparing has an effect")
	}
	if res := call.Run(t.Context(), &recorder{}); res.IsError || res.Content[0].Diff == nil || readBack(t, path) != "one\n" || res.Text != "created sub/dir/a.txt, 1 line" {
		t.Errorf("run: %+v", res)
	}
	call = prepare(t, env, fileWrite{}, `{"path":"sub/dir/a.txt","content":"two\n"}`)
	if d := call.Diff; d.Path != path || d.OldText == nil || *d.OldText != "one\n" || d.NewText != "two\n" {
		t.Errorf("second: %+v", d)
	}
	if p := call.Subject.Paths; len(p) != 1 || p[0] != (policy.Path{Abs: path, Root: env.Cwd, InRoot: true, Write: true}) {
		t.Errorf("paths: %+v", p)
	}
}

func TestFileEditKeepsWhatItDoesNotChange(t *testing.T) {
	for name, tc := range map[string]struct{ before, after string }{
		"crlf":  {"a\r\nb\r\n", "a\r\nx\r\ny\r\n"},
		"bom":   {"\xEF\xBB\xBFa\nb\n", "\xEF\xBB\xBFa\nx\ny\n"},
		"utf16": {"\xFF\xFEa\x00\n\x00b\x00", "\xFF\xFEa\x00\n\x00x\x00\n\x00y\x00"},
	} {
		env := newEnv(t, map[string]string{"f": tc.before})
		path := filepath.Join(env.Cwd, "f")
		if err := os.Chmod(path, 0o750); err != nil {
			t.Fatal(err)
		}
		run(t, env, fileEdit{}, `{"path":"f","old_text":"b","new_text":"x\ny"}`)
		info, err := os.Stat(path)
		if got := readBack(t, path); got != tc.after || err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("%s: %q, mode %v, %v", name, got, info.Mode(), err)
		}
	}
}

// TestFileWriteKeepsTheForm: a whole new content takes over mode, encoding and
// line ends of the file it replaces.
func TestFileWriteKeepsTheForm(t *testing.T) {
	for name, tc := range map[string]struct{ before, content, after string }{
		"crlf":         {"a\r\nb\r\n", "x\ny", "x\r\ny"},
		"crlf given":   {"a\r\n", "x\r\ny\n", "x\r\ny\n"},
		"mixed":        {"a\r\nb\n", "x\ny\n", "x\ny\n"},
		"lf":           {"a\n", "x\r\n", "x\r\n"},
		"bom":          {"\xEF\xBB\xBFa", "b", "\xEF\xBB\xBFb"},
		"bom repeated": {"\xEF\xBB\xBFa", "\uFEFFb", "\xEF\xBB\xBFb"},
		"utf16":        {"\xFE\xFF\x00a\x00\r\x00\n", "b\n", "\xFE\xFF\x00b\x00\r\x00\n"},
		"empty":        {"", "x\n", "x\n"},
	} {
		env := newEnv(t, map[string]string{"f": tc.before})
		path := filepath.Join(env.Cwd, "f")
		if err := os.Chmod(path, 0o750); err != nil {
			t.Fatal(err)
		}
		content, err := json.Marshal(tc.content)
		if err != nil {
			t.Fatal(err)
		}
		run(t, env, fileWrite{}, `{"path":"f","content":`+string(content)+`}`)
		info, err := os.Stat(path)
		if got := readBack(t, path); got != tc.after || err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("%s: %q, mode %v, %v", name, got, info.Mode(), err)
		}
	}
}

// TestFilesThatAreNoText are left as they are, byte for byte.
func TestFilesThatAreNoText(t *testing.T) {
	const latin = "caf\xe9 au lait\n"
	env := newEnv(t, map[string]string{"f": latin})
	refuses(t, env, fileEdit{}, `{"path":"f","old_text":"lait","new_text":"sucre"}`, "not a text file in UTF-8 or UTF-16")
	refuses(t, env, fileWrite{}, `{"path":"f","content":"x"}`, "not a text file in UTF-8 or UTF-16")
	if got := readBack(t, filepath.Join(env.Cwd, "f")); got != latin {
		t.Errorf("%q", got)
	}
}

func TestFileEdit(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "a\nb\nb\n"})
	path := filepath.Join(env.Cwd, "f")
	refuses(t, env, fileEdit{}, `{"path":"f","old_text":"b","new_text":"c"}`, "2 matches (lines 2, 3)")
	refuses(t, env, fileEdit{}, `{"path":"f"}`, "no edit")
	refuses(t, env, fileEdit{}, `{"path":"f","old_text":"a"}`, "belong together")
	refuses(t, env, fileEdit{}, `{"path":"f","edits":[{"old_text":"a"}]}`, "belong together")
	refuses(t, env, fileEdit{}, `{"path":"f","old_text":"a","new_text":"b","edits":[{"old_text":"a","new_text":""}]}`, "not both")
	refuses(t, env, fileEdit{}, `{"path":"nope","old_text":"a","new_text":"b"}`, "create it with file_write")
	if got := readBack(t, path); got != "a\nb\nb\n" {
		t.Fatalf("a refused edit changed the file: %q", got)
	}
	call := prepare(t, env, fileEdit{}, `{"path":"f","edits":[{"old_text":"b","new_text":"c","replace_all":true},{"old_text":"a\nc","new_text":"d"}]}`)
	if call.Locations[0].Line != 1 || *call.Diff.OldText != "a\nb\nb\n" {
		t.Errorf("call: %+v %+v", call.Locations, call.Diff)
	}
	call.Run(t.Context(), &recorder{})
	if got := readBack(t, path); got != "d\nc\n" {
		t.Errorf("got %q", got)
	}
}

func TestChangedSinceRead(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "a\n"})
	path := filepath.Join(env.Cwd, "f")
	run(t, env, fileRead{}, `{"path":"f"}`)
	writeFile(t, path, "b\na\n")
	refuses(t, env, fileEdit{}, `{"path":"f","old_text":"a","new_text":"c"}`, "changed since you read it")
	refuses(t, env, fileWrite{}, `{"path":"f","content":"c"}`, "changed since you read it")
	run(t, env, fileRead{}, `{"path":"f"}`)
	run(t, env, fileEdit{}, `{"path":"f","old_text":"a","new_text":"c"}`)
	run(t, env, fileEdit{}, `{"path":"f","old_text":"c","new_text":"d"}`)

	call := prepare(t, env, fileEdit{}, `{"path":"f","old_text":"d","new_text":"e"}`)
	writeFile(t, path, "while a person was asked\n")
	if res := call.Run(t.Context(), &recorder{}); !res.IsError || !strings.Contains(res.Text, "read it again") {
		t.Errorf("result %+v", res)
	}
	if got := readBack(t, path); got != "while a person was asked\n" {
		t.Errorf("overwritten: %q", got)
	}
}

// clientFS is a client's file system as a test wants it.
type clientFS struct {
	read  func(ctx context.Context, path string) (string, error)
	write func(ctx context.Context, path, content string) error
}

func (c clientFS) ReadTextFile(ctx context.Context, path string, _, _ int) (string, error) {
	return c.read(ctx, path)
}

func (c clientFS) WriteTextFile(ctx context.Context, path, content string) error {
	return c.write(ctx, path, content)
}

func TestClientFileSystem(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "on disk\n", "bom": "\xEF\xBB\xBFmarked\n"})
	path := filepath.Join(env.Cwd, "f")
	buffers := map[string]string{path: "unsaved\n"}
	env.Hands.FS = clientFS{
		read: func(_ context.Context, p string) (string, error) {
			text, ok := buffers[p]
			if !ok {
				return "", fmt.Errorf("%s: %w", p, fs.ErrNotExist)
			}
			return text, nil
		},
		write: func(_ context.Context, p, text string) error {
			buffers[p] = text
			return nil
		},
	}
	if res := run(t, env, fileRead{}, `{"path":"f"}`); res.Text != "unsaved\n" {
		t.Errorf("read %q", res.Text)
	}
	run(t, env, fileEdit{}, `{"path":"f","old_text":"unsaved","new_text":"edited"}`)
	run(t, env, fileWrite{}, `{"path":"new","content":"new\n"}`)
	if buffers[path] != "edited\n" || buffers[filepath.Join(env.Cwd, "new")] != "new\n" || readBack(t, path) != "on disk\n" {
		t.Errorf("buffers %q, disk %q", buffers, readBack(t, path))
	}
	call := prepare(t, env, fileEdit{}, `{"path":"f","old_text":"edited","new_text":"x"}`)
	buffers[path] = "typed meanwhile\n"
	if res := call.Run(t.Context(), &recorder{}); !res.IsError || buffers[path] != "typed meanwhile\n" {
		t.Errorf("result %+v, buffer %q", res, buffers[path])
	}

	// The agent's own workspace and files with a byte order mark stay ours.
	own := filepath.Join(filepath.Dir(env.Cwd), "agent", "n")
	run(t, env, fileWrite{}, `{"path":"`+own+`","content":"mine"}`)
	run(t, env, fileEdit{}, `{"path":"bom","old_text":"marked","new_text":"kept"}`)
	if readBack(t, own) != "mine" || readBack(t, filepath.Join(env.Cwd, "bom")) != "\xEF\xBB\xBFkept\n" {
		t.Error("the host's own files went to the client")
	}
}

func TestClientFileSystemFailures(t *testing.T) {
	env := newEnv(t, map[string]string{"f": "on disk\n"})
	env.Limits.ClientTimeout = 20 * time.Millisecond
	var answer error
	asked := 0
	env.Hands.FS = clientFS{
		read: func(ctx context.Context, _ string) (string, error) {
			asked++
			if answer == nil { // L14: never answers
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "", answer
		},
		write: func(context.Context, string, string) error { return errors.New("read-only buffer") },
	}
	refuses(t, env, fileRead{}, `{"path":"f"}`, "did not answer in time")
	refuses(t, env, fileWrite{}, `{"path":"new","content":"x"}`, "did not answer in time")

	for _, answer = range []error{&acp.Error{Code: acp.CodeMethodNotFound, Message: "no"}, session.ErrHandsGone} {
		if res := run(t, env, fileRead{}, `{"path":"f"}`); res.Text != "on disk\n" {
			t.Errorf("not served: %+v", res)
		}
	}
	answer = &acp.Error{Code: acp.CodeInternalError, Message: "ENOENT"}
	refuses(t, env, fileRead{}, `{"path":"nope"}`, "does not exist")
	refuses(t, env, fileRead{}, `{"path":"f"}`, "ENOENT")
	refuses(t, env, fileWrite{}, `{"path":"new","content":"x"}`, "read-only buffer")

	asked = 0
	env.Judge = func(policy.Subject) error { return errors.New("forbidden here") }
	refuses(t, env, fileEdit{}, `{"path":"f","old_text":"a","new_text":"b"}`, "forbidden here")
	refuses(t, env, fileRead{}, `{"path":"/etc/passwd"}`, "outside")
	if asked != 0 {
		t.Errorf("the client was asked %d times for what is forbidden", asked)
	}
}

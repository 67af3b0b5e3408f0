package mcp

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/mcp/mcptest"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

func newStore(t *testing.T) upload.Store {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	roots, err := fsroot.Open([]fsroot.Root{{Path: dir, Name: "cwd", Writable: true}}, fsroot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := roots.Close(); err != nil {
			t.Error(err)
		}
	})
	return upload.Store{Roots: roots, Cwd: dir}
}

func TestTakeFiles(t *testing.T) {
	store := newStore(t)
	size := int64(7)
	r := take(&sdk.CallToolResult{Content: []sdk.Content{
		&sdk.TextContent{Text: "look"},
		&sdk.ImageContent{Data: []byte(mcptest.Pixel), MIMEType: "image/jpeg"}, // a wrong label
		&sdk.ImageContent{Data: []byte("<svg/>"), MIMEType: "image/svg+xml"},
		&sdk.AudioContent{Data: []byte("RIFF\x00\x00\x00\x00WAVEfmt "), MIMEType: "audio/wav"},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "memo://a", Text: "memo\x1b"}},
		&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "memo://b/report.pdf", Blob: []byte("%PDF-1.7")}},
		&sdk.EmbeddedResource{},
		&sdk.ResourceLink{URI: "memo://c", Size: &size},
	}}, store)
	if len(r.Content) != 7 || len(r.Media) != 2 {
		t.Fatalf("%d parts, %d media: %+v", len(r.Content), len(r.Media), r)
	}
	if m := r.Content[1].Image; m == nil || m.MimeType != "image/png" || !strings.HasSuffix(m.Path, ".png") {
		t.Errorf("image %+v", m)
	}
	if l := r.Content[2].Link; l == nil || l.MimeType != "image/svg+xml" || !strings.HasPrefix(l.URI, "file://"+store.Cwd) {
		t.Errorf("an image that no model takes: %+v", r.Content[2])
	}
	if m := r.Content[3].Audio; m == nil || m.MimeType != "audio/wav" {
		t.Errorf("sound %+v", r.Content[3])
	}
	for _, want := range []string{"look\n\n[IMAGE: " + store.Cwd, "<resource uri=\"memo://a\">\nmemo", "[Document: report.pdf] " + store.Cwd + "/uploads/", "[Link: memo://c] memo://c"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("no %q in %s", want, r.Text)
		}
	}
	if kept, err := os.ReadFile(r.Media[0].Path); err != nil || string(kept) != mcptest.Pixel {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// TestTakeBounds: 64 files and 10 MiB are kept, 64 KiB of text and 256 parts
// taken; the rest is named.
func TestTakeBounds(t *testing.T) {
	files := func(n, size int) *sdk.CallToolResult {
		r := &sdk.CallToolResult{}
		for i := range n {
			blob := make([]byte, size)
			copy(blob, fmt.Sprint("file ", i))
			r.Content = append(r.Content, &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: fmt.Sprintf("memo://%d.bin", i), Blob: blob}})
		}
		return r
	}
	for _, c := range []struct{ n, size, kept int }{{70, 10, 64}, {3, 4 << 20, 2}, {1, 10 << 20, 1}, {1, 10<<20 + 1, 0}} {
		store := newStore(t)
		r := take(files(c.n, c.size), store)
		kept, err := filepath.Glob(filepath.Join(store.Cwd, upload.Dir, "*"))
		if err != nil || len(kept) != c.kept || strings.Count(r.Text, "unavailable") != c.n-c.kept {
			t.Errorf("%d of %d bytes: %d kept, %v: %.300s", c.n, c.size, len(kept), err, r.Text)
		}
	}
	long := &sdk.CallToolResult{}
	for range 400 {
		long.Content = append(long.Content, &sdk.TextContent{Text: strings.Repeat("x", 1000)})
	}
	if r := take(long, newStore(t)); len(r.Text) > maxText+maxParts*100 || !strings.Contains(r.Text, "[144 further parts left out]") {
		t.Errorf("%d bytes of text", len(r.Text))
	}
	if r := take(&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(bytes.Repeat([]byte("é"), 1<<20))}}}, newStore(t)); len(r.Text) > maxText+100 || !strings.Contains(r.Text, "bytes left out") {
		t.Errorf("%d bytes of text", len(r.Text))
	}
}

func TestTakeStructure(t *testing.T) {
	store := newStore(t)
	r := take(&sdk.CallToolResult{IsError: true, StructuredContent: map[string]any{"a": 1.0}}, store)
	if !r.IsError || r.Text != `{"a":1}` || string(r.RawOutput) != `{"a":1}` {
		t.Errorf("%+v", r)
	}
	r = take(&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "one"}}, StructuredContent: []any{1.0}}, store)
	if r.Text != "one" || string(r.RawOutput) != `[1]` {
		t.Errorf("%+v", r)
	}
}

// TestTakeLongStructure: structured content that is too long for clients is not
// lost to the model where there is no text.
func TestTakeLongStructure(t *testing.T) {
	r := take(&sdk.CallToolResult{StructuredContent: map[string]any{"rows": strings.Repeat("x", 2*maxText) + "end"}}, newStore(t))
	if r.RawOutput != nil || !strings.HasPrefix(r.Text, `{"rows":"xxx`) || !strings.HasSuffix(r.Text, `end"}`) || !strings.Contains(r.Text, "bytes left out") {
		t.Errorf("%d bytes of raw output, text %.40q…", len(r.RawOutput), r.Text)
	}
}

package docs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/demo"
	"github.com/grapnel-ai/grapnel/internal/docs/picture"
)

// TestPictureShowsTheDemo holds the README's picture against a run of the demo.
func TestPictureShowsTheDemo(t *testing.T) {
	svg, err := os.ReadFile(filepath.Join(root, "docs", "demo.svg"))
	if err != nil {
		t.Fatal(err)
	}
	command, shown, err := picture.Read(svg)
	if err != nil {
		t.Fatal(err)
	}
	if command != "grapnel demo" {
		t.Errorf("the picture shows %q", command)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(asMain, "1")
	t.Setenv("GORACE", "atexit_sleep_ms=10")
	var out bytes.Buffer
	if err := demo.Run(context.Background(), self, &out); err != nil {
		t.Fatal(err)
	}
	got := picture.Settle(picture.Abridge(out.String()))
	if diff := cmp.Diff(strings.Split(picture.Settle(shown), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("docs/demo.svg is not what the demo prints; run: make generate (-picture +demo)\n%s", diff)
	}
}

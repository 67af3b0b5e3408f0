// Command cmd draws docs/demo.svg from a run of the demo. It keeps the
// times and ids the picture shows while all else is as the demo prints it.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/grapnel-ai/grapnel/internal/demo"
	"github.com/grapnel-ai/grapnel/internal/docs/picture"
)

const (
	label   = "A terminal in which grapnel demo runs: the agent reads, edits a file with permission, is refused a command, is cancelled, and its session is loaded by a new process."
	command = "grapnel demo"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cmd PICTURE")
		os.Exit(2)
	}
	if err := draw(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "draw the demo:", err)
		os.Exit(1)
	}
}

func draw(ctx context.Context, name string) error {
	output, err := run(ctx)
	if err != nil {
		return err
	}
	if shown, ok := shownBy(name); ok && picture.Settle(shown) == picture.Settle(output) {
		output = shown
	}
	return os.WriteFile(name, picture.Draw(label, command, output), 0o644)
}

// shownBy returns the output that the picture shows now.
func shownBy(name string) (string, bool) {
	svg, err := os.ReadFile(name)
	if err != nil {
		return "", false
	}
	_, output, err := picture.Read(svg)
	return output, err == nil
}

// run builds grapnel and returns what its demo prints, shortened.
func run(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "grapnel-picture-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "grapnel")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "github.com/grapnel-ai/grapnel/cmd/grapnel")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build grapnel: %w", err)
	}
	var out bytes.Buffer
	if err := demo.Run(ctx, binary, &out); err != nil {
		return "", err
	}
	return picture.Abridge(out.String()), nil
}

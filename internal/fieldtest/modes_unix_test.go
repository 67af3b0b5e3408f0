//go:build unix

package fieldtest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What runs goes on; the next call is judged by the new mode.
func TestModeHoldsFromTheNextCall(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `level = "full"`)
	a, s := w.Opened()
	gate := filepath.Join(w.Cwd, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	id := a.BeginPrompt(s, "D:TOOL shell cat gate > first ; D:TOOL write second x ; D:SAY over")
	a.AwaitRunning(s, 0)
	a.setMode(s, "plan")
	if err := os.WriteFile(gate, []byte("go"), 0); err != nil {
		t.Fatal(err)
	}
	if got := a.Response(id).StopReason(); got != "end_turn" {
		t.Error(got)
	}
	if fileSize(filepath.Join(w.Cwd, "first")) == 0 || fileSize(filepath.Join(w.Cwd, "second")) > 0 {
		t.Errorf("the running call wrote: %v, the next one: %v",
			fileSize(filepath.Join(w.Cwd, "first")) > 0, fileSize(filepath.Join(w.Cwd, "second")) > 0)
	}
}

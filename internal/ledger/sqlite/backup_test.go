package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// TestBackupWhileOthersAppend: a copy made in the middle of appends is a store
// by itself, and has every event up to some number.
func TestBackupWhileOthersAppend(t *testing.T) {
	dir := t.TempDir()
	l := openIn(t, dir)
	info := session.Info{ID: session.NewID("s"), Owner: "local", Agent: "main", Cwd: dir}
	fence, err := l.Create(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	appended, stop, done := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			e := session.Event{ID: session.NewID("e"), Kind: session.KindAgentMessage, Version: 1, Body: []byte(`{"sessionId":"x"}`)}
			if _, err := l.Append(t.Context(), info.ID, fence, session.Batch{Events: []session.Event{e}}); err != nil {
				t.Errorf("append during a backup: %v", err)
				return
			}
			select {
			case appended <- struct{}{}:
			default:
			}
		}
	}()
	<-appended
	copied := filepath.Join(dir, "copy.db")
	if err := l.Backup(t.Context(), copied); err != nil {
		t.Error(err)
	}
	close(stop)
	<-done
	if st, err := os.Stat(copied); err != nil || runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
		t.Fatalf("the copy: %v, %v; want mode 0600", st, err)
	}
	c, err := OpenReadOnly(t.Context(), copied, instance.Observe(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Check(t.Context()); err != nil {
		t.Error(err)
	}
	events, err := c.Read(t.Context(), info.ID, 0, 1<<20)
	if err != nil || len(events) == 0 || events[len(events)-1].Seq != session.Seq(len(events)) {
		t.Errorf("the copy has %d events, %v; want some, without a gap", len(events), err)
	}
}

func TestBackupOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	l := openIn(t, dir)
	kept := filepath.Join(dir, "kept")
	if err := os.WriteFile(kept, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Backup(t.Context(), kept); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "not there yet") {
		t.Errorf("error %v, want one that the file exists and what to do", err)
	}
	if err := l.Backup(t.Context(), filepath.Join(dir, "no", "such")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want one that the directory does not exist", err)
	}
	if data, _ := os.ReadFile(kept); string(data) != "mine" {
		t.Errorf("the file there was is now %q", data)
	}
}

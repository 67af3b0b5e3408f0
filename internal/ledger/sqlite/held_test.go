package sqlite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
)

// A stopped process that holds the commit lock fails what is to be committed,
// with a sentence, instead of hanging it for ever; once it goes on, so do we.
func TestCommitLockThatIsNotLetGo(t *testing.T) {
	l := openIn(t, t.TempDir())
	l.writer.bound = 20 * time.Millisecond
	other, err := filelock.Open(l.path + commitSuffix)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := filelock.Lock(other, filelock.Exclusive); err != nil {
		t.Fatal(err)
	}
	commit := func() error {
		return l.writer.do(context.Background(), &request{op: func(*tx) error { return nil }})
	}
	for range 2 {
		err := commit()
		if !errors.Is(err, filelock.ErrHeld) || !strings.Contains(err.Error(), "if one was stopped, continue or end it") {
			t.Fatalf("while it is held: %v", err)
		}
	}
	if err := filelock.Unlock(other); err != nil {
		t.Fatal(err)
	}
	l.writer.bound = lockBound
	if err := commit(); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

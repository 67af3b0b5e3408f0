package upload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

func TestBatchKeepsSoManyFiles(t *testing.T) {
	b := newStore(t, fsroot.Options{}).Batch()
	for i := range upload.BatchFiles {
		if _, err := b.Save(upload.File{Data: fmt.Append(nil, i)}); err != nil {
			t.Fatal(err)
		}
	}
	f := upload.File{Data: []byte("one more"), Name: "more.txt"}
	_, err := b.Save(f)
	if !errors.Is(err, upload.ErrBatchFull) {
		t.Fatal(err)
	}
	want := "[Document: more.txt] unavailable (text/plain, 8 bytes): too much in one result: only the first 64 files are kept"
	if got := upload.Unavailable(f, err); got != want {
		t.Errorf("%q", got)
	}
}

func TestBatchKeepsSoManyBytes(t *testing.T) {
	b := newStore(t, fsroot.Options{}).Batch()
	if _, err := b.Save(upload.File{Data: make([]byte, upload.BatchBytes-10)}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Save(upload.File{Data: []byte(strings.Repeat("x", 11))}); !errors.Is(err, upload.ErrBatchFull) {
		t.Errorf("one byte too many: %v", err)
	}
	if _, err := b.Save(upload.File{Data: []byte(strings.Repeat("x", 10))}); err != nil {
		t.Errorf("what still fits: %v", err)
	}
}

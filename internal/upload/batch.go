package upload

import (
	"errors"
	"fmt"
)

// Bounds of one Batch.
const (
	BatchFiles = 64
	BatchBytes = 10 << 20
)

// ErrBatchFull refuses what does not fit into a batch any more.
var ErrBatchFull = errors.New("too much in one result")

// Batch keeps the files of one tool result, within bounds on all of them
// together. It is for one goroutine.
type Batch struct {
	store Store
	files int
	bytes int
}

// Batch begins a batch of at most BatchFiles files and BatchBytes in all.
func (s Store) Batch() *Batch { return &Batch{store: s} }

// Save is Store.Save while there is room. Beyond it the error is ErrBatchFull,
// and a smaller file may still fit.
func (b *Batch) Save(f File) (Saved, error) {
	switch {
	case b.files == BatchFiles:
		return Saved{}, fmt.Errorf("%w: only the first %d files are kept", ErrBatchFull, BatchFiles)
	case b.bytes+len(f.Data) > BatchBytes:
		return Saved{}, fmt.Errorf("%w: at most %d bytes are kept", ErrBatchFull, BatchBytes)
	}
	saved, err := b.store.Save(f)
	if err != nil {
		return Saved{}, err
	}
	b.files++
	b.bytes += len(f.Data)
	return saved, nil
}

// Unavailable is how the model is told of a file that was not kept.
func Unavailable(f File, err error) string {
	s := describe(f)
	return fmt.Sprintf("[Document: %s] unavailable (%s, %d bytes): %v", s.Name, s.MimeType, len(f.Data), err)
}

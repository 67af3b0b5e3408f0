package state

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/go-json-experiment/json"
)

// Finished is a bounded set of tool call ids that were used up. It holds their
// hashes; once full it claims to hold every id. Both err on the safe side: an
// id wrongly claimed is only renamed.
type Finished struct {
	hashes map[uint64]struct{}
	full   bool
}

// Has reports whether id was used up, or may have been.
func (f *Finished) Has(id string) bool {
	if f.full {
		return true
	}
	_, ok := f.hashes[hash(id)]
	return ok
}

func (f *Finished) add(id string) {
	if f.full {
		return
	}
	if len(f.hashes) >= maxFinished {
		f.full, f.hashes = true, nil
		return
	}
	if f.hashes == nil {
		f.hashes = make(map[uint64]struct{})
	}
	f.hashes[hash(id)] = struct{}{}
}

func (f *Finished) clone() Finished {
	c := Finished{full: f.full}
	if f.hashes != nil {
		c.hashes = make(map[uint64]struct{}, len(f.hashes))
		for h := range f.hashes {
			c.hashes[h] = struct{}{}
		}
	}
	return c
}

func hash(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id))
	return h.Sum64()
}

// IsZero reports whether nothing was used up yet.
func (f Finished) IsZero() bool { return !f.full && len(f.hashes) == 0 }

// full is written as this, which is no base64.
const everyID = "*"

// MarshalJSON packs the hashes, sorted, as base64.
func (f Finished) MarshalJSON() ([]byte, error) {
	if f.full {
		return json.Marshal(everyID)
	}
	sorted := make([]uint64, 0, len(f.hashes))
	for h := range f.hashes {
		sorted = append(sorted, h)
	}
	slices.Sort(sorted)
	raw := make([]byte, 0, 8*len(sorted))
	for _, h := range sorted {
		raw = binary.BigEndian.AppendUint64(raw, h)
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Finished) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*f = Finished{full: s == everyID}
	if f.full {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return err
	}
	for len(raw) >= 8 {
		if f.hashes == nil {
			f.hashes = make(map[uint64]struct{}, len(raw)/8)
		}
		f.hashes[binary.BigEndian.Uint64(raw)] = struct{}{}
		raw = raw[8:]
	}
	return nil
}

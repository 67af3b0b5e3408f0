package sqlite

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestRowSize(t *testing.T) {
	events := samples(64)
	body := 0
	for _, e := range events {
		body += len(e.Body)
	}
	// An event of a running turn costs its id and a few bytes.
	if per := (len(appendRow(nil, events)) - body) / len(events); per > 48 {
		t.Errorf("an event takes %d bytes beside its body, want at most 48", per)
	}
}

// TestRowFormat pins the stored form: a change here needs a new codecVersion.
func TestRowFormat(t *testing.T) {
	e := session.Event{
		ID: "e_1", Time: time.Unix(0, 5), Turn: "t", Epoch: 3, Kind: session.KindTurnEnd, Retention: session.Private,
		Origin: session.FromHub, By: "a", Version: 1, Marks: session.Marks{SessionID: session.Span{From: 1, To: 2}}, Body: jsontext.Value(`{}`),
	}
	next := e
	next.Time, next.Marks, next.Kind = time.Unix(0, 4), session.Marks{}, "new"
	want := []byte{
		codecVersion, 0x0d, 0x0f, 0x68, 0x9b, 10,
		23, 0x0a | flagMarks, 16, 3, 'e', '_', '1', 0, 1, 't', 1, 'a', 3, 1, 1, 1, 0, 0, 0, 0, 0, 0, '{', '}',
		15, 0x0a | flagSameTurn | flagSameBy, 0, 3, 'n', 'e', 'w', 3, 'e', '_', '1', 1, 3, 1, '{', '}',
	}
	got := appendRow(nil, []session.Event{e, next})
	if d := cmp.Diff(want[headerSize:], got[headerSize:]); d != "" {
		t.Errorf("row (-want +got):\n%s", d)
	}
	for code, kind := range kindCodes {
		if kind != "" && kindCode(kind) != uint64(code) {
			t.Errorf("%s has code %d, want %d", kind, kindCode(kind), code)
		}
	}
}

// TestRowDamage flips every bit and cuts at every byte: the checksum sees it.
func TestRowDamage(t *testing.T) {
	row := appendRow(nil, samples(3))
	for i := range row {
		for bit := range 8 {
			bad := bytes.Clone(row)
			bad[i] ^= 1 << bit
			if _, err := decodeRow(nil, bad); !errors.Is(err, errRow) {
				t.Fatalf("bit %d of byte %d flipped: %v, want errRow", bit, i, err)
			}
		}
		if _, err := decodeRow(nil, row[:i]); !errors.Is(err, errRow) {
			t.Fatalf("cut to %d bytes: %v, want errRow", i, err)
		}
	}
}

// seal gives a row a valid header, so that fuzzing reaches the fields.
func seal(rest []byte) []byte {
	row := append([]byte{codecVersion, 0, 0, 0, 0}, rest...)
	binary.LittleEndian.PutUint32(row[1:], crc32.ChecksumIEEE(rest))
	return row
}

// FuzzDecodeRow checks that no bytes make the decoder panic, and that what it
// accepts means the same when stored again.
func FuzzDecodeRow(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{10, 1, 0})
	f.Add(appendRow(nil, samples(2))[headerSize:])
	odd := sample()
	odd.Kind, odd.Body, odd.Time, odd.Marks = "future", nil, time.Time{}, session.Marks{}
	f.Add(appendRow(nil, []session.Event{sample(), odd})[headerSize:])
	f.Fuzz(func(t *testing.T, rest []byte) {
		_, _ = decodeRow(nil, rest)
		events, err := decodeRow(nil, seal(rest))
		if err != nil || len(events) == 0 {
			return
		}
		if err := checkEvents(events); err != nil {
			t.Fatalf("accepted marks outside the body: %v", err)
		}
		again, err := decodeRow(nil, appendRow(nil, events))
		if err != nil {
			t.Fatalf("decode what was encoded: %v", err)
		}
		if d := cmp.Diff(events, again, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("changed on the way (-first +second):\n%s", d)
		}
	})
}

package sse_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model/sse"
)

type event struct{ Name, Data string }

func readAll(r io.Reader) ([]event, error) {
	var events []event
	sr := sse.NewReader(r)
	for {
		ev, err := sr.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, event{string(ev.Name), string(ev.Data)})
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	tests := []struct {
		name, in string
		want     []event
	}{
		{"empty", "", nil},
		{"named", "event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []event{{"a", "1"}, {"b", "2"}}},
		{"name does not leak", "event: a\n\ndata: 2\n\n", []event{{"", "2"}}},
		{"crlf", "event: a\r\ndata: 1\r\n\r\n", []event{{"a", "1"}}},
		{"no space", "data:1\n\n", []event{{"", "1"}}},
		{"one space only", "data:  1\n\n", []event{{"", " 1"}}},
		{"several lines", "data: 1\ndata:\ndata: 2\n\n", []event{{"", "1\n\n2"}}},
		{"comments and unknown fields", ": ping\nid: 7\nretry: 1\ndata: 1\n\n: ping\n\n", []event{{"", "1"}}},
		{"byte order mark", "\xef\xbb\xbfdata: 1\n\n", []event{{"", "1"}}},
		{"last blank line missing", "data: 1\n\ndata: [DONE]", []event{{"", "1"}, {"", "[DONE]"}}},
		{"long line", "data: " + long + "\n\ndata: 2\n\n", []event{{"", long}, {"", "2"}}},
		{"name without data at the end", "event: a\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestF8SplitCharacters reads characters whose bytes arrive one by one.
func TestF8SplitCharacters(t *testing.T) {
	got, err := readAll(iotest.OneByteReader(strings.NewReader("data: 漢字🎉é\n\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]event{{"", "漢字🎉é"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReaderReportsBrokenStream(t *testing.T) {
	broken := errors.New("connection reset")
	r := io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken))
	got, err := readAll(r)
	if !errors.Is(err, broken) {
		t.Errorf("error = %v, want %v", err, broken)
	}
	if diff := cmp.Diff([]event{{"", "1"}}, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("event: a\ndata: 1\n\n"))
	f.Add([]byte("data: x\r\n\r\n: c\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := readAll(bytes.NewReader(in))
		if err != nil {
			t.Fatalf("reading from memory failed: %v", err)
		}
		split, err := readAll(iotest.HalfReader(bytes.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, split); diff != "" {
			t.Errorf("the split of the stream changed the events:\n%s", diff)
		}
	})
}

func BenchmarkReader(b *testing.B) {
	in := strings.Repeat("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0}\n\n", 1000)
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r := sse.NewReader(strings.NewReader(in))
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}

package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func testEventRoundTrip(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	full := chunk("hello")
	full.By, full.Epoch, full.Origin, full.Retention = "a_1", 1<<60, session.FromHub, session.Live
	full.Time = time.Date(2026, 11, 30, 1, 2, 3, 4, time.FixedZone("", 3600))
	full.Marks = session.Marks{
		SessionID: session.Span{From: 13, To: 18}, Meta: session.Span{From: 0, To: 1},
		ToolCallID: session.Span{From: 20, To: 30}, MessageID: session.Span{From: 5, To: uint32(len(full.Body))},
	}
	sameTurn := full
	sameTurn.ID, sameTurn.Kind = "not one of ours", "a_kind_of_the_future"
	other := chunk("")
	other.Turn, other.By, other.Retention, other.Origin = "t_2", "", session.Private, session.FromClient
	other.Time = full.Time.Add(-time.Hour) // clocks go back
	bare := session.Event{}
	odd := session.Event{ID: "\x00\xff", Turn: strings.Repeat("t", 300), Kind: session.KindDriverPrivate, Body: jsontext.Value("\x00\xff not json")}
	events := []session.Event{full, sameTurn, other, bare, odd, full}
	appendEvents(t, l, "s_1", fence, events...)
	diff(t, "events", numbered(events), readAll(t, l, "s_1", 100))
}

func testAppendNumbers(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	want := session.Seq(0)
	for _, n := range []int{1, 2, 1, 700, 1, 64} {
		want += session.Seq(n)
		if got := appendEvents(t, l, "s_1", fence, chunks(n)...); got != want {
			t.Fatalf("Append of %d returned %d, want %d", n, got, want)
		}
	}
	if got := readAll(t, l, "s_1", 50); session.Seq(len(got)) != want {
		t.Errorf("%d events, want %d", len(got), want)
	}
	got, err := l.Info(t.Context(), "s_1")
	if err != nil || got.LastSeq != want {
		t.Errorf("LastSeq is %d (%v), want %d", got.LastSeq, err, want)
	}
}

func testAppendEmpty(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	for _, want := range []session.Seq{0, 2} {
		got, err := l.Append(t.Context(), "s_1", fence, session.Batch{})
		if err != nil || got != want {
			t.Errorf("Append of nothing: %d, %v, want %d", got, err, want)
		}
		if want == 0 {
			appendEvents(t, l, "s_1", fence, chunks(2)...)
		}
	}
	if _, err := l.Append(t.Context(), "s_1", fence+1, session.Batch{}); !errors.Is(err, session.ErrFenced) {
		t.Errorf("Append of nothing with a wrong fence: %v, want ErrFenced", err)
	}
}

func testAppendRefusedWhole(t *testing.T, l session.Ledger) {
	stale := create(t, l, "s_1")
	fence, err := l.Acquire(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	title := "stale"
	_, err = l.Append(t.Context(), "s_1", stale, session.Batch{
		Events: chunks(3), Snapshot: []byte("stale"), Change: &session.InfoChange{Title: &title},
		Docs: []session.Doc{{Seq: 1, Role: "user", Text: "stale"}},
	})
	if !errors.Is(err, session.ErrFenced) {
		t.Fatalf("Append with a stale fence: %v, want ErrFenced", err)
	}
	if got := readAll(t, l, "s_1", 10); len(got) != 0 {
		t.Errorf("%d events of it are there", len(got))
	}
	if _, seq, err := l.Snapshot(t.Context(), "s_1"); err != nil || seq != 0 {
		t.Errorf("its snapshot is there: %d, %v", seq, err)
	}
	if hits, err := l.Search(t.Context(), "stale", session.Filter{}, 1); err != nil || len(hits) != 0 {
		t.Errorf("its doc is there: %v, %v", hits, err)
	}
	if got, err := l.Info(t.Context(), "s_1"); err != nil || got.Title != "" {
		t.Errorf("its title is there: %q, %v", got.Title, err)
	}
	if seq := appendEvents(t, l, "s_1", fence, chunks(1)...); seq != 1 {
		t.Errorf("the next event has number %d, want 1", seq)
	}
}

func testAppendBadMarks(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	for _, bad := range []session.Span{{From: 5, To: 2}, {From: 0, To: 1 << 20}} {
		e := chunk("x")
		e.Marks.MessageID = bad
		_, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: []session.Event{chunk("a"), e}})
		var invalid *session.InvalidError
		if !errors.As(err, &invalid) {
			t.Errorf("Append with mark %v: %v, want an InvalidError", bad, err)
		}
	}
	if got := readAll(t, l, "s_1", 10); len(got) != 0 {
		t.Errorf("%d events are there", len(got))
	}
}

func testAppendChange(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	title, when := "from the turn", epoch().Add(time.Minute)
	_, err := l.Append(t.Context(), "s_1", fence, session.Batch{
		Events: chunks(1), Change: &session.InfoChange{Title: &title, UpdatedAt: &when}, Durable: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Info(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != title || !got.UpdatedAt.Equal(when) || got.LastSeq != 1 {
		t.Errorf("Info is %+v", got)
	}
	appendEvents(t, l, "s_1", fence, chunks(1)...)
	if got, _ = l.Info(t.Context(), "s_1"); !got.UpdatedAt.Equal(when) {
		t.Errorf("an append without a change set UpdatedAt to %v", got.UpdatedAt)
	}
}

func testAppendCancelled(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Append(ctx, "s_1", fence, session.Batch{Events: chunks(1)}); !errors.Is(err, context.Canceled) {
		t.Fatalf("Append with an ended context: %v", err)
	}
	if got := readAll(t, l, "s_1", 10); len(got) != 0 {
		t.Errorf("%d events are there", len(got))
	}
}

// testAppendKeepsBatch checks that a ledger neither changes a batch nor notices
// when its maker reuses the memory.
func testAppendKeepsBatch(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	snapshot := []byte("state")
	events := chunks(2)
	want := numbered(chunks(0))
	for _, e := range events {
		e.Body = bytes.Clone(e.Body)
		want = append(want, e)
	}
	want = numbered(want)
	if _, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: events, Snapshot: snapshot}); err != nil {
		t.Fatal(err)
	}
	if events[0].Seq != 0 {
		t.Errorf("Append numbered the caller's event: %d", events[0].Seq)
	}
	events[1] = session.Event{}
	copy(snapshot, "XXXXX")
	diff(t, "events", want, readAll(t, l, "s_1", 10))
	if got, _, err := l.Snapshot(t.Context(), "s_1"); err != nil || string(got) != "state" {
		t.Errorf("snapshot is %q, %v", got, err)
	}
}

func testFence(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	if fence == 0 {
		t.Fatal("Create gave fence 0, which means none")
	}
	for range 3 {
		appendEvents(t, l, "s_1", fence, chunks(2)...)
		next, err := l.Acquire(t.Context(), "s_1")
		if err != nil {
			t.Fatal(err)
		}
		if next <= fence {
			t.Fatalf("Acquire gave fence %d after %d", next, fence)
		}
		for _, bad := range []session.Fence{fence, next + 1, 0} {
			if _, err := l.Append(t.Context(), "s_1", bad, session.Batch{Events: chunks(1)}); !errors.Is(err, session.ErrFenced) {
				t.Errorf("Append with fence %d while it is %d: %v, want ErrFenced", bad, next, err)
			}
		}
		fence = next
	}
	if seq := appendEvents(t, l, "s_1", fence, chunks(1)...); seq != 7 {
		t.Errorf("the last event has number %d, want 7", seq)
	}
}

func testRelease(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	next, err := l.Acquire(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Release(t.Context(), "s_1", fence); err != nil {
		t.Fatalf("Release with a stale fence: %v", err)
	}
	if got, _ := l.Info(t.Context(), "s_1"); !got.Active {
		t.Error("a stale Release ended the newer ownership")
	}
	if err := l.Release(t.Context(), "s_1", next); err != nil {
		t.Fatal(err)
	}
	if got, _ := l.Info(t.Context(), "s_1"); got.Active {
		t.Error("a released session is active")
	}
	third, err := l.Acquire(t.Context(), "s_1")
	if err != nil || third <= next {
		t.Errorf("Acquire after Release: %d, %v, want more than %d", third, err, next)
	}
}

func testRead(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	other := create(t, l, "s_2")
	var want []session.Event
	for _, n := range []int{1, 300, 2, 1} {
		batch := chunks(n)
		appendEvents(t, l, "s_1", fence, batch...)
		appendEvents(t, l, "s_2", other, chunks(3)...)
		want = append(want, batch...)
	}
	want = numbered(want)
	diff(t, "all events", want, readAll(t, l, "s_1", 7))
	for _, limit := range []int{1, 256, 1000} {
		for i, e := range readAll(t, l, "s_1", limit) {
			if e.ID != want[i].ID {
				t.Fatalf("in pages of %d, event %d is %s, want %s", limit, e.Seq, e.ID, want[i].ID)
			}
		}
	}
	for _, c := range []struct {
		after session.Seq
		limit int
		want  []session.Event
	}{
		{0, 2, want[:2]},
		{1, 1, want[1:2]},
		{299, 4, want[299:303]},
		{303, 10, want[303:]},
		{304, 10, nil},
		{1 << 40, 10, nil},
		{1<<64 - 1, 10, nil},
		{0, 0, nil},
		{0, -1, nil},
	} {
		got, err := l.Read(t.Context(), "s_1", c.after, c.limit)
		if err != nil {
			t.Fatalf("Read(after %d, limit %d): %v", c.after, c.limit, err)
		}
		diff(t, "page", c.want, got)
	}
}

// testReadBounded checks that a page of large events ends early, and that
// paging still finds them all.
func testReadBounded(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	big := chunk(strings.Repeat("x", 700<<10))
	for range 8 {
		appendEvents(t, l, "s_1", fence, big)
	}
	if got := readAll(t, l, "s_1", 1000); len(got) != 8 {
		t.Errorf("%d events, want 8", len(got))
	}
}

func testSnapshot(t *testing.T, l session.Ledger) {
	fence := create(t, l, "s_1")
	check := func(want string, at session.Seq) {
		t.Helper()
		got, seq, err := l.Snapshot(t.Context(), "s_1")
		if err != nil || string(got) != want || seq != at {
			t.Errorf("Snapshot is %q at %d, %v; want %q at %d", got, seq, err, want, at)
		}
	}
	check("", 0)
	put := func(events int, snapshot []byte) {
		t.Helper()
		if _, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: chunks(events), Snapshot: snapshot}); err != nil {
			t.Fatal(err)
		}
	}
	put(3, []byte("one"))
	check("one", 3)
	put(2, nil)
	check("one", 3)
	put(0, []byte("two"))
	check("two", 5)
	put(1, []byte("three"))
	check("three", 6)
}

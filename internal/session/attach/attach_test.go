package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// writer commits events and shows them, as an actor does.
type writer struct {
	testing.TB
	ledger session.Ledger
	fence  session.Fence
	board  *Board
	last   session.Seq
}

func newWriter(t testing.TB) *writer {
	l := memory.New()
	info := session.Info{ID: "s_1", Owner: "local"}
	fence, err := l.Create(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	return &writer{TB: t, ledger: l, fence: fence, board: NewBoard(l, info, 0)}
}

func (w *writer) commit(events ...session.Event) {
	w.Helper()
	last, err := w.ledger.Append(context.Background(), "s_1", w.fence, session.Batch{Events: events})
	if err != nil {
		w.Fatal(err)
	}
	for i := range events {
		events[i].Seq = w.last + session.Seq(i) + 1
	}
	w.last = last
}

func (w *writer) show(events ...session.Event) {
	w.Helper()
	w.commit(events...)
	w.board.Publish(events, nil, nil)
}

func text(s string) session.Event {
	return session.Event{ID: session.NewID("e"), Kind: session.KindAgentMessage, Body: jsontext.Value(`"` + s + `"`)}
}

func private() session.Event {
	e := text("private")
	e.Retention = session.Private
	return e
}

// read collects what a cursor gives until it stands at seq.
func read(t testing.TB, c *Cursor, until session.Seq) []string {
	t.Helper()
	var got []string
	for at := session.Seq(0); at < until; {
		events, cursor, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			got = append(got, strings.Trim(string(e.Body), `"`))
		}
		at = cursor
	}
	return got
}

func TestCursorOfAllSkippedPageMoves(t *testing.T) {
	w := newWriter(t)
	c := w.board.Attach(session.AttachRequest{})
	w.show(private(), private())
	events, at, err := c.Next(t.Context())
	if len(events) != 0 || at != 2 || err != nil {
		t.Errorf("got %d events at %d, %v", len(events), at, err)
	}
	w.show(text("a"), private(), text("b"))
	if d := cmp.Diff([]string{"a", "b"}, read(t, c, 5)); d != "" {
		t.Error(d)
	}
}

// counting counts how often it is read.
type counting struct {
	session.Ledger
	reads int
}

func (c *counting) Read(ctx context.Context, id string, after session.Seq, limit int) ([]session.Event, error) {
	c.reads++
	return c.Ledger.Read(ctx, id, after, limit)
}

// TestEachPageIsReadOnce keeps what an attachment does not get from having the
// ledger read again for what stands around it.
func TestEachPageIsReadOnce(t *testing.T) {
	w := newWriter(t)
	var want []string
	for i := range 4 * pageEvents {
		w.commit(text(fmt.Sprint(i)), private())
		want = append(want, fmt.Sprint(i))
	}
	ledger := &counting{Ledger: w.ledger}
	board := NewBoard(ledger, session.Info{ID: "s_1"}, w.last)
	for range 2 { // the first reader changes nothing for the second
		c := board.Attach(session.AttachRequest{Replay: session.ReplayHistory})
		if d := cmp.Diff(want, read(t, c, w.last)); d != "" {
			t.Fatal(d)
		}
	}
	if most := 2 * int(w.last) / pageEvents; ledger.reads > most {
		t.Errorf("%d reads of pages of %d for twice %d events, want at most %d", ledger.reads, pageEvents, w.last, most)
	}
}

func TestTailIsBoundedAndPagingGoesOn(t *testing.T) {
	w := newWriter(t)
	slow := w.board.Attach(session.AttachRequest{})
	big := strings.Repeat("x", 10_000)
	var want []string
	for i := range 400 {
		s := fmt.Sprintf("%d %s", i, big)
		want = append(want, s)
		w.show(text(s))
	}
	if w.board.tail.size > tailBytes || len(w.board.tail.blocks) > 1+tailBytes/blockBytes {
		t.Errorf("the tail holds %d blocks of %d bytes", len(w.board.tail.blocks), w.board.tail.size)
	}
	if got := read(t, slow, 400); !slices.Equal(want, got) {
		t.Errorf("%d events came, want %d in order", len(got), len(want))
	}
}

// TestTailHoldsWhatIsUnread keeps a busy session from holding what everyone has.
func TestTailHoldsWhatIsUnread(t *testing.T) {
	const events = 10 * blockEvents
	w := newWriter(t)
	ledger := &counting{Ledger: w.ledger}
	w.board.ledger = ledger
	quick := w.board.Attach(session.AttachRequest{})
	for i := range events {
		w.show(text(fmt.Sprint(i)))
		read(t, quick, session.Seq(i+1))
	}
	if n := len(w.board.tail.blocks); n > 2 {
		t.Errorf("the tail holds %d blocks that everyone has read", n)
	}
	slow := w.board.Attach(session.AttachRequest{Replay: session.ReplayNone})
	for i := range events {
		w.show(text(fmt.Sprint(i)))
		read(t, quick, session.Seq(events+i+1))
	}
	if got := read(t, slow, 2*events); len(got) != events || ledger.reads > 0 {
		t.Errorf("a reader who was %d events behind got %d of them, with %d reads of the ledger", events, len(got), ledger.reads)
	}
}

// TestSlowReadersCostNothing attaches many readers that read nothing.
func TestSlowReadersCostNothing(t *testing.T) {
	w := newWriter(t)
	const readers = 1000
	for range readers {
		w.board.Attach(session.AttachRequest{})
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for range 100 {
		w.show(text("warm up"))
	}
	before := heap()
	body := strings.Repeat("x", 1000)
	for range 1000 {
		w.show(text(body))
	}
	// The memory ledger keeps the events, about 1.3 MB with their overhead; the
	// tail and every reader together may add its bound and little more.
	if grown := int64(heap()) - int64(before); grown > 8<<20 {
		t.Errorf("%d idle readers made the heap grow by %d bytes", readers, grown)
	}
	runtime.KeepAlive(w)
}

func TestWhatIsNotPublishedIsNotShown(t *testing.T) {
	for _, before := range []session.Event{text("a"), private()} {
		w := newWriter(t)
		c := w.board.Attach(session.AttachRequest{})
		w.show(before)
		w.board.Park() // no tail: the cursor pages
		events := []session.Event{{ID: "e_ask", Kind: session.KindPermission, Body: jsontext.Value(`"ask"`)}}
		w.commit(events...)
		read(t, c, 1)
		w.board.Publish(events, []session.Request{{ID: "e_ask"}}, nil)
		if d := cmp.Diff([]string{"ask"}, read(t, c, 2)); d != "" {
			t.Error(d)
		}
	}
}

func TestToldComesAfterWhatWasCommitted(t *testing.T) {
	w := newWriter(t)
	c := w.board.Attach(session.AttachRequest{})
	w.show(text("one"), text("two"))
	end := session.Event{Kind: session.KindTurnEnd, Turn: "t_1", Body: jsontext.Value(`"told"`)}
	w.board.Tell(end)
	late := w.board.Attach(session.AttachRequest{})
	w.show(text("three"), session.Event{Kind: session.KindTurnEnd, Turn: "t_1", Body: jsontext.Value(`"end"`)}, text("four"))
	if d := cmp.Diff([]string{"one", "two", "told", "three", "four"}, read(t, c, 5)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"three", "end", "four"}, read(t, late, 5)); d != "" {
		t.Error(d)
	}
}

func TestClose(t *testing.T) {
	w := newWriter(t)
	c := w.board.Attach(session.AttachRequest{})
	w.show(text("last"))
	w.board.Close(io.EOF)
	w.board.Close(errors.New("later"))
	if d := cmp.Diff([]string{"last"}, read(t, c, 1)); d != "" {
		t.Error(d)
	}
	if _, at, err := c.Next(t.Context()); !errors.Is(err, io.EOF) || at != 1 {
		t.Errorf("got %v at %d", err, at)
	}
}

func TestDetachWakes(t *testing.T) {
	w := newWriter(t)
	c := w.board.Attach(session.AttachRequest{})
	ended := make(chan error, 1)
	go func() {
		_, _, err := c.Next(context.Background())
		ended <- err
	}()
	if !w.board.Detach(c) || w.board.Detach(c) {
		t.Error("detached not exactly once")
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	w.show(text("x")) // wakes nobody, panics at nothing
}

func TestNextEndsWithItsContext(t *testing.T) {
	w := newWriter(t)
	c := w.board.Attach(session.AttachRequest{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	w.show(text("kept"))
	if d := cmp.Diff([]string{"kept"}, read(t, c, 1)); d != "" {
		t.Error(d)
	}
}

func TestDeletedUnderAReader(t *testing.T) {
	w := newWriter(t)
	c := w.board.Attach(session.AttachRequest{})
	w.show(text("x"))
	w.board.Park()
	if err := w.ledger.Delete(t.Context(), "s_1"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want io.EOF", err)
	}
}

func BenchmarkNext(b *testing.B) {
	w := newWriter(b)
	c := w.board.Attach(session.AttachRequest{})
	events := make([]session.Event, 64)
	for i := range events {
		events[i] = text(strings.Repeat("x", 200))
	}
	ctx := b.Context()
	b.ReportAllocs()
	for n := 0; n < b.N; n += len(events) {
		for i := range events {
			w.last++
			events[i].Seq = w.last
		}
		w.board.Publish(events, nil, nil)
		for at := session.Seq(0); at < w.last; {
			_, cursor, err := c.Next(ctx)
			if err != nil {
				b.Fatal(err)
			}
			at = cursor
		}
	}
}

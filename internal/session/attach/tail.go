package attach

import "github.com/grapnel-ai/grapnel/internal/session"

// tailBytes is how much of a session's newest events is kept at most for readers
// that are close behind; one tail is shared by all of them. A thousand busy
// sessions have one each, so it holds no more than they have yet to read.
const tailBytes = 256 << 10

// eventOverhead is what an event costs beside its body, roughly.
const eventOverhead = 256

// blockEvents is how many events share an allocation, unless they are large.
// Readers share the block too, so a block never moves and its events never
// change.
const (
	blockEvents = 64
	blockBytes  = 64 << 10
)

// tail holds the newest events of a session, in blocks, oldest first.
type tail struct {
	blocks []*block
	size   int
}

type block struct {
	events []session.Event // never empty, capacity blockEvents
	size   int
}

func (t *tail) add(events []session.Event) {
	for len(events) > 0 {
		b := t.roomy()
		n := 0
		for n < len(events) && !b.full(n) {
			size := len(events[n].Body) + eventOverhead
			b.size += size
			t.size += size
			n++
		}
		b.events = append(b.events, events[:n]...)
		events = events[n:]
	}
	t.trim(tailBytes)
}

// full reports whether a block takes no event beyond n more.
func (b *block) full(n int) bool {
	return len(b.events)+n >= blockEvents || b.size >= blockBytes
}

// roomy returns the last block, or a new one when it is full.
func (t *tail) roomy() *block {
	if n := len(t.blocks); n > 0 && !t.blocks[n-1].full(0) {
		return t.blocks[n-1]
	}
	b := &block{events: make([]session.Event, 0, blockEvents)}
	t.blocks = append(t.blocks, b)
	return b
}

// trim drops the oldest blocks beyond a size. Whoever has not read them pages
// the ledger.
func (t *tail) trim(size int) {
	t.drop(func(*block) bool { return t.size > size })
}

// read drops the blocks that hold nothing after seq, but for the newest one.
func (t *tail) read(seq session.Seq) {
	t.drop(func(b *block) bool {
		return b != t.blocks[len(t.blocks)-1] && b.events[len(b.events)-1].Seq <= seq
	})
}

// drop drops blocks, oldest first, as long as useless says so.
func (t *tail) drop(useless func(*block) bool) {
	n := 0
	for n < len(t.blocks) && useless(t.blocks[n]) {
		t.size -= t.blocks[n].size
		n++
	}
	clear(t.blocks[:n])
	t.blocks = t.blocks[n:]
}

// after returns events following seq, up to until, that lie in one block. ok is
// false when the tail does not reach back that far.
func (t *tail) after(seq, until session.Seq) ([]session.Event, bool) {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		events := t.blocks[i].events
		first := events[0].Seq
		if first > seq+1 {
			continue
		}
		from := int(seq + 1 - first)
		if from >= len(events) {
			return nil, false
		}
		to := min(int(until+1-first), len(events))
		size := 0
		for j := from; j < to; j++ {
			if size += len(events[j].Body); size > pageBytes {
				to = j + 1
			}
		}
		return events[from:to:to], true
	}
	return nil, false
}

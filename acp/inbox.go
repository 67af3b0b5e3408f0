package acp

import "sync"

// messageOverhead is what a queued message costs beside its own bytes, so that
// a flood of tiny messages is bounded as well.
const messageOverhead = 256 // bytes

// keepQueued is how many slots an empty inbox keeps for the next messages.
const keepQueued = 256

// inbox is the queue between the reader and the dispatcher, bounded by bytes.
// A full inbox stops the reader, and so, in the end, the peer. A message counts
// until it has been handled. One message is always let in, whatever its size.
type inbox struct {
	mu      sync.Mutex
	changed sync.Cond
	queue   []message
	head    int   // queue[:head] is taken
	bytes   int64 // of what is queued and what is being handled
	limit   int64
	ended   bool // no more puts; what is queued is still taken
	aborted bool // nothing is put or taken any more
}

func newInbox(limit int64) *inbox {
	q := &inbox{limit: limit}
	q.changed.L = &q.mu
	return q
}

// put queues m, waiting for room. It reports false once the inbox is aborted.
func (q *inbox) put(m message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	cost := m.size + messageOverhead
	for q.bytes > 0 && q.bytes+cost > q.limit && !q.aborted {
		q.changed.Wait()
	}
	if q.aborted {
		return false
	}
	q.bytes += cost
	q.queue = append(q.queue, m)
	q.changed.Broadcast()
	return true
}

// take returns the next message, waiting for one. It reports false when the
// input has ended and all was taken, or the inbox is aborted.
func (q *inbox) take() (message, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head == len(q.queue) && !q.ended && !q.aborted {
		q.changed.Wait()
	}
	if q.aborted || q.head == len(q.queue) {
		return message{}, false
	}
	m := q.queue[q.head]
	q.queue[q.head] = message{}
	q.head++
	q.compact()
	return m, true
}

// compact reuses the space of what was taken, and gives back what a burst took.
func (q *inbox) compact() {
	left := len(q.queue) - q.head
	switch {
	case left == 0 && cap(q.queue) > keepQueued:
		q.queue, q.head = nil, 0
	case left == 0:
		q.queue, q.head = q.queue[:0], 0
	case q.head >= keepQueued && q.head >= left:
		copy(q.queue, q.queue[q.head:])
		clear(q.queue[left:])
		q.queue, q.head = q.queue[:left], 0
	}
}

// handled makes room for as much as m took.
func (q *inbox) handled(m message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= m.size + messageOverhead
	q.changed.Broadcast()
}

// end says that no more messages come.
func (q *inbox) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.changed.Broadcast()
}

// abort drops what is queued and releases everyone who waits.
func (q *inbox) abort() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.aborted = true
	q.queue, q.head = nil, 0
	q.changed.Broadcast()
}

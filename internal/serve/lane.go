package serve

import "sync"

// lanes run work in order per key and concurrently between keys. A lane has a
// goroutine only while it has work.
type lanes struct {
	wg *sync.WaitGroup // counts the lanes that have work

	mu   sync.Mutex
	work map[string][]func()
}

// do appends f to key's lane; it never blocks.
func (l *lanes) do(key string, f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.work == nil {
		l.work = make(map[string][]func())
	}
	queue, running := l.work[key]
	l.work[key] = append(queue, f)
	if !running {
		l.wg.Add(1)
		go l.run(key)
	}
}

func (l *lanes) run(key string) {
	defer l.wg.Done()
	for {
		l.mu.Lock()
		queue := l.work[key]
		if len(queue) == 0 {
			delete(l.work, key)
			l.mu.Unlock()
			return
		}
		f := queue[0]
		l.work[key] = queue[1:]
		l.mu.Unlock()
		f()
	}
}

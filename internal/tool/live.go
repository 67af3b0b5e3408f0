package tool

import (
	"strings"
	"sync"
	"time"
)

const (
	// liveInterval is the pause between two updates of one call: people see no
	// more, and every update is stored.
	liveInterval = 250 * time.Millisecond
	// liveBytes is how much of the output one update shows at most.
	liveBytes = 16 << 10
	// liveLeast is the smallest update worth its frame, once there is more.
	liveLeast = 512
	// liveFactor bounds the sum of all updates to this multiple of what the
	// final content will at least be. With the final content that is five times.
	liveFactor = 4
)

// live collects a command's output and shows it while it grows. Write may be
// called from any goroutine; it blocks while the Sink does, which slows the
// command down instead of filling memory.
type live struct {
	out Sink

	mu    sync.Mutex
	buf   headTail
	shown int64 // of buf.total, by the last update
	sent  int64 // bytes of all updates
	last  time.Time
	timer *time.Timer // set while an update is due
	done  bool
}

func newLive(out Sink, limit int) *live {
	return &live{out: out, buf: headTail{limit: limit}}
}

func (l *live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.buf.Write(p)
	if l.timer == nil && !l.done {
		if wait := liveInterval - time.Since(l.last); wait > 0 {
			l.timer = time.AfterFunc(wait, l.due)
		} else {
			l.show()
		}
	}
	return n, err
}

func (l *live) due() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	if !l.done {
		l.show()
	}
}

// show sends as much as the budget allows, or nothing.
func (l *live) show() {
	total := l.buf.total
	budget := liveFactor*min(total, int64(l.buf.limit)) - l.sent
	if total == l.shown || budget < min(total, liveLeast) {
		return
	}
	text := l.buf.text(int(min(budget, liveBytes)))
	text = fenced(strings.TrimSuffix(text, "\uFFFD")) // the rest of a rune may be under way
	l.shown, l.last = total, time.Now()
	l.sent += int64(len(text))
	l.out.Progress([]Content{{Text: text}})
}

// finish ends the updates and returns what was kept, the same within n bytes,
// and how much there was.
func (l *live) finish(n int) (text, brief string, total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = true
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	return l.buf.String(), l.buf.text(n), l.buf.total
}

// longestFence bounds the fence: no text is worth a line of backticks.
const longestFence = 64

// fenced marks text as literal for clients that render Markdown.
func fenced(text string) string {
	run, longest := 0, 2
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest >= longestFence {
		return text
	}
	fence := strings.Repeat("`", longest+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return fence + "\n" + text + fence
}

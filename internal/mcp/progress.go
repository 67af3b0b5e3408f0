package mcp

import (
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/tool"
)

const (
	// progressPause is the least time between two shown reports of progress.
	progressPause = 500 * time.Millisecond
	// maxProgress is how many reports of one call are shown.
	maxProgress = 100
)

// showing returns a function that shows a call's progress. It never blocks: of
// reports that come too fast the last is shown. stop returns when nothing more
// is shown.
func showing(out tool.Sink) (show func(string), stop func()) {
	latest := make(chan string, 1)
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for range maxProgress {
			select {
			case text := <-latest:
				out.Progress([]tool.Content{{Text: text}})
			case <-done:
				return
			}
			select {
			case <-time.After(progressPause):
			case <-done:
				return
			}
		}
	})
	show = func(text string) {
		if text == "" {
			return
		}
		select {
		case <-latest: // it is out of date
		default:
		}
		select {
		case latest <- text:
		default: // another report was faster
		}
	}
	return show, func() {
		close(done)
		running.Wait()
	}
}

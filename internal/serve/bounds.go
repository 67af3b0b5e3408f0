package serve

import "github.com/grapnel-ai/grapnel/internal/session"

// Bounds on what a client lists in one request: each item costs far more here
// than the bytes it comes in, an event, a process or an open directory.
const (
	maxBlocks  = 4096
	maxServers = 100
	maxRoots   = 256
)

// bounded refuses a list of more than most items.
func bounded(list string, n, most int) error {
	if n > most {
		return session.Invalidf("%s has %d items, at most %d can be taken", list, n, most)
	}
	return nil
}

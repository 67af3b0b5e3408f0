package native

import (
	"context"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// steering is what people add to a turn while it runs. It is safe for concurrent
// use.
type steering struct {
	mu      sync.Mutex
	open    bool           // a turn takes more content
	waiting []session.Turn // for the next model step
}

// Steer implements session.Handle: the content joins the running turn before
// its next model step.
func (h *handle) Steer(_ context.Context, add session.Turn) error {
	s := &h.steering
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		return session.ErrUnsupported
	}
	s.waiting = append(s.waiting, add)
	return nil
}

// begin opens a turn to steering.
func (s *steering) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = true
}

// take returns what was added since.
func (s *steering) take() []session.Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.waiting
	s.waiting = nil
	return waiting
}

// end closes the turn to steering.
func (s *steering) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
}

// endIfIdle does so unless something came in just now, and reports whether it
// did.
func (s *steering) endIfIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 {
		return false
	}
	s.open = false
	return true
}

package soak

import (
	"testing"
	"time"
)

// shared is a soak of two agents on one store.
type shared struct {
	*run
	seats    [2]*client
	seen     [2]map[string]*transcript // what each was shown before its agent of now
	joined   [2]map[string]bool        // sessions each has open
	sessions []string
}

// TestSoakShared has two processes work on one store, 1,000 times in full: with
// sessions of their own and with those that are active in the other, which they
// reach through its socket; now and then one is killed, also while it runs the
// other's turn, and the other takes its sessions over. Both see the same, at the
// same places, and every prompt gets an answer.
func TestSoakShared(t *testing.T) {
	s := &shared{run: newRun(t)}
	for i := range s.seats {
		s.seats[i] = s.start()
		s.joined[i], s.seen[i] = make(map[string]bool), make(map[string]*transcript)
		s.open(i)
	}
	n := s.times(1000)
	for range n {
		s.round()
		if t.Failed() {
			break
		}
	}
	s.finish()
	s.add("rounds", n)
	s.add("sessions", len(s.sessions))
	s.report()
}

func (s *shared) open(i int) {
	id := s.seats[i].open()
	s.sessions = append(s.sessions, id)
	s.joined[i][id] = true
}

// round has one seat do something with a session.
func (s *shared) round() {
	i := s.rand.IntN(2)
	c := s.seats[i]
	switch s.rand.IntN(8) {
	case 0:
		s.replace(i)
		return
	case 1:
		if len(s.sessions) < 6 {
			s.open(i)
			return
		}
	}
	id := s.sessions[s.rand.IntN(len(s.sessions))]
	if !s.joined[i][id] {
		s.join(c, id)
		s.joined[i][id] = true
	}
	if s.rand.IntN(10) == 0 {
		s.orphan(i, id)
		return
	}
	s.turn(c, id)
}

// orphan runs a turn while the other seat's agent ends. If the session was
// active there, the turn fails; its prompt is answered all the same.
func (s *shared) orphan(i int, id string) {
	s.t.Helper()
	c := s.seats[i]
	request := c.begin(id, "D:CHUNKS 200,15,1")
	c.watch(s.within(100 * time.Millisecond))
	s.replace(1 - i)
	c.answer(request, "a prompt whose agent was killed")
	s.add("turns", 1)
}

// join loads a session, wherever it is active.
func (s *shared) join(c *client, id string) {
	s.t.Helper()
	now := c.load(id)
	s.add("loads", 1)
	for seat, other := range s.seats {
		for _, shown := range []*transcript{s.seen[seat][id], other.shown[id]} {
			if other == c || shown == nil {
				continue
			}
			if err := now.compare(shown); err != nil {
				s.t.Errorf("one seat was shown what the other is not: %v", err)
			}
		}
	}
	if open := now.openCalls(); len(open) > 0 {
		s.t.Errorf("session %s: tool calls left open: %v", id, open)
	}
}

// turn runs a turn, or cancels one.
func (s *shared) turn(c *client, id string) {
	s.t.Helper()
	scripts := []string{"D:SAY short", "D:CHUNKS 200,15,0", "D:TOOL shell echo hello ; D:SAY done", "D:TOOL write s.txt x ; D:SAY written", "D:STALL"}
	text := scripts[s.rand.IntN(len(scripts))]
	request := c.begin(id, text)
	if text == "D:STALL" || s.rand.IntN(5) == 0 {
		c.watch(s.within(50 * time.Millisecond))
		c.agent.Cancel(id)
		s.add("cancels", 1)
	}
	stop := c.answer(request, text).StopReason()
	if stop != "end_turn" && stop != "cancelled" {
		s.t.Errorf("session %s, %q: %s\n%s", id, text, stop, c.agent.Stderr())
	}
	s.add("turns", 1)
}

// replace kills a seat's agent, or ends it, and starts another.
func (s *shared) replace(i int) {
	c := s.seats[i]
	if s.rand.IntN(3) == 0 {
		c.quit()
		s.add("quits", 1)
	} else {
		c.crash()
		s.add("kills", 1)
	}
	for id, shown := range c.shown {
		if s.seen[i][id] == nil {
			s.seen[i][id] = newTranscript(id)
		}
		s.seen[i][id].merge(shown)
	}
	s.seats[i] = s.start()
	for i := range s.joined { // what was active there is to be loaded anew
		clear(s.joined[i])
	}
}

// finish looks at every session from a fresh process.
func (s *shared) finish() {
	s.t.Helper()
	for i := range s.seats {
		s.seats[i].quit()
	}
	s.alone()
	c := s.start()
	for _, id := range s.sessions {
		s.join(c, id)
		c.say(id, "D:SAY still here")
		s.paired()
	}
	c.quit()
	s.alone()
	s.sound()
}

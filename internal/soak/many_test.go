package soak

import (
	"fmt"
	"testing"
	"time"
)

// TestSoakMany works with ten sessions at once, 2,000 prompts in full, with
// cancels at any moment and prompts that queue. Every prompt gets one answer, of
// the kinds there are; a load shows what was shown.
func TestSoakMany(t *testing.T) {
	r := newRun(t)
	c := r.start()
	var sessions []string
	for range 10 {
		sessions = append(sessions, c.open())
	}
	waiting := make(map[string]string) // prompts by request id, with their words
	n := r.times(2000)
	for i := range n {
		id := sessions[r.rand.IntN(len(sessions))]
		text := r.manyScript(i)
		waiting[c.begin(id, text)] = text
		c.watch(r.within(20 * time.Millisecond))
		if r.rand.IntN(3) == 0 {
			c.agent.Cancel(sessions[r.rand.IntN(len(sessions))])
			r.add("cancels", 1)
		}
		for len(waiting) > 30 {
			r.collect(c, waiting)
		}
	}
	for _, id := range sessions { // what has no end by itself
		c.agent.Cancel(id)
	}
	for len(waiting) > 0 {
		r.collect(c, waiting)
	}
	live := c.shown
	c.quit()
	r.alone()

	d := r.start()
	for _, id := range sessions {
		now := d.load(id)
		if err := now.compare(live[id]); err != nil {
			t.Error(err)
		}
		if open := now.openCalls(); len(open) > 0 {
			t.Errorf("session %s: tool calls left open: %v", id, open)
		}
		d.say(id, "D:SAY still here")
		r.paired()
		r.add("updates", len(now.lines))
	}
	d.quit()
	r.alone()
	r.sound()
	r.add("prompts", n)
	r.add("sessions", len(sessions))
	r.report()
}

// manyScript is a turn that ends by itself, most of the time.
func (r *run) manyScript(i int) string {
	scripts := []string{
		"D:SAY short",
		"D:CHUNKS 100,15,1",
		"D:CHUNKS 2000,15,0",
		fmt.Sprintf("D:TOOL shell sleep 0.0%d; echo %s ; D:SAY done", 1+r.rand.IntN(9), r.mark),
		fmt.Sprintf("D:TOOL shell (setsid sleep 300.%s &) ; echo started ; D:SAY done", r.mark),
		fmt.Sprintf("D:TOOL write m%d.txt text ; D:SAY written", r.rand.IntN(5)),
		"D:PAR 3 echo par",
		"D:THINK hm ; D:SAY thought",
		"D:STALL",
	}
	kind := r.rand.IntN(len(scripts))
	if scripts[kind] == "D:STALL" && r.rand.IntN(4) > 0 {
		kind = 0 // its session waits for a cancel
	}
	return number(i) + "\n" + scripts[kind]
}

// collect waits for an answer to any of the prompts. When none comes, something
// stalls that nobody cancels: then everything is cancelled.
func (r *run) collect(c *client, waiting map[string]string) {
	r.t.Helper()
	for until := time.Now().Add(patience); ; {
		for id, text := range waiting {
			m, ok := c.answers[id]
			if !ok {
				continue
			}
			delete(waiting, id)
			delete(c.answers, id)
			stop := m.StopReason()
			if stop != "end_turn" && stop != "cancelled" {
				r.t.Errorf("%q: %s", text, stop)
			}
			r.add(stop, 1)
			return
		}
		if !c.step(time.Second) {
			for id := range c.shown {
				c.agent.Cancel(id)
			}
		}
		if time.Now().After(until) {
			r.t.Fatalf("%d prompts have no answer, such as %v\n%s", len(waiting), waiting, c.agent.Stderr())
		}
	}
}

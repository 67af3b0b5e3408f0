package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// drops is a soak of clients of a gateway whose connections break.
type drops struct {
	*run
	gateway     *fieldtest.Gateway
	seats       []*seat
	stopping    atomic.Bool  // no new prompts
	connections atomic.Int64 // that ended

	mu   sync.Mutex
	lots *rand.Rand        // of the seats
	end  map[string]uint64 // the last place of each session, once it is known
}

// TestSoakDrops breaks the connections of five clients of a session, 1,000 times
// in full, at any moment of streaming turns: by RST, half open, by a proxy that
// cuts what is idle, and within frames. Each comes back for what it has not
// seen. In the end each was shown the whole ledger, once, in order, and every
// prompt ran once, although it was sent again on every connection.
func TestSoakDrops(t *testing.T) {
	t.Parallel()
	d := &drops{run: newRun(t, "[acp]", "max_sessions = 100", "[gateway.limits]", "connections = 0", "requests_per_minute = 0"), end: make(map[string]uint64)}
	d.lots = rand.New(rand.NewPCG(d.seed, 2))
	d.gateway = d.Gateway()
	main := d.gateway.Connect(fieldtest.Dial{})
	main.Init()
	sessions := []string{main.New(), main.New()}
	for i, id := range sessions {
		for j, role := range []string{"approver", "approver", "prompter", "prompter", "observer"} {
			d.sit(id, fmt.Sprintf("s%d-%s-%d", i, role, j), role)
		}
	}
	n := d.times(1000)
	d.play(n, main)
	for _, id := range sessions {
		if t.Failed() {
			return // what follows from it would hide it
		}
		d.judge(main, id)
	}
	main.Hangup()
	d.gateway.Stop()
	d.alone()
	d.sound()
	d.tell(n)
	d.report()
}

// sit adds a client of a session with a proxy of its own.
func (d *drops) sit(session, name, role string) {
	s := &seat{
		d: d, session: session, name: name, role: role, shown: newTranscript(session),
		prompts: role == "prompter" || strings.HasSuffix(name, "-0"),
		proxy:   newChaos(d.t, d.rand.Uint64(), 40_000, d.gateway.Host),
	}
	d.seats = append(d.seats, s)
}

// script is what a turn does.
func (d *drops) script() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	scripts := []string{
		"D:CHUNKS 100,40,2",
		"D:CHUNKS 400,30,0",
		"D:THINK let me see ; D:CHUNKS 60,20,5",
		"D:SAY I write ; D:TOOL write f.txt x ; D:CHUNKS 40,20,2",
		"D:TOOL shell seq 300 ; D:SAY done",
	}
	return scripts[d.lots.IntN(len(scripts))]
}

// last is the last place of a session, 0 while it is not known.
func (d *drops) last(session string) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.end[session]
}

// play runs the seats until n connections were broken, lets the open prompts
// end, and waits until everyone was shown everything.
func (d *drops) play(n int, main *fieldtest.Client) {
	d.t.Helper()
	var all sync.WaitGroup
	for _, s := range d.seats {
		all.Go(s.run)
	}
	d.until("enough connections were broken", func() bool { return d.broken() >= n })
	d.stopping.Store(true)
	d.until("every prompt was answered", func() bool {
		for _, s := range d.seats {
			if s.prompts && !s.idle.Load() {
				return false
			}
		}
		return true
	})
	for _, s := range d.seats {
		s.proxy.soothe()
	}
	for _, s := range d.seats {
		if d.last(s.session) == 0 {
			ledger := d.ledger(main, s.session)
			d.mu.Lock()
			d.end[s.session] = ledger.last
			d.mu.Unlock()
		}
	}
	all.Wait()
}

// until waits for what must come, as long as nothing has failed.
func (d *drops) until(what string, done func() bool) {
	d.t.Helper()
	for begun := time.Now(); !done() && !d.t.Failed(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 10*patience {
			d.t.Fatalf("it takes too long until %s (%d are broken)\n%s", what, d.broken(), d.gateway.Stderr())
		}
	}
}

func (d *drops) broken() (n int) {
	for _, s := range d.seats {
		n += s.proxy.broken()
	}
	return n
}

// ledger is the whole session as a load shows it.
func (r *run) ledger(c *fieldtest.Client, session string) *transcript {
	r.t.Helper()
	t := newTranscript(session)
	from := c.Lines()
	c.Must("session/load", r.LoadParams(session), nil)
	for _, m := range c.Messages()[from:] {
		if m.Method != "session/update" {
			continue
		}
		var u update
		unmarshal(r.t, m.Params, &u)
		if u.SessionID != session {
			continue
		}
		if err := t.show(u); err != nil {
			r.t.Fatal(err)
		}
	}
	return t
}

// judge compares what everyone was shown of a session with its ledger.
func (d *drops) judge(c *fieldtest.Client, session string) {
	d.t.Helper()
	ledger := d.ledger(c, session)
	if open := ledger.openCalls(); len(open) > 0 {
		d.t.Errorf("session %s: tool calls left open: %v", session, open)
	}
	for _, s := range d.seats {
		if s.session != session {
			continue
		}
		if err := s.whole(ledger); err != nil {
			d.t.Error(err)
		}
		for _, token := range s.own {
			if n := ledger.asked(token); n != 1 {
				d.t.Errorf("prompt %s is there %d times", token, n)
			}
		}
		d.add("turns", s.turns)
	}
	d.add("updates", len(ledger.lines))
}

// tell counts for the report.
func (d *drops) tell(n int) {
	var kinds [faults]int
	for _, s := range d.seats {
		s.proxy.mu.Lock()
		for kind, n := range s.proxy.counts {
			kinds[kind] += n
		}
		s.proxy.mu.Unlock()
	}
	for kind, n := range kinds {
		d.add("by "+fault(kind).String(), n)
	}
	d.add("clients", len(d.seats))
	d.add("connections", int(d.connections.Load()))
}

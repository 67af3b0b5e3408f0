package soak

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keptOpen is how many sessions the kills go on with.
const keptOpen = 5

// kills is a soak that kills the agent again and again, whatever it does.
type kills struct {
	*run
	seen    map[string]*transcript // all that was ever shown, by session
	open    []string               // sessions that are worked with
	prompts map[string][]*prompt   // by session
	first   map[string]*prompt     // the first of each session since the agent started
	n       int                    // prompts so far
}

// prompt is one that was sent.
type prompt struct {
	token string
	after uint64 // the last update shown before it
	taken bool   // something of its turn was shown
}

// TestSoakKill kills the agent at any moment, 200 times in full, while turns
// with tools run. After each restart every session loads and shows what was
// shown before, at its place; no tool call is left open, no process is left.
func TestSoakKill(t *testing.T) {
	k := &kills{
		run: newRun(t), seen: make(map[string]*transcript),
		prompts: make(map[string][]*prompt), first: make(map[string]*prompt),
	}
	for range k.times(200) {
		k.round()
		k.add("kills", 1)
		if t.Failed() {
			break
		}
	}
	k.finish()
	k.report()
}

// round starts an agent, looks at what is there, begins some turns and kills.
func (k *kills) round() {
	c := k.start()
	if k.rand.IntN(6) == 0 {
		k.killLoading(c)
		return
	}
	for _, id := range k.open {
		k.check(c, id)
	}
	for range 1 + k.rand.IntN(3) {
		k.begin(c, k.pick(c))
	}
	c.watch(k.within(time.Second))
	k.kill(c)
}

// killLoading kills while sessions are being restored.
func (k *kills) killLoading(c *client) {
	for _, id := range k.open {
		c.shown[id] = newTranscript(id)
		c.agent.Begin("session/load", c.r.LoadParams(id))
	}
	c.watch(k.within(100 * time.Millisecond))
	k.kill(c)
}

// kill kills and remembers what was shown until then.
func (k *kills) kill(c *client) {
	k.add("processes killed", len(k.left()))
	c.crash()
	k.alone()
	for id, shown := range c.shown {
		if k.seen[id] == nil {
			k.seen[id] = newTranscript(id)
		}
		k.seen[id].merge(shown)
		k.add("updates", len(shown.lines))
	}
	for id, p := range k.first {
		p.taken = c.shown[id] != nil && c.shown[id].last > p.after
	}
	clear(k.first)
	k.files()
}

// pick chooses a session that is worked with, or makes a new one, which may
// take the place of another.
func (k *kills) pick(c *client) string {
	if len(k.open) > 0 && k.rand.IntN(4) > 0 {
		return k.open[k.rand.IntN(len(k.open))]
	}
	id := c.open()
	k.add("sessions", 1)
	if len(k.open) < keptOpen {
		k.open = append(k.open, id)
	} else {
		k.open[k.rand.IntN(keptOpen)] = id
	}
	return id
}

// begin sends a prompt with a name of its own.
func (k *kills) begin(c *client, session string) {
	k.n++
	p := &prompt{token: number(k.n)}
	k.prompts[session] = append(k.prompts[session], p)
	if k.first[session] == nil {
		k.first[session] = p
		if shown := c.shown[session]; shown != nil {
			p.after = shown.last
		}
	}
	c.begin(session, p.token+"\n"+k.script())
	k.add("prompts", 1)
}

// script is what a turn does.
func (k *kills) script() string {
	file := fmt.Sprintf("f%d.txt", k.rand.IntN(4))
	scripts := []string{
		"D:SAY short",
		"D:THINK let me see ; D:CHUNKS 400,15,1",
		"D:CHUNKS 3000,15,0",
		fmt.Sprintf("D:TOOL shell (setsid sleep 300.%s &) ; echo started; sleep 0.1 ; D:SAY done", k.mark),
		fmt.Sprintf("D:SAY wait ; D:TOOL shell setsid sh -c 'sleep 301.%s & sleep 302.%s'", k.mark, k.mark),
		fmt.Sprintf("D:TOOL write %s %s ; D:TOOL read %s ; D:SAY written", file, strings.Repeat(fmt.Sprint(k.n%10), 20_000), file),
		"D:PAR 4 sleep 0.05; echo par",
		`D:TOOL todo {"entries":[{"content":"x","priority":"high","status":"pending"}]} ; D:TOOL shell seq 2000 ; D:CHUNKS 50,10,2`,
		"D:STALL",
	}
	return scripts[k.rand.IntN(len(scripts))]
}

// check loads a session and compares it with all that was shown of it.
func (k *kills) check(c *client, id string) {
	k.t.Helper()
	now := c.load(id)
	k.add("loads", 1)
	if earlier := k.seen[id]; earlier != nil {
		if err := now.compare(earlier); err != nil {
			k.t.Error(err)
		}
	}
	if open := now.openCalls(); len(open) > 0 {
		k.t.Errorf("session %s: tool calls left open: %v", id, open)
	}
	for _, p := range k.prompts[id] {
		if n := now.asked(p.token); n > 1 || n < 1 && p.taken {
			k.t.Errorf("session %s has prompt %s %d times", id, p.token, n)
		}
	}
}

// files looks at what was written: whole versions only.
func (k *kills) files() {
	k.t.Helper()
	names, err := filepath.Glob(filepath.Join(k.Cwd, "f*.txt"))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			k.t.Fatal(err)
		}
		if s := string(text); len(s) < 20_000 || strings.Count(s, s[:1]) < 20_000 {
			k.t.Errorf("%s holds half a version: %d bytes, %d of them %q", name, len(s), strings.Count(s, s[:1]), s[:1])
		}
	}
}

// finish looks at every session there ever was, and goes on with some.
func (k *kills) finish() {
	k.t.Helper()
	c := k.start()
	listed := c.list()
	for id := range k.seen {
		if !listed[id] {
			k.t.Errorf("session %s is not listed", id)
			continue
		}
		k.check(c, id)
		c.say(id, "D:SAY still here")
		k.paired()
		c.call("session/close", object{"sessionId": id})
	}
	c.quit()
	k.alone()
	k.sound()
}

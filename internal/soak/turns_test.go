package soak

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// TestSoakTurns runs 1,000 turns in one session: memory stays flat, and a load
// shows all of it. How long the first and the last turns took is reported, not
// judged: the fake model reports small usage, so nothing is compacted and the
// whole conversation goes to it each time.
func TestSoakTurns(t *testing.T) {
	r := newRun(t)
	r.window(8_000)
	n := r.times(1000)
	c := r.start()
	id := c.open()
	var took []time.Duration
	memory := 0
	for i := range n {
		begun := time.Now()
		c.say(id, number(i)+"\n"+turnScript(i))
		took = append(took, time.Since(begun))
		if i == n/5 {
			memory = c.memory()
		}
	}
	grown := c.memory() - memory
	if limit := 24 << 10; grown > limit {
		t.Errorf("memory grew by %d KiB between turn %d and turn %d", grown, n/5, n)
	}
	live := c.shown[id]
	c.quit()

	d := r.start()
	now := d.load(id)
	if err := now.compare(live); err != nil {
		t.Error(err)
	}
	for i := range n {
		if asked := now.asked(number(i)); asked != 1 {
			t.Errorf("prompt %d is there %d times", i, asked)
		}
	}
	d.say(id, "D:SAY still here")
	r.paired()
	d.quit()
	r.alone()
	r.sound()
	r.add("turns", n)
	r.add("updates", len(now.lines))
	r.add("KiB of memory grown", max(0, grown))
	tenth := max(4, n/10)
	r.add("µs a turn at first", int(middle(took[:tenth]).Microseconds()))
	r.add("µs a turn in the end", int(middle(took[n-tenth:]).Microseconds()))
	r.report()
}

func turnScript(i int) string {
	switch i % 4 {
	case 0:
		return "D:SAY short"
	case 1:
		return "D:TOOL shell echo hello ; D:SAY done"
	case 2:
		return "D:CHUNKS 40,20,0"
	}
	return fmt.Sprintf("D:TOOL write f.txt version %d ; D:TOOL read f.txt ; D:SAY read", i)
}

func middle(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/2]
}

// window gives the model a context window of that many tokens.
func (r *run) window(tokens int) {
	r.Configure(fmt.Sprintf(`
[autonomy]
allowed_commands = ["*"]
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "sk-fake"
model = "fake-model"
context_window = %d
[agents.main]
provider = "fake"
`, r.URL, tokens))
}

// memory is what the agent's process holds, in KiB; 0 where the system does not
// tell.
func (c *client) memory() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.agent.Pid()))
	_, rest, _ := bytes.Cut(text, []byte("VmRSS:"))
	kib := 0
	_, _ = fmt.Sscan(string(rest), &kib) // stays 0
	return kib
}

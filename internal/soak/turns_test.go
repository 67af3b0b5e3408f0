package soak

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// turnsWindow is the model's context window in the soak of turns, in tokens of
// four bytes: so small that compaction has to keep up with the conversation.
const turnsWindow = 12_000

// TestSoakTurns runs 1,000 turns in one session: memory stays flat, no request
// outgrows the model's window, since the conversation is compacted on the way,
// and a load shows all of it. How long the first and the last turns took is
// reported, not judged.
func TestSoakTurns(t *testing.T) {
	r := newRun(t)
	r.window(turnsWindow)
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
	r.fits(turnsWindow, n)
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

// fits checks that no request so far was larger than the window, and that this
// took compaction: n turns are more than it holds.
func (r *run) fits(window, n int) {
	r.t.Helper()
	largest, shortened := 0, 0
	for _, req := range r.Model.Requests() {
		largest = max(largest, req.Size)
		if strings.Contains(req.Prompt, "about to be shortened") {
			shortened++
		}
	}
	if largest > window*4 {
		r.t.Errorf("a request had %d bytes, more than the window of %d", largest, window*4)
	}
	if n >= 1000/part && shortened == 0 {
		r.t.Errorf("%d turns, and the conversation was never shortened; the largest request had %d bytes", n, largest)
	}
	r.add("compactions", shortened)
	r.add("KiB in the largest request", largest>>10)
}

func turnScript(i int) string {
	switch i % 4 {
	case 0:
		return "D:SAY short"
	case 1:
		return "D:TOOL shell echo hello ; D:SAY done"
	case 2:
		return "D:CHUNKS 40,100,0"
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
func (c *client) memory() int { return memoryOf(c.agent.Pid()) }

// memoryOf is what a process holds, in KiB.
func memoryOf(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := bytes.Cut(text, []byte("VmRSS:"))
	kib := 0
	_, _ = fmt.Sscan(string(rest), &kib) // stays 0
	return kib
}

package soak

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// bridged is a soak of editors on bridges, whose connections break and whose
// gateway is killed.
type bridged struct {
	*run
	gateway atomic.Pointer[fieldtest.Gateway]
	session string
	editors []*client
	proxies []*chaos
	own     [][]string // what each prompted
	n       int        // prompts so far
}

// TestSoakBridge kills the gateway behind five bridges 100 times in full, while
// turns stream and the connections of the bridges break. The editors notice
// neither: every prompt is answered, by its end or by saying that it was
// interrupted, and in the end each was shown the whole ledger, once, in order.
func TestSoakBridge(t *testing.T) {
	t.Parallel()
	b := &bridged{run: newRun(t, "[acp]", "max_sessions = 100", "[gateway]", `allowed_hosts = ["127.0.0.1"]`, "limits = { connections = 0, requests_per_minute = 0 }")}
	b.gateway.Store(b.Gateway())
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(fieldtest.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		b.sit(i, token)
	}
	n := b.times(100)
	for range n {
		b.round()
		if t.Failed() {
			break
		}
	}
	b.finish()
	b.add("kills of the gateway", n)
	b.add("prompts", b.n)
	b.report()
}

// sit starts an editor on a bridge; the first opens the session.
func (b *bridged) sit(i int, token string) {
	b.t.Helper()
	proxy := newChaos(b.t, b.rand.Uint64(), 300_000, func() string { return b.gateway.Load().Host() })
	proxy.patient = true
	b.proxies = append(b.proxies, proxy)
	c := b.start("--url", "ws://"+proxy.addr()+"/acp", "--token-file", token)
	b.editors = append(b.editors, c)
	b.own = append(b.own, nil)
	if i == 0 {
		b.session = c.open()
		return
	}
	c.call("session/resume", b.LoadParams(b.session))
}

// round has an editor prompt and kills the gateway while the turn runs.
func (b *bridged) round() {
	b.t.Helper()
	who := b.rand.IntN(2)
	id := b.ask(who, []string{
		"D:CHUNKS 150,40,3",
		"D:THINK hm ; D:CHUNKS 400,30,0 ; D:SAY done",
		"D:TOOL shell seq 200 ; D:CHUNKS 60,30,4",
	}[b.rand.IntN(3)])
	b.editors[who].watch(b.within(600 * time.Millisecond))
	b.gateway.Load().Kill()
	b.gateway.Store(b.Gateway())
	m := b.editors[who].answer(id, "a prompt whose gateway was killed")
	switch {
	case m.Error == nil && m.StopReason() == "end_turn":
		b.add("turns that ended", 1)
	case m.Error != nil && m.Error.Code == -32603 && reason(m.Error) == "interrupted":
		b.add("turns that were interrupted", 1)
	default:
		b.t.Errorf("the prompt was answered with %s %+v", m.Result, m.Error)
	}
	for i, c := range b.editors {
		c.watch(10 * time.Millisecond)
		if code, over := c.agent.Exited(); over {
			b.t.Fatalf("bridge %d ended with %d\n%s", i, code, c.agent.Stderr())
		}
	}
}

func reason(err *fieldtest.RPCError) string {
	var data struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(err.Data, &data) // what is no object has no reason
	return data.Reason
}

// ask sends a prompt with a name of its own.
func (b *bridged) ask(who int, script string) string {
	b.t.Helper()
	b.n++
	token := number(b.n)
	b.own[who] = append(b.own[who], token)
	return b.editors[who].begin(b.session, token+"\n"+script)
}

// finish compares what everyone was shown with the ledger.
func (b *bridged) finish() {
	b.t.Helper()
	for _, p := range b.proxies {
		p.soothe()
		b.add("broken connections", p.broken())
	}
	if stop := b.editors[0].answer(b.ask(0, "D:SAY the end"), "the last prompt").StopReason(); stop != "end_turn" {
		b.t.Fatalf("the last turn ended with %s", stop)
	}
	main := b.gateway.Load().Connect(fieldtest.Dial{})
	main.Init()
	ledger := b.ledger(main, b.session)
	b.add("updates", len(ledger.lines))
	for i, c := range b.editors {
		for until := time.Now().Add(patience); c.at(b.session) < ledger.last && time.Now().Before(until); {
			c.step(time.Until(until))
		}
		if err := ledger.whole(c.shown[b.session], b.own[i]); err != nil {
			b.t.Errorf("editor %d: %v\n%s", i, err, c.agent.Stderr())
		}
		for _, token := range b.own[i] {
			if n := ledger.asked(token); n > 1 {
				b.t.Errorf("prompt %s is there %d times", token, n)
			}
		}
		c.quit()
	}
	main.Hangup()
	b.gateway.Load().Stop()
	b.alone()
	b.sound()
}

// at is the last place a client was shown of a session.
func (c *client) at(session string) uint64 {
	if t := c.shown[session]; t != nil {
		return t.last
	}
	return 0
}

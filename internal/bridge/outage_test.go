package bridge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/bridge"
)

// TestW1ReconnectInATurn breaks the connection in each way while a turn streams.
func TestW1ReconnectInATurn(t *testing.T) {
	cuts := map[string]func(*proxy){
		"reset":     (*proxy).reset,
		"half-open": (*proxy).freeze,
		"mid-frame": func(p *proxy) { p.cutAfter(150) },
	}
	for name, cut := range cuts {
		t.Run(name, func(t *testing.T) {
			g := newGate(t)
			e := g.open(bridge.Options{Ping: 50 * time.Millisecond})
			e.hello()
			id := e.newSession(g.dir)
			done := e.begin(id, "chunks 20\nwait one\nchunks 20\nwait two\nchunks 20")
			e.until(`"19 "`)
			<-g.proxy.joined
			cut(g.proxy)
			g.script.Go("one")
			<-g.proxy.joined // by a new connection
			g.script.Go("two")
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(g.ledger(id), e.numbers(id)); diff != "" {
				t.Errorf("the client's transcript is not the ledger (-ledger +client):\n%s", diff)
			}
			if e.saw("user_message_chunk") {
				t.Error("the client was shown its own words")
			}
			if err := e.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManyCuts breaks connections at random points of turns in several sessions.
func TestManyCuts(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	g := newGate(t)
	e := g.open(bridge.Options{})
	e.hello()
	ids := []string{e.newSession(g.dir), e.newSession(g.dir), e.newSession(g.dir)}
	for round := range 15 {
		var turns []<-chan error
		for _, id := range ids {
			turns = append(turns, e.begin(id, fmt.Sprintf("chunks 30\ntool t%d\nchunks 30", round)))
		}
		switch random.IntN(3) {
		case 0:
			g.proxy.reset()
		default:
			g.proxy.cutAfter(1 + random.IntN(20_000))
		}
		for i, done := range turns {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if n := e.said(ids[i], `"29 "`); n != 2*(round+1) {
				t.Errorf("round %d: the answer came after %d of the %d last chunks", round, n, 2*(round+1))
			}
		}
	}
	for _, id := range ids {
		if diff := cmp.Diff(g.ledger(id), e.numbers(id)); diff != "" {
			t.Errorf("the client's transcript is not the ledger (-ledger +client):\n%s", diff)
		}
	}
}

// TestOpenRequestsOutliveTheConnection: the client is asked once, and its answer
// counts once, whenever it is given.
func TestOpenRequestsOutliveTheConnection(t *testing.T) {
	yes := jsontext.Value(`{"outcome":{"outcome":"selected","optionId":"yes"}}`)
	t.Run("answered after", func(t *testing.T) {
		g := newGate(t)
		e := g.open(bridge.Options{})
		e.hello()
		id := e.newSession(g.dir)
		done := e.begin(id, "ask")
		q := e.request(0)
		<-g.proxy.joined
		g.proxy.reset()
		<-g.proxy.joined
		e.must("session/list", `{}`) // the new connection is in use
		if err := q.Reply(yes); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		e.until("yes")
		if len(e.asked) != 1 {
			t.Errorf("asked %d times", len(e.asked))
		}
	})
	t.Run("answered meanwhile", func(t *testing.T) {
		g := newGate(t)
		e := g.open(bridge.Options{})
		e.hello()
		id := e.newSession(g.dir)
		done := e.begin(id, "ask")
		q := e.request(0)
		g.proxy.refuse(true)
		g.proxy.reset()
		if err := q.Reply(yes); err != nil {
			t.Fatal(err)
		}
		g.proxy.refuse(false)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		e.until("yes")
		if len(e.asked) != 1 {
			t.Errorf("asked %d times", len(e.asked))
		}
	})
	t.Run("settled meanwhile", func(t *testing.T) {
		g := newGate(t)
		e, other := g.open(bridge.Options{}), g.open(bridge.Options{Target: g.target})
		e.hello()
		other.hello()
		id := e.newSession(g.dir)
		done := e.begin(id, "ask\nwait more")
		q := e.request(0)
		g.proxy.refuse(true)
		g.proxy.reset()
		g.proxy.refuse(false)
		other.must("session/load", `{"sessionId":"`+id+`","cwd":"`+g.dir+`","mcpServers":[]}`)
		if err := other.request(0).Reply(yes); err != nil {
			t.Fatal(err)
		}
		select {
		case <-q.ctx.Done(): // withdrawn
		case <-time.After(patience):
			t.Error("the request stays open with the client")
		}
		_ = q.Reply(yes) // as a client may, too late
		g.script.Go("more")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

// TestCancelOutlivesTheConnection: a cancel given while there is no connection
// ends the turn.
func TestCancelOutlivesTheConnection(t *testing.T) {
	g := newGate(t)
	e := g.open(bridge.Options{})
	e.hello()
	id := e.newSession(g.dir)
	call, err := e.conn.Go(t.Context(), acp.ID{}, "session/prompt", jsontext.Value(prompt(id, "say here\nwait never")))
	if err != nil {
		t.Fatal(err)
	}
	e.until("here")
	g.proxy.refuse(true)
	g.proxy.reset()
	if err := e.conn.Notify(t.Context(), "session/cancel", jsontext.Value(`{"sessionId":"`+id+`"}`)); err != nil {
		t.Fatal(err)
	}
	g.proxy.refuse(false)
	result, err := call.Wait(t.Context())
	if err != nil || !strings.Contains(string(result), `"cancelled"`) {
		t.Errorf("%s, %v", result, err)
	}
}

// TestBound gives up after the bound, says so, and goes on when the gateway is
// there again.
func TestBound(t *testing.T) {
	g := newGate(t)
	e := g.open(bridge.Options{Bound: 200 * time.Millisecond})
	e.hello()
	id := e.newSession(g.dir)
	done := e.begin(id, "say here\nwait on\nsay there")
	e.until("here")
	g.proxy.refuse(true)
	g.proxy.reset()
	err := <-done
	fault := (*acp.Error)(nil)
	if !errors.As(err, &fault) || !strings.Contains(string(fault.Data), "gateway_unreachable") {
		t.Errorf("the prompt's answer is %v", err)
	}
	e.until("The gateway cannot be reached")
	g.proxy.refuse(false)
	g.script.Go("on")
	e.must("session/list", `{}`)
	e.until("there")
	if diff := cmp.Diff(g.ledger(id), e.numbers(id)); diff != "" {
		t.Errorf("(-ledger +client):\n%s", diff)
	}
	if err := e.end(); !errors.Is(err, bridge.ErrUnfinished) {
		t.Errorf("the end is %v", err)
	}
}

// TestTooLargeForTheGateway: the request fails that is too large, and nothing
// else (W4).
func TestTooLargeForTheGateway(t *testing.T) {
	g := newGate(t)
	e := g.open(bridge.Options{})
	e.hello()
	id := e.newSession(g.dir)
	fault := e.fails("session/prompt", prompt(id, "say "+strings.Repeat("x", 2<<20)))
	if !strings.Contains(fault.Message, "acp.max_message_bytes") {
		t.Errorf("the error is %q", fault.Message)
	}
	e.must("session/prompt", prompt(id, "say "+strings.Repeat("x", 600<<10)))
}

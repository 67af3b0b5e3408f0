package fieldtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// seqOf is the ledger's number of an update, 0 where it has none.
func seqOf(m Message) uint64 {
	var p struct {
		Meta struct {
			Grapnel struct {
				Seq uint64 `json:"seq"`
			} `json:"grapnel"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p) // what is missing stays empty
	return p.Meta.Grapnel.Seq
}

// chunks are the texts of the agent's message, and the greatest number seen.
func (c *Client) chunks(session string) (texts []string, last uint64) {
	for _, m := range c.Messages() {
		u, ok := m.Update()
		if !ok || u.Session != session {
			continue
		}
		last = max(last, seqOf(m))
		if u.Kind == "agent_message_chunk" {
			texts = append(texts, u.Text)
		}
	}
	return texts, last
}

func (c *Client) awaitChunks(session string, n int) {
	c.t.Helper()
	seen := 0
	c.Await(0, fmt.Sprintf("%d chunks", n), func(m Message) bool {
		u, ok := m.Update()
		if ok && u.Session == session && u.Kind == "agent_message_chunk" {
			seen++
		}
		return seen >= n
	})
}

func TestW1ADropLosesNothingAndRepeatsNothing(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	whole := g.Connect(Dial{})
	whole.Init()
	s := whole.New()
	dropped := g.Connect(Dial{})
	dropped.Init()
	dropped.Must("session/load", w.LoadParams(s), nil)
	id := whole.BeginPrompt(s, "D:CHUNKS 300,10,5")
	dropped.awaitChunks(s, 100)
	dropped.Reset()
	<-dropped.Ended
	first, last := dropped.chunks(s)
	whole.awaitChunks(s, 200) // the turn goes on meanwhile
	back := g.Connect(Dial{})
	back.Init()
	params := w.LoadParams(s)
	params["_meta"] = object{"grapnel": object{"after": last}}
	back.Must("session/resume", params, nil)
	if got := whole.Response(id).StopReason(); got != "end_turn" {
		t.Fatalf("the turn ended by %s", got)
	}
	all, end := whole.chunks(s)
	back.Await(0, "the last update", func(m Message) bool { return seqOf(m) >= end })
	rest, _ := back.chunks(s)
	if got, want := strings.Join(slices.Concat(first, rest), ""), strings.Join(all, ""); got != want || !strings.Contains(want, "300") {
		t.Errorf("before and after the drop:\n%s\nthe one that stayed:\n%s", got, want)
	}
	g.Stop()
}

// TestW1NobodyAttached: with everyone gone the turn runs on, its answer is there
// for who comes back, and a permission waits for them.
func TestW1NobodyAttached(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	a := g.Connect(Dial{})
	a.Init()
	s := a.New()
	a.BeginPrompt(s, "D:CHUNKS 50,10,20\nD:TOOL write here.txt x\nD:SAY done")
	a.awaitChunks(s, 5)
	_, last := a.chunks(s)
	a.Reset()
	<-a.Ended
	b := g.Connect(Dial{})
	b.Init()
	params := w.LoadParams(s)
	params["_meta"] = object{"grapnel": object{"after": last}}
	b.Must("session/resume", params, nil)
	b.Choose(b.AwaitPermission(0), "allow_once")
	b.AwaitUpdate(s, 0, "the rest of the turn", func(u Update) bool { return u.Text == "done" })
	if fileSize(filepath.Join(w.Cwd, "here.txt")) == 0 {
		t.Error("what was allowed after the drop was not done")
	}
}

// TestAPromptAsTheLastWord: what a client sent before it closed its side is done.
func TestAPromptAsTheLastWord(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	for i := range 10 {
		c := g.Connect(Dial{})
		c.Init()
		s := c.New()
		c.BeginPrompt(s, fmt.Sprintf("D:SAY answer %d", i))
		c.Hangup()
		<-c.Ended
		back := g.Connect(Dial{})
		back.Init()
		back.Must("session/load", w.LoadParams(s), nil)
		back.AwaitUpdate(s, 0, "the answer", func(u Update) bool { return u.Text == fmt.Sprintf("answer %d", i) })
		back.Must("session/close", object{"sessionId": s}, nil)
	}
}

func TestW6ClientsUseTheSameIDs(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	var wg sync.WaitGroup
	for i := range 4 {
		c := g.Connect(Dial{})
		c.next = 0
		c.Init()
		s := c.New()
		text := fmt.Sprintf("this is client %d", i)
		wg.Go(func() {
			for range 5 {
				from := c.Lines()
				c.Send(Request(`"1"`, "session/list", object{}))
				id := c.BeginPrompt(s, "D:CHUNKS 20,5,1\nD:SAY "+text)
				if got := c.Response(id).StopReason(); got != "end_turn" {
					t.Errorf("client %d: %s", i, got)
				}
				for _, m := range c.Messages()[from:] {
					if u, ok := m.Update(); ok && u.Session != s {
						t.Errorf("client %d got an update of session %s", i, u.Session)
					}
				}
				if said := c.Said(s, from); !strings.HasSuffix(said, text) || strings.Count(said, "client") != 1 {
					t.Errorf("client %d was told %q", i, said)
				}
			}
		})
	}
	wg.Wait()
}

func TestW7OneAnswerCounts(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	a, b := g.Connect(Dial{}), g.Connect(Dial{})
	a.Init()
	b.Init()
	s := a.New()
	b.Must("session/load", w.LoadParams(s), nil)
	id := a.BeginPrompt(s, "D:TOOL write pwn.txt x\nD:SAY done")
	pa, pb := a.AwaitPermission(0), b.AwaitPermission(0)
	a.Choose(pa, "reject_once")
	b.Await(0, "word that the request is resolved", func(m Message) bool { return m.Method == "$/cancel_request" })
	b.Choose(pb, "allow_once") // too late
	if got := a.Response(id).StopReason(); got != "end_turn" {
		t.Error(got)
	}
	if fileSize(filepath.Join(w.Cwd, "pwn.txt")) > 0 {
		t.Error("the file was written although the first answer was no")
	}
}

func TestX2CancelRightBehindThePromptOverAGateway(t *testing.T) {
	g := NewWorld(t).Gateway()
	c := g.Connect(Dial{})
	c.Init()
	s := c.New()
	for i := range 100 {
		id := c.BeginPrompt(s, "D:STALL")
		c.Cancel(s)
		if got := c.Response(id).StopReason(); got != "cancelled" {
			t.Fatalf("round %d: %s", i, got)
		}
	}
}

// TestX5X6OverAGateway: what precedes an answer comes before it, and a burst ends
// no connection, with a client that takes its time as with one that does not.
func TestX5X6OverAGateway(t *testing.T) {
	g := NewWorld(t).Gateway()
	c := g.Connect(Dial{})
	c.Init()
	s := c.New()
	for range 10 {
		from := c.Lines()
		answer := c.Response(c.BeginPrompt(s, "D:CHUNKS 2000,12,0"))
		if answer.StopReason() != "end_turn" {
			t.Fatal(answer.StopReason())
		}
		for _, u := range c.Updates(s, from) {
			if u.Kind == "agent_message_chunk" && u.Line > answer.Line {
				t.Fatalf("chunk %q came after the answer", u.Text)
			}
		}
		said := c.Said(s, from)
		if !strings.Contains(said, "2000") || c.Lines()-from < 2 {
			t.Fatalf("only %d bytes came: …%.60s", len(said), said[max(0, len(said)-60):])
		}
	}
}

// awaitDraining waits until the gateway says that it drains.
func (g *Gateway) awaitDraining() {
	g.tb.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		resp, err := http.Get(g.URL + "/health")
		if err != nil {
			g.tb.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusServiceUnavailable {
			return
		}
	}
	g.tb.Fatal("the gateway does not drain")
}

// newParams are the params of session/new.
func (w *World) newParams() object { return object{"cwd": w.Cwd, "mcpServers": []any{}} }

// TestDrainLetsATurnEnd: whoever waits for a turn gets its answer before the
// connection goes away, with the reason; new turns are refused meanwhile.
func TestDrainLetsATurnEnd(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	c, editor := g.Connect(Dial{}), w.Start()
	c.Init()
	s := c.New()
	editor.Init() // and attaches through the instance's socket
	editor.Must("session/load", w.LoadParams(s), nil)
	id := c.BeginPrompt(s, "D:CHUNKS 60,10,20\nD:SAY the very end")
	c.awaitChunks(s, 5)
	g.Signal(syscall.SIGTERM)
	g.awaitDraining()
	if m := c.Call("session/new", w.newParams()); m.Error == nil || !strings.Contains(m.Error.Message, "shutting down") {
		t.Errorf("a new session: %+v", m)
	}
	if m := c.Prompt(s, "D:SAY no"); m.Error == nil || !strings.Contains(m.Error.Message, "shutting down") {
		t.Errorf("a new turn: %+v", m)
	}
	if _, resp, err := g.TryConnect(Dial{}); err == nil || resp == nil || resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a new connection: %v %v", resp, err)
	}
	if got := c.Response(id).StopReason(); got != "end_turn" {
		t.Errorf("the turn ended by %s", got)
	}
	if said := c.Said(s, 0); !strings.HasSuffix(said, "the very end") {
		t.Errorf("said …%.40s", said[max(0, len(said)-40):])
	}
	if code, reason := c.Closed(); code != 1001 || reason != "the gateway is shutting down" {
		t.Errorf("closed by %d %q", code, reason)
	}
	editor.AwaitUpdate(s, 0, "the end of the turn", func(u Update) bool { return strings.HasSuffix(u.Text, "the very end") })
	if code := g.WaitExit(); code != 0 {
		t.Errorf("exit code %d\n%s", code, g.Stderr())
	}
}

// TestASecondSignalEndsAtOnce: a turn that would run on is cut short.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	g := NewWorld(t).Gateway()
	c := g.Connect(Dial{})
	c.Init()
	s := c.New()
	idle := c.New()
	id := c.BeginPrompt(s, "D:CHUNKS 1,10,0\nD:STALL")
	c.awaitChunks(s, 1)
	begun := time.Now()
	g.Signal(syscall.SIGTERM)
	g.awaitDraining()
	if m := c.Prompt(idle, "D:SAY no"); m.Error == nil || !strings.Contains(m.Error.Message, "shutting down") {
		t.Errorf("a turn of an idle session: %+v", m)
	}
	g.Signal(syscall.SIGTERM)
	if got := c.Response(id).StopReason(); got != "cancelled" {
		t.Error(got)
	}
	if code := g.WaitExit(); code != 0 || time.Since(begun) > 20*time.Second {
		t.Errorf("exit code %d after %v", code, time.Since(begun))
	}
}

// TestAChangedFileIsInForceByItself: nobody has to send a signal.
func TestAChangedFileIsInForceByItself(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	page := Dial{Header: http.Header{"Origin": {"https://chat.example.com"}}}
	if _, resp, err := g.TryConnect(page); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Fatalf("a foreign page: %v %v", resp, err)
	}
	running := g.Connect(Dial{})
	running.Init()
	s := running.New()
	id := running.BeginPrompt(s, "D:CHUNKS 1,5,0\nD:STALL")
	running.awaitChunks(s, 1)
	w.ConfigureFake("[gateway]", `allowed_origins = ["https://chat.example.com"]`)
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, _, err := g.TryConnect(page); err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the origin is not let in\n%s", g.Stderr())
		}
	}
	running.Cancel(s)
	if got := running.Response(id).StopReason(); got != "cancelled" {
		t.Errorf("the turn that ran meanwhile: %s", got)
	}
}

// TestZ2OpenToOthersWithACredential: asked for, and with a credential, it listens
// everywhere.
func TestZ2OpenToOthersWithACredential(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway("--host", "0.0.0.0", "--insecure-bind")
	c := g.Connect(Dial{})
	c.Init()
	if !strings.HasPrefix(g.URL, "http://127.0.0.1:") {
		t.Errorf("clients of this machine are sent to %s", g.URL)
	}
	for _, header := range []http.Header{
		{}, {"Authorization": {"Bearer "}}, {"Authorization": {"Bearer " + Token[:8]}}, {"Authorization": {"Bearer " + Token + "x"}},
	} {
		_, resp, err := g.TryConnect(Dial{Anonymous: true, Header: header})
		if err == nil || resp == nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%v: %v %v", header, resp, err)
		}
	}
}

// TestWhoQuitsLetsOthersFinish: a process that ends tells clients on its socket
// the end of what they wait for before it cuts them off.
func TestWhoQuitsLetsOthersFinish(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	a.Prompt(s, "D:SAY stored")
	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	id := b.BeginPrompt(s, "D:CHUNKS 20,5,20\nD:SAY the very end")
	a.AwaitUpdate(s, a.Lines(), "a chunk", func(u Update) bool { return u.Kind == "agent_message_chunk" })
	a.Quit()
	if m := b.Response(id); m.StopReason() != "end_turn" {
		t.Errorf("the turn ended by %s", m.StopReason())
	}
	if said := b.Said(s, 0); !strings.HasSuffix(said, "the very end") {
		t.Errorf("said …%.40s", said[max(0, len(said)-40):])
	}
}

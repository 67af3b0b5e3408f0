package hub_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
	"github.com/grapnel-ai/grapnel/internal/session/sessiontest"
)

// inTime runs a test on a clock of its own. Sessions are closed before it ends:
// nothing of them may be left in the bubble.
func inTime(t *testing.T, limits actor.Limits, f func(*sessiontest.Env)) {
	synctest.Test(t, func(t *testing.T) {
		f(sessiontest.NewEnv(t, memory.New(), hub.Limits{Limits: limits}))
	})
}

func TestX1DeafDriverIsGivenUpInTime(t *testing.T) {
	inTime(t, actor.Limits{Settle: 1500 * time.Millisecond}, func(e *sessiontest.Env) {
		c := e.New()
		p := c.Send("deaf go")
		e.Script.UntilSeen(1)
		start := time.Now()
		if err := c.Cancel(e.Context()); err != nil {
			e.Fatal(err)
		}
		c.End(p.Turn)
		if took := time.Since(start); took != 1500*time.Millisecond {
			e.Errorf("answered after %v", took)
		}
		e.Script.Go("go")
	})
}

func TestP10RequestExpires(t *testing.T) {
	inTime(t, actor.Limits{Ask: time.Hour}, func(e *sessiontest.Env) {
		c := e.New()
		start := time.Now()
		p := c.Send("ask")
		c.UntilText("ask withdrawn expired")
		c.End(p.Turn)
		if took := time.Since(start); took != time.Hour {
			e.Errorf("expired after %v", took)
		}
	})
}

func TestApproverMayComeBackWithinTheGrace(t *testing.T) {
	inTime(t, actor.Limits{AskGrace: time.Minute}, func(e *sessiontest.Env) {
		c := e.New()
		id := c.Info().ID
		p := c.Send("ask\nask")
		request := c.UntilKind(session.KindPermission)
		c.Detach()
		time.Sleep(30 * time.Second)
		back := e.Join(id, sessiontest.Approver(session.ReplayNone))
		time.Sleep(time.Hour)
		if ok, err := back.Answer(e.Context(), session.Verdict{Request: request.ID, Outcome: session.Selected, Option: "yes"}); !ok || err != nil {
			e.Errorf("%v, %v", ok, err)
		}
		back.UntilKind(session.KindPermission)
		start := time.Now()
		watcher := e.Join(id, session.AttachRequest{Role: session.Observer})
		back.Detach()
		watcher.UntilText("ask withdrawn nobody_able")
		if took := time.Since(start); took != time.Minute {
			e.Errorf("denied after %v", took)
		}
		watcher.End(p.Turn)
	})
}

// A turn gets the whole grace each time the last client leaves.
func TestTurnGraceBeginsAnew(t *testing.T) {
	inTime(t, actor.Limits{TurnGrace: time.Minute}, func(e *sessiontest.Env) {
		c := e.New()
		id := c.Info().ID
		c.Send("wait never")
		c.Detach()
		time.Sleep(50 * time.Second)
		e.Join(id, sessiontest.Approver(session.ReplayNone)).Detach()
		left := time.Now()
		if err := e.Hub.Stop(e.Context(), id); err != nil { // it waits for the turn
			e.Fatal(err)
		}
		if took := time.Since(left); took < time.Minute {
			e.Errorf("the turn was cancelled after %v", took)
		}
	})
}

func TestFourFramesASecond(t *testing.T) {
	inTime(t, actor.Limits{}, func(e *sessiontest.Env) {
		c := e.New()
		sink := e.Script.Opened()[0].Req.Sink
		p := c.Send("open a\nwait go")
		c.UntilKind(session.KindToolCall)
		start := time.Now()
		frame := func(i int) {
			u := fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":"a","content":[{"n":%d}],"_meta":{"x":1}}`, i)
			if err := sink.Emit(e.Context(), session.Draft{Version: 1, Body: sessiontest.Params("s", u)}); err != nil {
				e.Fatal(err)
			}
		}
		// One frame every 10 ms for two seconds, then silence.
		for i := range 200 {
			frame(i)
			time.Sleep(10 * time.Millisecond)
		}
		e.Script.Go("go")
		c.End(p.Turn)
		var at []time.Duration
		last := ""
		for _, ev := range c.Events {
			if ev.Kind == session.KindToolUpdate && ev.Origin == session.FromDriver {
				at = append(at, ev.Time.Sub(start))
				last = string(ev.Body)
			}
		}
		if len(at) != 9 || at[0] != 0 {
			e.Errorf("%d frames at %v, want one at once and four a second", len(at), at)
		}
		if !strings.Contains(last, `"n":199`) {
			e.Errorf("the last frame is %s", last)
		}
	})
}

func TestFramesThatSayDifferentThingsAreKept(t *testing.T) {
	inTime(t, actor.Limits{}, func(e *sessiontest.Env) {
		c := e.New()
		sink := e.Script.Opened()[0].Req.Sink
		p := c.Send("open a\nwait go")
		c.UntilKind(session.KindToolCall)
		for _, members := range []string{
			`"content":[1]`, `"content":[2]`, `"title":"kept until covered"`, `"content":[3],"title":"covers both"`,
			`"content":[4],"_meta":{"delta":1}`, `"content":[5],"_meta":{"delta":2}`, `"content":[6],"vendor":1`, `"content":[7],"vendor":2`,
		} {
			u := `{"sessionUpdate":"tool_call_update","toolCallId":"a",` + members + `}`
			if err := sink.Emit(e.Context(), session.Draft{Version: 1, Body: sessiontest.Params("s", u)}); err != nil {
				e.Fatal(err)
			}
		}
		e.Script.Go("go")
		c.End(p.Turn)
		var got []string
		for _, ev := range c.Events {
			if ev.Kind == session.KindToolUpdate && ev.Origin == session.FromDriver {
				_, members, _ := strings.Cut(string(ev.Body), `"toolCallId":"a",`)
				got = append(got, strings.TrimSuffix(members, "}}"))
			}
		}
		want := []string{
			`"content":[1]`, `"content":[3],"title":"covers both"`, `"content":[4],"_meta":{"delta":1}`,
			`"content":[5],"_meta":{"delta":2}`, `"content":[6],"vendor":1`, `"content":[7],"vendor":2`,
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			e.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestIdleSessionIsParkedInTime(t *testing.T) {
	inTime(t, actor.Limits{Idle: time.Hour, Ask: 10 * time.Hour}, func(e *sessiontest.Env) {
		c := e.New()
		c.Say("say x")
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		c.Say("say y") // begins the hour anew
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		if e.Hub.Active() != 1 {
			e.Fatal("parked too early")
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if e.Hub.Active() != 0 {
			e.Fatal("not parked")
		}
		select {
		case <-e.Script.Opened()[0].Closed():
		default:
			e.Error("a parked session keeps its agent")
		}
		if s, err := e.Hub.Status(e.Context(), c.Info().ID); err != nil || s.Active {
			e.Errorf("status: %+v, %v", s, err)
		}
		p := c.Send("ask")
		c.UntilKind(session.KindPermission)
		time.Sleep(9 * time.Hour)
		synctest.Wait()
		if e.Hub.Active() != 1 {
			e.Error("parked with an open request")
		}
		_ = c.Cancel(e.Context())
		c.End(p.Turn)
	})
}

func TestParkedSessionWithoutClientsIsForgotten(t *testing.T) {
	inTime(t, actor.Limits{Idle: time.Hour}, func(e *sessiontest.Env) {
		c := e.New()
		id := c.Info().ID
		c.Detach()
		if err := c.Step(e.Context()); err != nil && !errors.Is(err, io.EOF) {
			e.Fatal(err)
		}
		time.Sleep(61 * time.Minute)
		synctest.Wait()
		if err := e.Hub.Close(e.Context(), id); !errors.Is(err, session.ErrNotActive) {
			e.Errorf("close: %v, want ErrNotActive", err)
		}
		again := e.Join(id, sessiontest.Approver(session.ReplayHistory))
		again.Say("say back")
	})
}

// TestWordsOfAnAbandonedEpochAreDropped lets a driver speak just before its
// epoch ends, while the session is waiting for the store.
func TestWordsOfAnAbandonedEpochAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewFlaky(memory.New())
		e := sessiontest.NewEnv(t, f, hub.Limits{Limits: actor.Limits{Settle: time.Second}})
		c := e.New()
		p := c.Send("deaf go\nsay late\nopen late\nask")
		e.Script.UntilSeen(1)
		if err := c.Cancel(e.Context()); err != nil {
			e.Fatal(err)
		}
		release := f.Hold()
		recorded := make(chan error, 1)
		go func() { recorded <- c.Record(e.Context(), sessiontest.Params("s", `{"sessionUpdate":"x"}`)) }()
		synctest.Wait() // the actor waits for the store
		e.Script.Go("go")
		time.Sleep(2 * time.Second) // what was said waits; the epoch is over by now
		synctest.Wait()
		release()
		if err := <-recorded; err != nil {
			e.Error(err)
		}
		if end := c.End(p.Turn); end.Stop != session.Cancelled {
			e.Errorf("got %+v", end)
		}
		c.Say("say next")
		if got := sessiontest.Transcript(e.Read(c.Info().ID)); strings.Contains(got, "agent: late") || strings.Contains(got, "tool_call") {
			e.Errorf("the ledger has\n%s", got)
		}
		e.CheckLedger(c.Info().ID)
	})
}

// TestStoreComesBackByItself leaves a prompt waiting while the store fails.
func TestStoreComesBackByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewFlaky(memory.New())
		e := sessiontest.NewEnv(t, f, hub.Limits{})
		c := e.New()
		p, q := c.Send("wait go\nsay lost"), c.Send("say queued")
		f.Fail(errors.New("disk full"))
		e.Script.Go("go")
		if end := c.End(p.Turn); end.Error == nil {
			e.Errorf("got %+v", end)
		}
		time.Sleep(time.Minute)
		f.Fail(nil)
		if end := c.End(q.Turn); end.Stop != session.EndTurn {
			e.Errorf("the prompt that waited: %+v", end)
		}
		e.CheckLedger(c.Info().ID)
	})
}

// A command that stops everything is answered at once, also where the agent does
// not listen.
func TestStopCommandDoesNotWaitForADeafAgent(t *testing.T) {
	inTime(t, actor.Limits{Settle: 1500 * time.Millisecond}, func(e *sessiontest.Env) {
		c := e.New()
		deaf, queued := c.Send("deaf go"), c.Send("say never")
		e.Script.UntilSeen(1)
		start := time.Now()
		c.End(c.Send("/halt").Turn)
		c.End(queued.Turn)
		if took := time.Since(start); took != 0 {
			e.Errorf("the command was answered after %v", took)
		}
		if end := c.End(deaf.Turn); end.Stop != session.Cancelled || time.Since(start) != 1500*time.Millisecond {
			e.Errorf("the turn ended with %+v after %v", end, time.Since(start))
		}
		e.Script.Go("go")
		if n := len(e.Script.Seen()); n != 1 {
			e.Errorf("%d prompts reached the agent", n)
		}
	})
}

// An aside keeps a session from being parked no longer than it takes.
func TestCommandsAndParking(t *testing.T) {
	inTime(t, actor.Limits{Idle: time.Hour}, func(e *sessiontest.Env) {
		c := e.New()
		p := c.Send("wait go")
		e.Script.UntilSeen(1)
		c.End(c.Send("/echo x").Turn)
		e.Script.Go("go")
		c.End(p.Turn)
		time.Sleep(61 * time.Minute)
		synctest.Wait()
		if e.Hub.Active() != 0 {
			e.Error("not parked")
		}
	})
}

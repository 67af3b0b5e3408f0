package sessiontest

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

func lifeContracts() []contract {
	two := hub.Limits{Sessions: 2}
	parking := hub.Limits{Limits: actor.Limits{Idle: 5 * time.Millisecond}}
	grace := hub.Limits{Limits: actor.Limits{TurnGrace: 5 * time.Millisecond}}
	return []contract{
		{name: "S6_UnknownSessions", test: testUnknown},
		{name: "Close", test: testClose},
		{name: "CloseCancelsTheTurn", test: testCloseRunning},
		{name: "StopWaitsForTheTurn", test: testStop},
		{name: "StopNobodyWaitsFor", test: testStopAlone},
		{name: "StopRefusesPromptsAtOnce", test: testStopRefuses},
		{name: "CloseWhileStopping", test: testCloseWhileStopping},
		{name: "Delete", test: testDelete},
		{name: "SessionLimit", limits: two, test: testLimit},
		{name: "SessionLimitUnattached", limits: two, test: testLimitUnattached},
		{name: "Subagents", limits: two, test: testSubagents},
		{name: "S4_InterruptedTurn", test: testInterrupted},
		{name: "S12_LoadingChangesNothing", test: testLoadingChangesNothing},
		{name: "S13_OtherDirectory", test: testMove},
		{name: "S18_ConfigIsRestored", test: testConfig},
		{name: "Titles", test: testTitles},
		{name: "Archive", test: testArchive},
		{name: "Fork", test: testFork},
		{name: "Drain", test: testDrain},
		{name: "DrainCancelsWhatTakesTooLong", test: testDrainLong},
		{name: "IdleSessionsArePark", limits: parking, test: testParking},
		{name: "TurnGrace", limits: grace, test: testTurnGrace},
		{name: "E6_SlowOpeningBlocksNobody", test: testSlowOpen},
		{name: "OwnersAreApart", test: testOwners},
		{name: "ScopesAreApart", test: testScope},
		{name: "Shared", test: testShared},
		{name: "UnsharedQueue", test: testUnsharedQueue},
		{name: "ShareTakenBack", test: testShareTakenBack},
		{name: "ShareTakenBackWhileParked", test: testShareTakenBackParked},
		{name: "Keys", test: testSessionKeys},
		{name: "KeyOnceForAll", test: testKeyRace},
		{name: "Reset", test: testReset},
		{name: "Labels", test: testLabels},
	}
}

func testUnknown(e *Env) {
	ctx := e.Context()
	_, attach := e.Hub.Attach(ctx, "../../etc/passwd", Approver(session.ReplayNone))
	_, status := e.Hub.Status(ctx, "nope")
	_, fork := e.Hub.Fork(ctx, "nope", hub.NewSession{Owner: "local", Agent: "main"})
	for name, err := range map[string]error{
		"attach": attach, "status": status, "fork": fork, "close": e.Hub.Close(ctx, "nope"), "stop": e.Hub.Stop(ctx, "nope"),
		"title": e.Hub.SetTitle(ctx, "nope", "x"), "archive": e.Hub.Archive(ctx, "nope", true),
	} {
		if !errors.Is(err, session.ErrNotFound) {
			e.Errorf("%s: got %v, want ErrNotFound", name, err)
		}
	}
	if err := e.Hub.Delete(ctx, "nope"); err != nil {
		e.Errorf("delete: %v", err)
	}
	if list, _, _ := e.Hub.List(ctx, session.Filter{Archived: session.IncludeArchived}, "", 10); len(list) != 0 {
		e.Errorf("sessions came of it: %v", list)
	}
}

func testClose(e *Env) {
	c := e.New()
	id := c.Info().ID
	c.Say("say x")
	if err := e.Hub.Close(e.Context(), id); err != nil {
		e.Fatal(err)
	}
	c.Drain()
	if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say y")}); !errors.Is(err, session.ErrNotActive) {
		e.Errorf("prompt: got %v, want ErrNotActive", err)
	}
	if err := e.Hub.Close(e.Context(), id); !errors.Is(err, session.ErrNotActive) {
		e.Errorf("again: got %v, want ErrNotActive", err)
	}
	if s, err := e.Hub.Status(e.Context(), id); err != nil || s.Active {
		e.Errorf("status: %+v, %v", s, err)
	}
	if e.Hub.Active() != 0 {
		e.Errorf("%d sessions are active", e.Hub.Active())
	}
	<-e.Script.Opened()[0].Closed()
	again := e.Join(id, Approver(session.ReplayNone))
	if end := again.Say("say z"); end.Stop != session.EndTurn {
		e.Errorf("after a load: %+v", end)
	}
	e.CheckLedger(id)
}

func testCloseRunning(e *Env) {
	c := e.New()
	p, q := c.Send("open a\nwait never"), c.Send("say queued")
	c.UntilKind(session.KindToolCall)
	if err := e.Hub.Close(e.Context(), c.Info().ID); err != nil {
		e.Fatal(err)
	}
	c.Drain()
	for _, turn := range []string{p.Turn, q.Turn} {
		if end := c.End(turn); end.Stop != session.Cancelled {
			e.Errorf("got %+v", end)
		}
	}
	e.CheckLedger(c.Info().ID)
}

func testStop(e *Env) {
	c := e.New()
	p, q := c.Send("wait go\nsay done"), c.Send("say queued")
	stopped := make(chan error, 1)
	go func() { stopped <- e.Hub.Stop(background(), c.Info().ID) }()
	if end := c.End(q.Turn); end.Stop != session.Cancelled {
		e.Errorf("the queued one: %+v", end)
	}
	select {
	case err := <-stopped:
		e.Fatalf("stopped before the turn's end: %v", err)
	default:
	}
	e.Script.Go("go")
	if end := c.End(p.Turn); end.Stop != session.EndTurn {
		e.Errorf("the running one: %+v", end)
	}
	if err := <-stopped; err != nil {
		e.Error(err)
	}
	c.Drain()
}

// testStopRefuses prompts a session that is being stopped: the prompt does not
// wait for the turn's end, which a cancel may have to bring.
func testStopRefuses(e *Env) {
	c := e.New()
	p, q := c.Send("wait never"), c.Send("say queued")
	stopped := make(chan error, 1)
	go func() { stopped <- e.Hub.Stop(background(), c.Info().ID) }()
	c.End(q.Turn) // cancelled: stopping has begun
	if _, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say late")}); !errors.Is(err, session.ErrNotActive) {
		e.Errorf("prompt: got %v, want ErrNotActive", err)
	}
	if err := c.Cancel(e.Context()); err != nil {
		e.Error(err)
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		e.Errorf("got %+v", end)
	}
	if err := <-stopped; err != nil {
		e.Error(err)
	}
	c.Drain()
}

// testStopAlone gives up waiting for a stop, which goes on all the same.
func testStopAlone(e *Env) {
	c := e.New()
	p := c.Send("wait go\nsay done")
	ctx, cancel := context.WithCancel(e.Context())
	cancel()
	if err := e.Hub.Stop(ctx, c.Info().ID); !errors.Is(err, context.Canceled) {
		e.Errorf("got %v", err)
	}
	e.Script.Go("go")
	c.Drain()
	if end := c.End(p.Turn); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
	again := e.Join(c.Info().ID, Approver(session.ReplayNone))
	if end := again.Say("say x"); end.Stop != session.EndTurn {
		e.Errorf("got %+v", end)
	}
}

func testDelete(e *Env) {
	c := e.New()
	id := c.Info().ID
	c.Send("wait never")
	for range 2 {
		if err := e.Hub.Delete(e.Context(), id); err != nil {
			e.Fatal(err)
		}
	}
	for {
		if err := c.Step(e.Context()); err != nil {
			if !errors.Is(err, io.EOF) {
				e.Errorf("next: %v", err)
			}
			break
		}
	}
	if _, err := e.Hub.Attach(e.Context(), id, Approver(session.ReplayNone)); !errors.Is(err, session.ErrNotFound) {
		e.Errorf("attach: %v", err)
	}
}

func testLimit(e *Env) {
	a, b := e.New(), e.New()
	n := hub.NewSession{Owner: "local", Agent: "main", Cwd: "/w"}
	if _, err := e.Hub.Create(e.Context(), n); !errors.Is(err, session.ErrSessionLimit) {
		e.Errorf("create: %v", err)
	}
	n.Owner = "other"
	if _, err := e.Hub.Create(e.Context(), n); err != nil {
		e.Errorf("another owner: %v", err)
	}
	e.Join(b.Info().ID, Approver(session.ReplayNone)) // attaching to an active one is free
	if err := e.Hub.Close(e.Context(), a.Info().ID); err != nil {
		e.Fatal(err)
	}
	c := e.New()
	if _, err := e.Hub.Attach(e.Context(), a.Info().ID, Approver(session.ReplayNone)); !errors.Is(err, session.ErrSessionLimit) {
		e.Errorf("load: %v", err)
	}
	if err := e.Hub.Delete(e.Context(), c.Info().ID); err != nil {
		e.Fatal(err)
	}
	e.Join(a.Info().ID, Approver(session.ReplayNone))
}

// testLimitUnattached: a session that nobody is attached to keeps nobody out,
// unless it is at work, and is there as it was.
func testLimitUnattached(e *Env) {
	a, b := e.New(), e.New()
	a.Say("say hello")
	b.Send("wait go")
	b.UntilKind(session.KindTurnStart)
	a.Detach()
	b.Detach()
	c := e.New()
	if _, err := e.Hub.Create(e.Context(), hub.NewSession{Owner: "local", Agent: "main", Cwd: "/w"}); !errors.Is(err, session.ErrSessionLimit) {
		e.Errorf("in the place of one that works or is attached to: %v", err)
	}
	c.Detach()
	again := e.Join(a.Info().ID, Approver(session.ReplayHistory))
	again.UntilText("hello")
	e.Script.Go("go")
}

// testSubagents spawns sessions, which take nobody's place and go with their
// parent, also after a restart.
func testSubagents(e *Env) {
	parent, other := e.New(), e.New()
	spawn := func(id string) *Client {
		a, err := e.Hub.Spawn(e.Context(), session.Info{
			ID: id, Parent: parent.Info().ID, Owner: "local", Agent: "main", Cwd: "/w", Title: "work",
		}, Approver(session.ReplayNone))
		if err != nil {
			e.Fatal(err)
		}
		return Pump(e.T, a)
	}
	child := spawn("s_child")
	child.Say("say hello")
	running := spawn("s_running")
	turn := running.Send("wait never")
	if info := child.Info(); info.ID != "s_child" || !info.Subagent || info.Title != "work" || info.CreatedAt.IsZero() {
		e.Errorf("child %+v", info)
	}
	if list, _, err := e.Hub.List(e.Context(), session.Filter{Owner: "local"}, "", 10); err != nil || len(list) != 2 {
		e.Errorf("listed %d, %v", len(list), err)
	}
	if err := e.Hub.Close(e.Context(), "s_child"); err != nil {
		e.Fatal(err)
	}
	if _, err := e.Hub.Attach(e.Context(), "s_child", Approver(session.ReplayNone)); !errors.Is(err, session.ErrSessionLimit) {
		e.Errorf("one that a person loads counts: %v", err)
	}
	fork, err := e.Hub.Fork(e.Context(), other.Info().ID, hub.NewSession{Owner: "bob"})
	if err != nil {
		e.Fatal(err)
	}
	if err := e.Hub.Delete(e.Context(), parent.Info().ID); err != nil {
		e.Fatal(err)
	}
	if end := running.End(turn.Turn); end.Stop != session.Cancelled {
		e.Errorf("the running one ended %+v", end)
	}
	if err := e.Hub.Delete(e.Context(), other.Info().ID); err != nil {
		e.Fatal(err)
	}
	left, _, err := e.Hub.List(e.Context(), session.Filter{Subagents: true}, "", 10)
	if err != nil || len(left) != 1 || left[0].ID != fork.Info().ID {
		e.Errorf("left are %v, %v", left, err)
	}
}

// testInterrupted kills a process with a turn at work, one asking and one
// waiting.
func testInterrupted(e *Env) {
	c := e.New()
	c.Say("private kept\nsay whole")
	running := c.Send("private part\nopen a\nsay partial\nask")
	queued := c.Send("say never")
	c.UntilKind(session.KindPermission)
	id := c.Info().ID
	e.Restart()
	l := e.Join(id, session.AttachRequest{Role: session.Observer, Replay: session.ReplayAfter})
	for _, turn := range []string{running.Turn, queued.Turn} {
		end := l.End(turn)
		if end.Error == nil || end.Error.Code != -32603 || string(end.Error.Data) != `{"reason":"interrupted"}` {
			e.Errorf("got %+v", end)
		}
	}
	if got := statusOf(l, "a"); got != "failed" {
		e.Errorf("the open call ended %q", got)
	}
	if len(l.Open()) != 0 {
		e.Errorf("open requests: %+v", l.Open())
	}
	e.CheckLedger(id)
	if strings.Contains(strings.Join(e.Script.Seen(), "|"), "never") {
		e.Error("the queued prompt ran")
	}
	next := e.Join(id, Approver(session.ReplayNone))
	next.Say("recall")
	if want := `past: "kept" "part"`; !strings.Contains(next.Transcript(), want) {
		e.Errorf("%s is not in:\n%s", want, next.Transcript())
	}
	// The dead process's driver may still talk; nobody hears it.
	_, err := c.Answer(e.Context(), session.Verdict{Request: "x"})
	if err != nil {
		e.Errorf("answer: %v", err)
	}
	e.CheckLedger(id)
}

func testLoadingChangesNothing(e *Env) {
	c := e.New()
	c.Say("say x\ntitle A title")
	dump := func() []session.Info {
		list, _, err := e.Hub.List(e.Context(), session.Filter{}, "", 10)
		if err != nil {
			e.Fatal(err)
		}
		for i := range list {
			list[i].LastSeq, list[i].Active = 0, false
		}
		return list
	}
	before := dump()
	e.Restart()
	e.Join(c.Info().ID, Approver(session.ReplayHistory))
	if d := cmp.Diff(before, dump()); d != "" {
		e.Error(d)
	}
	if before[0].Title != "A title" {
		e.Errorf("title is %q", before[0].Title)
	}
}

func testMove(e *Env) {
	c := e.New()
	id := c.Info().ID
	req := Approver(session.ReplayNone)
	req.Cwd, req.Roots = "/other", []string{"/r"}
	p := c.Send("wait go")
	var invalid *session.InvalidError
	if _, err := e.Hub.Attach(e.Context(), id, req); !errors.As(err, &invalid) {
		e.Errorf("while a turn runs: %v", err)
	}
	e.Script.Go("go")
	c.End(p.Turn)
	moved := e.Join(id, req)
	moved.Say("where")
	if moved.Info().Cwd != "/other" || !strings.Contains(moved.Transcript(), "agent: /other") {
		e.Errorf("it works in %s:\n%s", moved.Info().Cwd, moved.Transcript())
	}
	c.Say("where") // those attached before stay so
	if !strings.Contains(c.Transcript(), "agent: /other") {
		e.Error("the first client is elsewhere")
	}
	if err := e.Hub.Close(e.Context(), id); err != nil {
		e.Fatal(err)
	}
	again := e.Join(id, Approver(session.ReplayNone)) // no cwd: the stored one
	again.Say("where")
	if !strings.Contains(again.Transcript(), "agent: /other") {
		e.Errorf("after a load: %s", again.Transcript())
	}
}

func testDrain(e *Env) {
	c, idle := e.New(), e.New()
	p, q := c.Send("wait go\nsay one"), c.Send("say two")
	drained := make(chan error, 1)
	go func() { drained <- e.Hub.Drain(background()) }()
	idle.Drain()
	n := hub.NewSession{Owner: "local", Agent: "main", Cwd: "/w"}
	if _, err := e.Hub.Create(e.Context(), n); !errors.Is(err, session.ErrDraining) {
		e.Errorf("create: %v", err)
	}
	e.Script.Go("go")
	for _, turn := range []string{p.Turn, q.Turn} {
		if end := c.End(turn); end.Stop != session.EndTurn {
			e.Errorf("got %+v", end)
		}
	}
	if err := <-drained; err != nil {
		e.Error(err)
	}
	c.Drain()
	if e.Hub.Active() != 0 {
		e.Errorf("%d sessions are active", e.Hub.Active())
	}
}

func testDrainLong(e *Env) {
	c := e.New()
	p, q := c.Send("open a\nask\nwait never"), c.Send("say two")
	c.UntilKind(session.KindPermission)
	ctx, cancel := context.WithCancel(e.Context())
	drained := make(chan error, 1)
	go func() { drained <- e.Hub.Drain(ctx) }()
	cancel()
	if err := <-drained; err != nil {
		e.Error(err)
	}
	c.Drain()
	for _, turn := range []string{p.Turn, q.Turn} {
		if end := c.End(turn); end.Stop != session.Cancelled || end.Reason != "drained" {
			e.Errorf("got %+v", end)
		}
	}
	if got := statusOf(c, "a"); got != "failed" {
		e.Errorf("the open call ended %q", got)
	}
	e.CheckLedger(c.Info().ID)
}

// testParking checks that an idle session is freed under its clients, and is
// back when one of them touches it.
func testParking(e *Env) {
	c := e.New()
	watcher := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer})
	for i := range 3 {
		if end := c.Say("private x\nsay hello"); end.Stop != session.EndTurn {
			e.Errorf("got %+v", end)
		}
		<-e.Script.Opened()[i].Closed()
		watcher.UntilText("hello")
	}
	for e.Hub.Active() != 0 {
		time.Sleep(time.Millisecond) // parking ends with the count, which nothing announces
	}
	if err := e.Hub.Close(e.Context(), c.Info().ID); err != nil {
		e.Errorf("close of a parked session: %v", err)
	}
	c.Drain()
	e.CheckLedger(c.Info().ID)
}

func testTurnGrace(e *Env) {
	c := e.New()
	c.Send("wait never")
	c.Detach()
	if err := c.Step(e.Context()); err != nil && !errors.Is(err, io.EOF) {
		e.Errorf("next after detach: %v", err)
	}
	// The turn ends by itself, so stopping comes back.
	if err := e.Hub.Stop(e.Context(), c.Info().ID); err != nil {
		e.Fatal(err)
	}
	events := e.Read(c.Info().ID)
	if got := Line(events[len(events)-1]); got != "end: cancelled" {
		e.Errorf("the last event is %q", got)
	}
}

func testSlowOpen(e *Env) {
	c := e.New()
	slow := e.New()
	id := slow.Info().ID
	if err := e.Hub.Close(e.Context(), id); err != nil {
		e.Fatal(err)
	}
	entered, release := make(chan struct{}), make(chan struct{})
	e.Script.OpenErr = func(req session.OpenRequest) error {
		if req.Info.ID == id {
			close(entered)
			<-release
		}
		return nil
	}
	attached := make(chan error, 1)
	go func() {
		_, err := e.Hub.Attach(background(), id, Approver(session.ReplayNone))
		attached <- err
	}()
	<-entered
	c.Say("say meanwhile")
	e.New().Say("say created meanwhile")
	if _, _, err := e.Hub.List(e.Context(), session.Filter{}, "", 10); err != nil {
		e.Error(err)
	}
	if err := e.Hub.Close(e.Context(), c.Info().ID); err != nil {
		e.Error(err)
	}
	close(release)
	if err := <-attached; err != nil {
		e.Error(err)
	}
}

// testCloseWhileStopping: a stop that waits for a turn holds nobody up.
func testCloseWhileStopping(e *Env) {
	for name, end := range map[string]func(id string) error{
		"close":  func(id string) error { return e.Hub.Close(e.Context(), id) },
		"delete": func(id string) error { return e.Hub.Delete(e.Context(), id) },
	} {
		c := e.New()
		id := c.Info().ID
		p := c.Send("wait never")
		stopped := make(chan error, 1)
		go func() { stopped <- e.Hub.Stop(background(), id) }()
		q, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say x")})
		for err == nil { // the stop has not begun yet; it cancels what waits
			if end := c.End(q.Turn); end.Stop != session.Cancelled {
				e.Errorf("%s: the queued one: %+v", name, end)
			}
			q, err = c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say x")})
		}
		if !errors.Is(err, session.ErrNotActive) {
			e.Errorf("%s: prompt while stopping: %v", name, err)
		}
		if err := end(id); err != nil {
			e.Errorf("%s while stopping: %v", name, err)
		}
		if err := <-stopped; err != nil {
			e.Errorf("%s: stop: %v", name, err)
		}
		if end := c.End(p.Turn); end.Stop != session.Cancelled {
			e.Errorf("%s: the running one: %+v", name, end)
		}
	}
}

package sessiontest

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
)

func viewContracts() []contract {
	return []contract{
		{name: "S2_LoadReplaysAll", test: testLoad},
		{name: "AfterGivesTheRestOnce", test: testAfter},
		{name: "X19_OwnMessagesAreNotEchoed", test: testEcho},
		{name: "LoadDuringATurn", test: testLoadRunning},
		{name: "SlowReaderFallsBackToPaging", test: testSlowReader},
		{name: "RecordedUpdates", test: testRecord},
		{name: "SearchFindsWhatChunksSplit", test: testSearch},
		{name: "ExportLeavesPrivateOut", test: testExport},
	}
}

// history is what of a transcript is shown on load.
func history(events []session.Event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Retention == session.History {
			fmt.Fprintln(&b, Line(e), e.ID)
		}
	}
	return b.String()
}

func testLoad(e *Env) {
	c := e.New()
	c.Say("think hm\nsay one\nprivate x\ntool t1\nopen t2\ntitle New title")
	c.Say("fail no")
	p := c.Send("say part\nwait never")
	c.UntilText("part")
	_ = c.Cancel(e.Context())
	c.End(p.Turn)
	id := c.Info().ID
	want := history(e.Read(id))
	for name, restart := range map[string]func(){"same process": func() {}, "new process": e.Restart} {
		restart()
		l := e.Join(id, Approver(session.ReplayHistory))
		l.CatchUp(l.Start())
		if d := cmp.Diff(want, history(l.Events)); d != "" {
			e.Errorf("%s: %s", name, d)
		}
		if n := len(l.Events); history(l.Events) != history(l.Events[:n]) || strings.Contains(l.Transcript(), "end:") {
			e.Errorf("%s: more than history was replayed:\n%s", name, l.Transcript())
		}
	}
	r := e.Join(id, Approver(session.ReplayNone))
	r.Say("say live")
	if got := r.Transcript(); got != "turn_start\nagent: live\nend: end_turn\n" {
		e.Errorf("a resume replayed:\n%s", got)
	}
}

func testAfter(e *Env) {
	c := e.New()
	watcher := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer})
	for i := range 3 {
		c.Say(fmt.Sprintf("say %d\nprivate x\ntool t%d", i, i))
	}
	watcher.CatchUp(c.Cursor)
	for cut := range watcher.Events {
		r := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer, Replay: session.ReplayAfter, After: watcher.Events[cut].Seq})
		r.CatchUp(r.Start())
		if d := cmp.Diff(Transcript(watcher.Events[cut+1:]), r.Transcript()); d != "" {
			e.Errorf("after %d: %s", watcher.Events[cut].Seq, d)
		}
	}
	// A client that saw more than the store kept goes on with what is new.
	r := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer, Replay: session.ReplayAfter, After: 1 << 40})
	c.Say("say new")
	r.UntilText("new")
}

func testEcho(e *Env) {
	c := e.New()
	other := e.Join(c.Info().ID, Approver(session.ReplayNone))
	p := c.Send("say hello")
	c.End(p.Turn)
	other.End(p.Turn)
	if strings.Contains(c.Transcript(), "user:") {
		e.Error("the sender's message came back")
	}
	if !strings.Contains(other.Transcript(), "user: say hello") {
		e.Error("the others did not see the message")
	}
	loaded := e.Join(c.Info().ID, Approver(session.ReplayHistory))
	loaded.CatchUp(loaded.Start())
	if !strings.Contains(loaded.Transcript(), "user: say hello") {
		e.Error("load did not show the message")
	}
}

func testLoadRunning(e *Env) {
	c := e.New()
	p := c.Send("say one\nopen a\nwait go\nsay two\ndone a")
	c.UntilKind(session.KindToolCall)
	l := e.Join(c.Info().ID, Approver(session.ReplayHistory))
	e.Script.Go("go")
	l.End(p.Turn)
	want := "user: say one\nopen a\nwait go\nsay two\ndone a\nagent: one\ntool_call: a pending\nagent: two\ntool_call_update: a completed\nend: end_turn\n"
	if d := cmp.Diff(want, l.Transcript()); d != "" {
		e.Error(d)
	}
}

// testSlowReader lets a client read nothing while more goes by than the tail
// holds.
func testSlowReader(e *Env) {
	c := e.New()
	slow := e.Join(c.Info().ID, session.AttachRequest{Role: session.Observer})
	for range 4 {
		c.Say("chunks 3000")
	}
	slow.CatchUp(c.Cursor)
	n := 0
	for _, ev := range slow.Events {
		if ev.Kind == session.KindAgentMessage {
			n++
		}
	}
	if n != 12_000 {
		e.Errorf("%d chunks came, want 12000", n)
	}
	c.Say("say live")
	slow.UntilText("live")
}

func testRecord(e *Env) {
	c := e.New()
	other := e.Join(c.Info().ID, Approver(session.ReplayNone))
	if err := c.Record(e.Context(), Params("s", `{"sessionUpdate":"typing","x":1}`)); err != nil {
		e.Fatal(err)
	}
	if ev := other.UntilKind(session.KindCustom); ev.By != c.ID() || ev.Origin != session.FromClient {
		e.Errorf("got %+v", ev)
	}
	var invalid *session.InvalidError
	if err := c.Record(e.Context(), []byte(`[`)); !errors.As(err, &invalid) {
		e.Errorf("got %v", err)
	}
	c.Say("say x")
	if strings.Contains(c.Transcript(), "custom") {
		e.Error("the sender got it back")
	}
}

func testSearch(e *Env) {
	c := e.New()
	c.Say("think nothing here\nsay the quick br\nsay own f\nsay ox jumps\ntool t1\nsay over")
	p := c.Send("say interrupted hip\nsay popotamus\nwait never")
	c.UntilText("popotamus")
	e.Restart()
	c = e.Join(c.Info().ID, Approver(session.ReplayNone))
	for text, role := range map[string]string{"quick brown fox": "assistant", "hippopotamus": "assistant", "wait never": "user"} {
		hits, err := e.Hub.Search(e.Context(), `"`+text+`"`, session.Filter{}, 10)
		if err != nil || len(hits) != 1 || hits[0].Role != role || hits[0].Info.ID != c.Info().ID {
			e.Errorf("search %q: %+v, %v", text, hits, err)
			continue
		}
		first := e.Read(c.Info().ID)[hits[0].Seq-1]
		if first.Kind != session.KindAgentMessage && first.Kind != session.KindUserMessage {
			e.Errorf("search %q points at a %s", text, first.Kind)
		}
	}
	_ = p
}

func testExport(e *Env) {
	c := e.New()
	c.Say("private secret\nsay shown")
	var got []session.Event
	err := e.Hub.Read(e.Context(), c.Info().ID, 0, func(ev session.Event) error {
		got = append(got, ev)
		return nil
	})
	if err != nil {
		e.Fatal(err)
	}
	want := "turn_start\nuser: private secret\nsay shown\nagent: shown\nend: end_turn\n"
	if d := cmp.Diff(want, Transcript(got)); d != "" {
		e.Error(d)
	}
	if err := e.Hub.Read(e.Context(), c.Info().ID, 0, func(session.Event) error { return io.EOF }); !errors.Is(err, io.EOF) {
		e.Errorf("yield's error: %v", err)
	}
}

package sessiontest

import (
	"errors"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

func testConfig(e *Env) {
	c := e.New()
	setup, err := c.Set(e.Context(), "mode", "plan")
	if err != nil || !strings.Contains(string(setup.ConfigOptions), `"plan"`) {
		e.Fatalf("%s, %v", setup.ConfigOptions, err)
	}
	var invalid *session.InvalidError
	if _, err := c.Set(e.Context(), "colour", "red"); !errors.As(err, &invalid) {
		e.Errorf("an unknown option: %v", err)
	}
	c.UntilKind(session.KindConfig)
	e.Restart()
	l := e.Join(c.Info().ID, Approver(session.ReplayNone))
	if !strings.Contains(string(l.Setup().ConfigOptions), `"plan"`) {
		e.Errorf("restored as %s", l.Setup().ConfigOptions)
	}
	l.Say("where")
	if !strings.Contains(l.Transcript(), "/w plan") {
		e.Errorf("the driver has %s", l.Transcript())
	}
}

func testTitles(e *Env) {
	c := e.New()
	id := c.Info().ID
	title := func() string {
		info, err := e.Hub.Info(e.Context(), id)
		if err != nil {
			e.Fatal(err)
		}
		return info.Title
	}
	c.Say("title From the agent")
	if got := title(); got != "From the agent" || c.Info().Title != got {
		e.Errorf("title is %q, client has %q", got, c.Info().Title)
	}
	if err := e.Hub.SetTitle(e.Context(), id, "Mine"); err != nil {
		e.Fatal(err)
	}
	if got := c.UntilKind(session.KindInfo); !strings.Contains(string(got.Body), `"title":"From the agent"`) {
		e.Errorf("people were told %s", got.Body)
	}
	ev := c.UntilKind(session.KindInfo)
	if !strings.Contains(string(ev.Body), `"title":"Mine"`) {
		e.Errorf("people were told %s", ev.Body)
	}
	c.Say("title Again")
	if got := title(); got != "Mine" {
		e.Errorf("the agent renamed it to %q", got)
	}
	if err := e.Hub.Close(e.Context(), id); err != nil {
		e.Fatal(err)
	}
	if err := e.Hub.SetTitle(e.Context(), id, "Parked"); err != nil {
		e.Fatal(err)
	}
	if got := title(); got != "Parked" {
		e.Errorf("title is %q", got)
	}
}

func testArchive(e *Env) {
	c := e.New()
	id := c.Info().ID
	p := c.Send("wait never")
	for range 2 {
		if err := e.Hub.Archive(e.Context(), id, true); err != nil {
			e.Fatal(err)
		}
	}
	if end := c.End(p.Turn); end.Stop != session.Cancelled {
		e.Errorf("got %+v", end)
	}
	count := func() int {
		list, _, _ := e.Hub.List(e.Context(), session.Filter{}, "", 10)
		return len(list)
	}
	if count() != 0 {
		e.Error("an archived session is listed")
	}
	if err := e.Hub.Archive(e.Context(), id, false); err != nil || count() != 1 {
		e.Errorf("unarchive: %v, %d listed", err, count())
	}
}

func testFork(e *Env) {
	c := e.New()
	id := c.Info().ID
	first, err := c.Prompt(e.Context(), session.PromptRequest{Content: Blocks("private p1\nsay one\ntool t1"), Key: "k"})
	if err != nil {
		e.Fatal(err)
	}
	c.End(first.Turn)
	p := c.Send("private p2\nsay two\nwait go")
	c.UntilText("two")
	a, err := e.Hub.Fork(e.Context(), id, hub.NewSession{Attach: Approver(session.ReplayHistory)})
	if err != nil {
		e.Fatal(err)
	}
	f := Pump(e.T, a)
	f.CatchUp(f.Start())
	want := "user: private p1\nsay one\ntool t1\nagent: one\ntool_call: t1 pending\ntool_call_update: t1 completed\n"
	if d := cmp.Diff(want, f.Transcript()); d != "" {
		e.Errorf("the fork: %s", d)
	}
	for _, ev := range f.Events {
		if strings.Contains(string(ev.Body), id) {
			e.Errorf("it names the original: %s", ev.Body)
		}
	}
	if info := f.Info(); info.Parent != id || info.ID == id || info.Cwd != "/w" {
		e.Errorf("got %+v", info)
	}
	f.Say("recall\ntool t1")
	if got := f.Transcript(); !strings.Contains(got, `past: "p1"`) || strings.Contains(got, `"p2"`) {
		e.Errorf("the fork's driver has:\n%s", got)
	}
	if again, err := f.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say k"), Key: "k"}); err != nil || again.Ended != nil || again.Turn == first.Turn {
		e.Errorf("the original's key: %+v, %v", again, err)
	} else {
		f.End(again.Turn)
	}
	e.Script.Go("go")
	c.End(p.Turn)
	e.CheckLedger(id)
	e.CheckLedger(f.Info().ID)
	hits, err := e.Hub.Search(e.Context(), "one", session.Filter{Parent: id}, 10)
	if err != nil || len(hits) == 0 {
		e.Errorf("search in the fork: %v, %v", hits, err)
	}
}

package sessiontest

import (
	"errors"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// testSessionKeys: every session has a key, which finds it for its owner.
func testSessionKeys(e *Env) {
	mine := e.Hub.Of("local")
	id := e.New().Info().ID
	info, err := mine.Info(e.Context(), id)
	if err != nil || !strings.HasPrefix(info.Key, "agent:main:acp:") {
		e.Fatalf("key %q, %v", info.Key, err)
	}
	chosen := e.NewFor(hub.NewSession{Key: "agent:main:mine"}).Info().ID
	for key, want := range map[string]string{info.Key: id, "agent:main:mine": chosen} {
		if got, err := mine.ByKey(e.Context(), key); err != nil || got.ID != want {
			e.Errorf("%s names %s, %v, want %s", key, got.ID, err, want)
		}
	}
	for what, o := range map[string]hub.Owned{"another owner": e.Hub.Of("eve"), "another scope": mine.Within([]string{"codex"})} {
		if got, err := o.ByKey(e.Context(), info.Key); !errors.Is(err, session.ErrNotFound) {
			e.Errorf("%s finds %s, %v", what, got.ID, err)
		}
	}
	if err := mine.Archive(e.Context(), chosen, true); err != nil {
		e.Fatal(err)
	}
	if got, err := mine.ByKey(e.Context(), "agent:main:mine"); err != nil || got.ID != chosen {
		e.Errorf("archived: %s, %v", got.ID, err)
	}
	if err := mine.Delete(e.Context(), chosen); err != nil {
		e.Fatal(err)
	}
	if again := e.NewFor(hub.NewSession{Key: "agent:main:mine"}).Info(); again.ID == chosen || again.Key != "agent:main:mine" {
		e.Errorf("after deletion the key names %+v", again)
	}
}

// testKeyRace: of several who make a session of one key at once, one does, and
// the others are told whose it is.
func testKeyRace(e *Env) {
	const clients = 8
	var wg sync.WaitGroup
	made := make([]string, clients)
	refused := make([]error, clients)
	for i := range clients {
		wg.Go(func() {
			a, err := e.Hub.Of("local").Create(e.Context(), hub.NewSession{
				Agent: "main", Cwd: "/w", Key: "agent:main:one", Attach: Approver(session.ReplayNone),
			})
			if refused[i] = err; err == nil {
				made[i] = a.Info().ID
			}
		})
	}
	wg.Wait()
	one := strings.Join(made, "")
	for i, err := range refused {
		taken := &session.KeyTakenError{}
		if made[i] == "" && (!errors.As(err, &taken) || taken.Session != one) {
			e.Errorf("client %d: %v, want one about %s", i, err, one)
		}
	}
}

// testReset: the key gets a new session, and the old one goes on without it.
func testReset(e *Env) {
	mine := e.Hub.Of("local")
	old := e.NewFor(hub.NewSession{Key: "agent:main:k", Label: "desk"})
	id := old.Info().ID
	turn := old.Send("wait never")
	a, err := mine.Reset(e.Context(), id, hub.NewSession{Agent: "main", Cwd: "/w", Attach: Approver(session.ReplayNone)})
	if err != nil {
		e.Fatal(err)
	}
	fresh := Pump(e.T, a)
	if i := fresh.Info(); i.ID == id || i.Key != "agent:main:k" || i.Label != "desk" {
		e.Errorf("reset made %+v", i)
	}
	if i := old.Info(); i.Key != "" || i.Label != "" {
		e.Errorf("the old session still has %q, %q", i.Key, i.Label)
	}
	if got, err := mine.ByKey(e.Context(), "agent:main:k"); err != nil || got.ID != fresh.Info().ID {
		e.Errorf("the key names %s, %v", got.ID, err)
	}
	if got, err := mine.ByLabel(e.Context(), "desk"); err != nil || got.ID != fresh.Info().ID {
		e.Errorf("the label names %s, %v", got.ID, err)
	}
	fresh.Say("say new")
	if err := old.Cancel(e.Context()); err != nil {
		e.Fatal(err)
	}
	if end := old.End(turn.Turn); end.Stop != session.Cancelled {
		e.Errorf("the old turn ended %+v", end)
	}
	if _, err := mine.Reset(e.Context(), id, hub.NewSession{Agent: "unknown", Cwd: "/w"}); err == nil {
		e.Error("reset to an agent that is not there")
	}
	boom := errors.New("the agent does not open")
	e.Script.OpenErr = func(session.OpenRequest) error { return boom }
	now := fresh.Info().ID
	if _, err := mine.Reset(e.Context(), now, hub.NewSession{Agent: "main", Cwd: "/w"}); !errors.Is(err, boom) {
		e.Errorf("reset to an agent that does not open: %v", err)
	}
	e.Script.OpenErr = nil
	if got, err := mine.ByKey(e.Context(), "agent:main:k"); err != nil || got.ID != now || got.Label != "desk" {
		e.Errorf("after a reset that failed the key names %+v, %v", got, err)
	}
	e.CheckLedger(id)
	e.CheckLedger(now)
}

func testLabels(e *Env) {
	mine := e.Hub.Of("local")
	a, b := e.New(), e.New()
	find := func(label string) (string, error) {
		info, err := mine.ByLabel(e.Context(), label)
		return info.ID, err
	}
	label := func(c *Client, label string) {
		e.Helper()
		if err := mine.SetLabel(e.Context(), c.Info().ID, label); err != nil {
			e.Fatal(err)
		}
	}
	if _, err := find("desk"); !errors.Is(err, session.ErrNotFound) {
		e.Errorf("a label nobody has: %v", err)
	}
	label(a, "desk")
	a.UntilKind(session.KindInfo)
	if id, err := find("desk"); err != nil || id != a.Info().ID {
		e.Errorf("%s, %v", id, err)
	}
	label(b, "desk")
	invalid := &session.InvalidError{}
	if _, err := find("desk"); !errors.As(err, &invalid) {
		e.Errorf("a label of two: %v", err)
	}
	label(a, "")
	if id, err := find("desk"); err != nil || id != b.Info().ID {
		e.Errorf("%s, %v", id, err)
	}
	if _, err := e.Hub.Of("eve").ByLabel(e.Context(), "desk"); !errors.Is(err, session.ErrNotFound) {
		e.Errorf("another owner: %v", err)
	}
}

// testScope: sessions of agents outside the scope are like ones that do not
// exist.
func testScope(e *Env) {
	id := e.New().Info().ID
	o := e.Hub.Of("local").Within([]string{"codex", "design"})
	said := func(errs map[string]error) map[string]bool {
		known := map[string]bool{}
		for name, err := range errs {
			known[name] = err == nil || !errors.Is(err, session.ErrNotFound)
		}
		return known
	}
	if d := cmp.Diff(said(asks(e.Context(), o, "s_nobodys")), said(asks(e.Context(), o, id))); d != "" {
		e.Errorf("out of scope (-unknown +there):\n%s", d)
	}
	list, _, err := o.List(e.Context(), session.Filter{}, "", 10)
	if len(list) != 0 || err != nil {
		e.Errorf("listed %v, %v", list, err)
	}
	in := e.Hub.Of("local").Within([]string{"main"})
	if _, err := in.Info(e.Context(), id); err != nil {
		e.Error(err)
	}
}

package sessiontest

import (
	"errors"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// share lets an owner into local's session.
func (e *Env) share(id, owner string, role session.Role) {
	e.Helper()
	c := session.ShareChange{Share: session.Share{Owner: owner, Role: role}}
	if err := e.Hub.Of("local").Share(e.Context(), id, c); err != nil {
		e.Fatal(err)
	}
}

func (e *Env) unshare(id, owner string) {
	e.Helper()
	c := session.ShareChange{Share: session.Share{Owner: owner}, Revoke: true}
	if err := e.Hub.Of("local").Share(e.Context(), id, c); err != nil {
		e.Fatal(err)
	}
}

// by attaches for an owner who asks for everything.
func (e *Env) by(owner, id string) *Client {
	e.Helper()
	a, err := e.Hub.Of(owner).Attach(e.Context(), id, Approver(session.ReplayHistory))
	if err != nil {
		e.Fatal(err)
	}
	return Pump(e.T, a)
}

// testShared: who shares a session gets in with the role that was given, and
// never rules over it.
func testShared(e *Env) {
	c := e.New()
	c.Say("say hello")
	id := c.Info().ID
	for _, s := range []struct {
		role   session.Role
		denied []string
	}{
		{session.Observer, []string{"fork", "close", "stop", "title", "archive", "unarchive", "revoke", "label", "share", "reset", "delete"}},
		{session.Prompter, []string{"archive", "unarchive", "label", "share", "reset", "delete"}},
	} {
		e.share(id, "bob", s.role)
		var denied []string
		errs := asks(e.Context(), e.Hub.Of("bob"), id)
		for _, name := range []string{"fork", "close", "stop", "title", "archive", "unarchive", "revoke", "label", "share", "reset", "delete", "attach", "info", "status"} {
			if errors.Is(errs[name], session.ErrRole) {
				denied = append(denied, name)
			}
		}
		if d := cmp.Diff(s.denied, denied); d != "" {
			e.Errorf("as %v bob is denied (-want +got):\n%s", s.role, d)
		}
		b := e.by("bob", id)
		_, err := b.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say more")})
		if errors.Is(err, session.ErrRole) != (s.role == session.Observer) {
			e.Errorf("bob prompts as %v: %v", s.role, err)
		}
		list, _, err := e.Hub.Of("bob").List(e.Context(), session.Filter{Agent: "main", Cwd: "/w"}, "", 10)
		if err != nil || !slices.ContainsFunc(list, func(i session.Info) bool { return i.ID == id && i.Owner == "local" }) {
			e.Errorf("bob lists %+v, %v", list, err)
		}
	}
	self := session.ShareChange{Share: session.Share{Owner: "local"}}
	if err := e.Hub.Of("local").Share(e.Context(), id, self); err == nil {
		e.Error("shared with its own owner")
	}
	elsewhere := Approver(session.ReplayNone)
	elsewhere.Cwd, elsewhere.Servers = "/bob's", []jsontext.Value{jsontext.Value(`{"name":"x"}`)}
	if a, err := e.Hub.Of("bob").Attach(e.Context(), id, elsewhere); err != nil || a.Info().Cwd != "/w" {
		e.Errorf("bob moved it: %v, %v", a, err)
	}
}

// testShareTakenBack: attachments end with the right to them, and nothing more is
// shown to them.
func testShareTakenBack(e *Env) {
	c := e.New()
	id := c.Info().ID
	e.share(id, "bob", session.Approver)
	b := e.by("bob", id)
	c.Say("say hello")
	e.unshare(id, "bob")
	c.Say("say secret")
	if events, _, err := b.Next(e.Context()); !errors.Is(err, io.EOF) || len(events) != 0 {
		e.Errorf("bob still sees %d events, %v", len(events), err)
	}
	if _, err := b.Prompt(e.Context(), session.PromptRequest{Content: Blocks("say no")}); !errors.Is(err, session.ErrNotFound) {
		e.Errorf("bob still prompts: %v", err)
	}
	b.Detach()
	if _, err := e.Hub.Of("bob").Attach(e.Context(), id, Approver(session.ReplayHistory)); !errors.Is(err, session.ErrNotFound) {
		e.Errorf("bob still attaches: %v", err)
	}
	c.Say("say hello")
}

// testShareTakenBackParked: so do those of a parked session, however its shares
// were changed.
func testShareTakenBackParked(e *Env) {
	for name, unshare := range map[string]func(id string){
		"by its owner": func(id string) { e.unshare(id, "bob") },
		"in the store": func(id string) {
			change := session.InfoChange{Shares: []session.ShareChange{{Share: session.Share{Owner: "bob"}, Revoke: true}}}
			if err := e.Ledger.Update(e.Context(), id, 0, change); err != nil {
				e.Fatal(err)
			}
		},
	} {
		c := e.New()
		id := c.Info().ID
		e.share(id, "bob", session.Observer)
		b := e.by("bob", id)
		c.Say("say hello")
		moved := Approver(session.ReplayNone) // to another directory and back parks it
		moved.Cwd = "/elsewhere"
		unshare(id)
		e.Join(id, moved)
		c.Say("say secret")
		if events, _, err := b.Next(e.Context()); !errors.Is(err, io.EOF) || len(events) != 0 {
			e.Errorf("%s: bob still sees %d events, %v", name, len(events), err)
		}
	}
}

// testUnsharedQueue: what a guest wants done next is not begun once they are
// out, and what others want is.
func testUnsharedQueue(e *Env) {
	c := e.New()
	id := c.Info().ID
	e.share(id, "bob", session.Prompter)
	b := e.by("bob", id)
	running := c.Send("wait go")
	guest, own := b.Send("say guest"), c.Send("say own")
	if !guest.Queued || !own.Queued {
		e.Fatalf("not queued: %+v, %+v", guest, own)
	}
	e.unshare(id, "bob")
	e.Script.Go("go")
	c.End(running.Turn)
	if end := c.End(guest.Turn); end.Stop != session.Cancelled || end.Reason != "share_revoked" {
		e.Errorf("the guest's turn ended %+v", end)
	}
	if end := c.End(own.Turn); end.Stop != session.EndTurn {
		e.Errorf("the owner's turn ended %+v", end)
	}
}

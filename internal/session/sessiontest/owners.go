package sessiontest

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// asks are all there is to ask a hub about a session, by name.
func asks(ctx context.Context, o hub.Owned, id string) map[string]error {
	_, attach := o.Attach(ctx, id, Approver(session.ReplayHistory))
	_, fork := o.Fork(ctx, id, hub.NewSession{Agent: "main"})
	_, reset := o.Reset(ctx, id, hub.NewSession{Agent: "main", Cwd: "/w"})
	_, status := o.Status(ctx, id)
	_, info := o.Info(ctx, id)
	return map[string]error{
		"attach": attach, "fork": fork, "status": status, "info": info,
		"close": o.Close(ctx, id), "stop": o.Stop(ctx, id), "title": o.SetTitle(ctx, id, "eve's"),
		"archive": o.Archive(ctx, id, true), "unarchive": o.Archive(ctx, id, false),
		"revoke": o.Revoke(ctx, id, jsontext.Value("[]")), "label": o.SetLabel(ctx, id, "eve's"),
		"share": o.Share(ctx, id, session.ShareChange{Share: session.Share{Owner: "eve"}}), "reset": reset, "delete": o.Delete(ctx, id),
		"read": o.Read(ctx, id, 0, func(session.Event) error { return errors.New("an event") }),
	}
}

// testOwners: a session of somebody else is like one that does not exist, in
// every answer and in what comes of it.
func testOwners(e *Env) {
	c := e.New()
	c.Say("say hello")
	id := c.Info().ID
	eve := e.Hub.Of("eve")
	words := func(errs map[string]error) map[string]string {
		said := map[string]string{}
		for name, err := range errs {
			said[name] = fmt.Sprint(err)
		}
		return said
	}
	unknown := words(asks(e.Context(), eve, "s_nobodys"))
	check := func(when string) {
		e.Helper()
		if diff := cmp.Diff(unknown, words(asks(e.Context(), eve, id))); diff != "" {
			e.Errorf("%s: eve can tell (-unknown +somebody else's):\n%s", when, diff)
		}
		list, _, err := eve.List(e.Context(), session.Filter{Owner: "local"}, "", 10)
		hits, err2 := eve.Search(e.Context(), "hello", session.Filter{Owner: "local"}, 10)
		if len(list)+len(hits) != 0 || err != nil || err2 != nil {
			e.Errorf("%s: eve finds %v, %v, %v, %v", when, list, hits, err, err2)
		}
	}
	check("active")
	c.Say("say still here")
	if c.Info().Title == "eve's" {
		e.Error("eve gave it a title")
	}
	if err := e.Hub.Of("local").Close(e.Context(), id); err != nil {
		e.Fatal(err)
	}
	check("saved")
	info, err := e.Hub.Of("local").Info(e.Context(), id)
	if err != nil || info.Archived || info.Title == "eve's" {
		e.Errorf("the owner finds %+v, %v", info, err)
	}
	if _, err := e.Hub.Of("local").Attach(e.Context(), id, Approver(session.ReplayHistory)); err != nil {
		e.Error(err)
	}
}

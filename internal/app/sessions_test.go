package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// sessionsOf is a store with a session for each id, the first the newest.
func sessionsOf(t *testing.T, ids ...string) *Sessions {
	t.Helper()
	l := memory.New()
	now := time.Now()
	for i, id := range ids {
		info := session.Info{ID: id, UpdatedAt: now.Add(-time.Duration(i) * time.Second), Archived: i%2 == 1}
		if _, err := l.Create(t.Context(), info); err != nil {
			t.Fatal(err)
		}
	}
	return &Sessions{ledger: l, peers: instance.Observe(t.TempDir())}
}

func TestFind(t *testing.T) {
	s := sessionsOf(t, "s_abc1", "s_abc2", "s_b", "s_bc", "other")
	for id, want := range map[string]string{
		"s_abc1": "s_abc1", "abc2": "s_abc2", "s_b": "s_b", "s_bc": "s_bc", "bc": "s_bc", "oth": "other",
		"abc":   "2 sessions begin with abc, such as s_abc1 and s_abc2",
		"s_abc": "2 sessions begin with s_abc",
		"":      "not found", "abc1x": "not found", "%": "not found",
	} {
		got, err := s.Find(t.Context(), id)
		if err != nil {
			got.ID = err.Error()
		}
		if !strings.HasPrefix(got.ID, want) && !(want == "not found" && errors.Is(err, session.ErrNotFound)) {
			t.Errorf("%q: %s, want %s", id, got.ID, want)
		}
	}
}

func TestListCollectsPages(t *testing.T) {
	ids := make([]string, 2*storePage+10)
	for i := range ids {
		ids[i] = fmt.Sprintf("s_%04d", i)
	}
	s := sessionsOf(t, ids...)
	all := session.Filter{Archived: session.IncludeArchived}
	for limit, want := range map[int]int{0: len(ids), 1: 1, storePage: storePage, storePage + 1: storePage + 1, 9999: len(ids)} {
		got, err := s.List(t.Context(), all, limit)
		if err != nil || len(got) != want || got[0].ID != ids[0] || got[len(got)-1].ID != ids[want-1] {
			t.Errorf("limit %d: %d sessions, %v, want %d", limit, len(got), err, want)
		}
	}
	if got, err := s.List(t.Context(), session.Filter{}, 0); err != nil || len(got) != len(ids)/2 {
		t.Errorf("without archived ones: %d, %v", len(got), err)
	}
}

func TestEventsLeavesOutPrivateOnes(t *testing.T) {
	s := sessionsOf(t, "s_1")
	fence, err := s.ledger.Acquire(t.Context(), "s_1")
	if err != nil {
		t.Fatal(err)
	}
	var batch session.Batch
	for i := range 3 * storePage {
		e := session.Event{ID: fmt.Sprint("e_", i), Kind: session.KindNotice, Body: []byte("{}"), Retention: session.Live}
		if i%3 == 0 {
			e.Retention = session.Private
		}
		batch.Events = append(batch.Events, e)
	}
	if _, err := s.ledger.Append(t.Context(), "s_1", fence, batch); err != nil {
		t.Fatal(err)
	}
	n := 0
	last := session.Seq(0)
	err = s.Events(t.Context(), "s_1", func(e session.Event) error {
		if n++; e.Seq <= last || e.Retention == session.Private {
			t.Errorf("event %d after %d", e.Seq, last)
		}
		last = e.Seq
		return nil
	})
	if err != nil || n != 2*storePage {
		t.Errorf("%d events, %v", n, err)
	}
	enough := errors.New("enough")
	if err := s.Events(t.Context(), "s_1", func(session.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("an error of yield: %v", err)
	}
}

// active is a ledger whose sessions are all open in another instance.
type active struct {
	session.Ledger
	socket string
}

func (a active) Update(_ context.Context, id string, _ session.Fence, _ session.InfoChange) error {
	return &session.ActiveElsewhereError{Session: id, Instance: "i_other", Socket: a.socket}
}

func TestRenameThatTheOwnerDoesNotAnswer(t *testing.T) {
	s := sessionsOf(t, "s_1")
	s.ledger = active{s.ledger, t.TempDir() + "/nobody.sock"}
	err := s.Rename(t.Context(), "s_1", "title")
	if err == nil || !strings.HasPrefix(err.Error(), "session s_1 is active in instance i_other, which did not change it: ") {
		t.Errorf("Rename: %v", err)
	}
}

func TestTry(t *testing.T) {
	home := config.Home(t.TempDir())
	if said, err := Try(t.Context(), home, []string{"GRAPNEL_agents__main__provider=demo"}, "main"); err != nil || said == "" {
		t.Errorf("the demo says %q, %v", said, err)
	}
	if _, err := Try(t.Context(), home, []string{"GRAPNEL_agents__main__provider=anthropic"}, "main"); !errors.Is(err, config.ErrNoCredentials) {
		t.Errorf("without a key: %v", err)
	}
}

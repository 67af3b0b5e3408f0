package door_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/grapnel-ai/grapnel/internal/door"
)

// admit lets a token in, as a request that arrives does.
func (h *house) admit(token string) door.Pass {
	h.t.Helper()
	r := httptest.NewRequest("GET", "/acp", nil)
	r.Host, r.RemoteAddr = "gw.example", "192.0.2.1:1"
	r.Header.Set("Authorization", "Bearer "+token)
	p, err := h.Admit(r)
	if err != nil {
		h.t.Fatal(err)
	}
	return p
}

func limited(t *testing.T, l door.Limits) func(*door.Settings) {
	return func(s *door.Settings) {
		settings(t, []string{"gw.example"}, nil, nil)(s)
		s.Limits = l
	}
}

func isOpen(ctx context.Context) bool { return ctx.Err() == nil }

// TestRevokeEndsConnections shows that those of the token end at once, and no
// others.
func TestRevokeEndsConnections(t *testing.T) {
	h := open(t, limited(t, door.Limits{}))
	a, b := h.create(door.NewToken{Name: "a"}), h.create(door.NewToken{Name: "b", Owner: "a"})
	inA, leaveA, _ := h.Enter(t.Context(), h.admit(a))
	inB, leaveB, _ := h.Enter(t.Context(), h.admit(b))
	static, leaveStatic, _ := h.Enter(t.Context(), h.admit(staticToken))
	defer leaveB()
	defer leaveStatic()
	pass := h.admit(a)
	if err := h.Revoke(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if context.Cause(inA) != door.ErrRevoked || !isOpen(inB) || !isOpen(static) {
		t.Errorf("after revoking a: %v, %v, %v", context.Cause(inA), inB.Err(), static.Err())
	}
	leaveA()
	leaveA()
	if _, _, err := h.Enter(t.Context(), pass); err == nil {
		t.Error("a request that was let in before enters after")
	}
	s := door.Settings{Token: "another-token-0123456789"}
	h.Configure(s)
	if context.Cause(static) != door.ErrRevoked || !isOpen(inB) {
		t.Errorf("after a new static token: %v, %v", context.Cause(static), inB.Err())
	}
}

// TestSameNameIsAnotherToken shows that a pass is of the token, not of its name.
func TestSameNameIsAnotherToken(t *testing.T) {
	h := open(t, limited(t, door.Limits{}))
	pass := h.admit(h.create(door.NewToken{Name: "a"}))
	if err := h.Revoke(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	h.create(door.NewToken{Name: "a"})
	if _, _, err := h.Enter(t.Context(), pass); err == nil {
		t.Error("the pass of a revoked token enters under the new one of its name")
	}
}

// TestExpiryEndsConnections runs in the bubble's time.
func TestExpiryEndsConnections(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := door.Settings{}
		settings(t, []string{"gw.example"}, nil, nil)(&s)
		d, err := door.Open(door.Options{Path: dir + "/tokens.json", Settings: s})
		if err != nil {
			t.Fatal(err)
		}
		h := &house{Door: d, t: t}
		p := h.admit(h.create(door.NewToken{Name: "a", Expires: time.Now().Add(time.Hour)}))
		inside, leave, err := h.Enter(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		time.Sleep(time.Hour - time.Second)
		synctest.Wait()
		if !isOpen(inside) {
			t.Errorf("a second before: %v", context.Cause(inside))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if context.Cause(inside) != door.ErrExpired {
			t.Errorf("at the time: %v", context.Cause(inside))
		}
		if _, _, err := h.Enter(t.Context(), p); err == nil {
			t.Error("it enters after")
		}
	})
}

// TestConnectionsPerOwner counts over all credentials of an owner, and of no
// other.
func TestConnectionsPerOwner(t *testing.T) {
	h := open(t, limited(t, door.Limits{Connections: 2}))
	a, b := h.create(door.NewToken{Name: "a"}), h.create(door.NewToken{Name: "b", Owner: "a"})
	other := h.create(door.NewToken{Name: "other"})
	_, leave, err := h.Enter(t.Context(), h.admit(a))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Enter(t.Context(), h.admit(b)); err != nil {
		t.Fatal(err)
	}
	_, _, err = h.Enter(t.Context(), h.admit(b))
	if refusal, ok := errors.AsType[*door.Refusal](err); !ok || refusal.Status != http.StatusTooManyRequests {
		t.Errorf("the third: %v", err)
	}
	if _, _, err := h.Enter(t.Context(), h.admit(other)); err != nil {
		t.Errorf("another owner: %v", err)
	}
	leave()
	leave() // counts once
	if _, _, err := h.Enter(t.Context(), h.admit(a)); err != nil {
		t.Errorf("after one has left: %v", err)
	}
	if _, _, err := h.Enter(t.Context(), h.admit(a)); err == nil {
		t.Error("leaving twice made room for two")
	}
}

func TestMessagesPerMinute(t *testing.T) {
	h := open(t, limited(t, door.Limits{PerMinute: 60}))
	for n := range 60 {
		if wait := h.Count("a"); wait != 0 {
			t.Fatalf("message %d waits %v", n+1, wait)
		}
	}
	if wait := h.Count("a"); wait != time.Second {
		t.Errorf("message 61 waits %v", wait)
	}
	if wait := h.Count("b"); wait != 0 {
		t.Errorf("another owner waits %v", wait)
	}
	for range 1000 {
		h.Count("a")
	}
	h.clock.Advance(time.Minute) // the debt is bounded
	if wait := h.Count("a"); wait != time.Second {
		t.Errorf("a minute later it waits %v", wait)
	}
	h.clock.Advance(2 * time.Second)
	if wait := h.Count("a"); wait != 0 {
		t.Errorf("two seconds later it waits %v", wait)
	}
	h.Configure(door.Settings{})
	for range 1000 {
		if h.Count("a") != 0 {
			t.Fatal("no limit is one")
		}
	}
}

// TestOwnersAreForgotten bounds what is kept of owners that have gone.
func TestOwnersAreForgotten(t *testing.T) {
	h := open(t, limited(t, door.Limits{PerMinute: 60}))
	for i := range 5000 {
		h.Count(fmt.Sprintf("owner-%d", i))
		h.clock.Advance(time.Second)
	}
	if n := h.Accounts(); n > 1025 {
		t.Errorf("%d accounts are kept", n)
	}
}

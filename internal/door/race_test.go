package door_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/door"
)

// TestManyAtOnce lets clients in and out while tokens come and go: after the
// last was revoked none of them is inside.
func TestManyAtOnce(t *testing.T) {
	h := open(t, limited(t, door.Limits{Connections: 1000, PerMinute: 1000}))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { h.comeAndGo(t, fmt.Sprintf("t%d", i)) })
	}
	all.Wait()
	if n := len(h.Tokens()); n != 0 {
		t.Errorf("%d tokens are left", n)
	}
}

func (h *house) comeAndGo(t *testing.T, name string) {
	for range 20 {
		_, token, err := h.Create(t.Context(), door.NewToken{Name: name, Owner: "all"})
		if err != nil {
			t.Error(err)
			return
		}
		r := httptest.NewRequest(http.MethodGet, "/acp?token="+token, nil)
		r.Host = "gw.example"
		p, err := h.Admit(r)
		if err != nil {
			t.Error(err)
			return
		}
		inside, leave, err := h.Enter(t.Context(), p)
		if err != nil {
			t.Error(err)
			return
		}
		h.Count(p.Owner)
		if err := h.Revoke(t.Context(), name); err != nil {
			t.Error(err)
		}
		<-inside.Done()
		leave()
	}
}

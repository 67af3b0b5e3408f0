package door

import (
	"fmt"
	"net/http/httptest"
	"testing"
	"time"
)

// Accounts is how many owners are remembered.
func (d *Door) Accounts() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.accounts)
}

// TestGuardIsBounded shows that addresses without end cost no memory, and that
// those that failed last are remembered.
func TestGuardIsBounded(t *testing.T) {
	g := newGuard(2, time.Minute, time.Minute)
	now := time.Unix(0, 0)
	for i := range 3 * maxSources {
		g.fail(fmt.Sprint(i), now)
	}
	if len(g.sources) != maxSources || g.order.Len() != maxSources {
		t.Fatalf("%d and %d sources are kept", len(g.sources), g.order.Len())
	}
	if last := fmt.Sprint(3*maxSources - 1); !g.fail(last, now) || g.locked(last, now) != time.Minute {
		t.Error("the last one starts anew")
	}
	if g.fail("0", now) {
		t.Error("the first one was remembered")
	}
}

// TestGuardWindow counts only failures that are close together.
func TestGuardWindow(t *testing.T) {
	g := newGuard(3, time.Minute, time.Hour)
	now := time.Unix(0, 0)
	for i := range 10 {
		if g.fail("a", now.Add(time.Duration(i)*31*time.Second)) {
			t.Fatalf("failure %d locks out", i+1)
		}
	}
	at := now.Add(time.Hour)
	checkFailures(t, g, "b", at, false, false, true)
	checkFailures(t, g, "a", at, false, false)
	g.forgive("a")
	checkFailures(t, g, "a", at, false, false)
}

// checkFailures lets a source fail once for each of want, which says whether that
// locks it out.
func checkFailures(t *testing.T, g *guard, source string, now time.Time, want ...bool) {
	t.Helper()
	for i, w := range want {
		if got := g.fail(source, now.Add(time.Duration(i)*time.Second)); got != w {
			t.Errorf("failure %d of %s locks out: %v", i+1, source, got)
		}
	}
}

// TestFindComparesAll shows by construction that a look-up takes as long whatever
// it is for: every stored hash is compared, wherever a match is, and by a
// comparison that takes as long whatever the two have in common. A clock would
// not tell as much.
func TestFindComparesAll(t *testing.T) {
	all := make([]entry, 50)
	for i := range all {
		all[i].hash = hashOf(fmt.Sprint(i))
	}
	for i := range all {
		if got := find(all, hashOf(fmt.Sprint(i))); got != i {
			t.Errorf("%d is found at %d", i, got)
		}
		twice := append(append([]entry{}, all...), all[i]) // an early return would give the first
		if got := find(twice, all[i].hash); got != len(all) {
			t.Errorf("the search for %d ended at %d, before the last entry", i, got)
		}
	}
	if got := find(all, hashOf("x")); got != -1 {
		t.Errorf("what is not there is found at %d", got)
	}
}

// BenchmarkMatch shows what a credential costs among a thousand, right or wrong.
func BenchmarkMatch(b *testing.B) {
	d, err := Open(Options{Path: b.TempDir() + "/tokens.json"})
	if err != nil {
		b.Fatal(err)
	}
	for i := range maxTokens {
		d.tokens = append(d.tokens, NewToken{Name: fmt.Sprintf("t%d", i), Owner: "o"}.record(fmt.Sprint("secret", i), time.Now()))
		d.tokens[i].Used = time.Now().UTC().Truncate(24 * time.Hour)
	}
	d.settle()
	for name, text := range map[string]string{"first": "secret0", "last": "secret999", "wrong": "nothing"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d.match(credential{bearer, text})
			}
		})
	}
}

// BenchmarkAdmit shows what the door adds to a request.
func BenchmarkAdmit(b *testing.B) {
	s := Settings{Token: "static-token-0123456789"}
	if err := s.Lists([]string{"gw.example"}, nil, nil); err != nil {
		b.Fatal(err)
	}
	d, err := Open(Options{Path: b.TempDir() + "/tokens.json", Settings: s})
	if err != nil {
		b.Fatal(err)
	}
	r := httptest.NewRequest("GET", "/acp", nil)
	r.Host = "gw.example"
	r.Header.Set("Authorization", "Bearer "+s.Token)
	for b.Loop() {
		if _, err := d.Admit(r); err != nil {
			b.Fatal(err)
		}
	}
}

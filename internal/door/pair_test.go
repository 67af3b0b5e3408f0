package door_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/door"
)

// reset forgets every failure, as a new start does.
func (h *house) reset() {
	h.clock.Advance(time.Hour)
}

func (h *house) code() string {
	h.t.Helper()
	code, _, err := h.NewCode(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return code
}

func (h *house) pair(code, body string, headers ...string) answer {
	h.t.Helper()
	return h.send("POST", "/pair", body, append(headers, "X-Pairing-Code: "+code)...)
}

func TestPairing(t *testing.T) {
	h := open(t, nil)
	code, until, err := h.NewCode(t.Context())
	if err != nil || !regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`).MatchString(code) || !until.Equal(h.clock.Now().Add(10*time.Minute)) {
		t.Fatalf("%q until %v, %v", code, until, err)
	}
	got := h.pair(code, `{"name":"laptop"}`)
	var paired door.Paired
	if err := json.Unmarshal([]byte(got.body), &paired); got.status != 200 || err != nil {
		t.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	if paired.Name != "laptop" || paired.Owner != "local" || !strings.HasPrefix(paired.Token, "gp_") || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%+v, %v", paired, got.header)
	}
	if got := h.request("/acp", bearer(paired.Token)); got.body != "local by laptop as approver, agents [], local true" {
		t.Errorf("the token gets %d %s", got.status, got.body)
	}
	if got := h.pair(code, ""); got.status != 401 {
		t.Errorf("the code is good twice: %d %s", got.status, got.body)
	}
}

// TestTypedCodes takes codes as people type them.
func TestTypedCodes(t *testing.T) {
	h := open(t, nil)
	for _, typed := range []func(string) string{
		strings.ToLower,
		func(c string) string { return strings.ReplaceAll(c, "-", "") },
		func(c string) string { return " " + strings.ReplaceAll(c, "-", " ") + " " },
		func(c string) string { return strings.NewReplacer("0", "O", "1", "l").Replace(c) },
		func(c string) string { return strings.NewReplacer("0", "o", "1", "I").Replace(c) },
	} {
		code := h.code()
		if got := h.pair(typed(code), ""); got.status != 200 {
			t.Errorf("%q for %q gets %d", typed(code), code, got.status)
		}
	}
	var names []string
	for _, token := range h.Tokens() {
		names = append(names, token.Name)
	}
	if want := "paired paired-2 paired-3 paired-4 paired-5"; strings.Join(names, " ") != want {
		t.Errorf("the tokens are %v; want %s", names, want)
	}
}

func TestCodeExpires(t *testing.T) {
	h := open(t, nil)
	code := h.code()
	h.clock.Advance(10*time.Minute - time.Second)
	other := h.code()
	h.clock.Advance(time.Second)
	if got := h.pair(code, ""); got.status != 401 {
		t.Errorf("after ten minutes: %d", got.status)
	}
	if got := h.pair(other, ""); got.status != 200 {
		t.Errorf("a younger one: %d", got.status)
	}
}

// TestManyCodes shows that only so many codes are good at once.
func TestManyCodes(t *testing.T) {
	h := open(t, nil)
	first, second := h.code(), h.code()
	for range 7 {
		h.code()
	}
	if got := h.pair(first, ""); got.status != 401 {
		t.Errorf("the oldest of nine gets %d", got.status)
	}
	if got := h.pair(second, ""); got.status != 200 {
		t.Errorf("the second of nine gets %d", got.status)
	}
}

// TestPairingRequests refuses what is no pairing, without spending the code.
func TestPairingRequests(t *testing.T) {
	h := open(t, nil)
	code := h.code()
	tests := []struct {
		method, body string
		want         int
	}{
		{"GET", "", 405},
		{"PUT", "", 405},
		{"POST", "{", 400},
		{"POST", `"laptop"`, 400},
		{"POST", strings.Repeat(" ", 5000), 400},
		{"POST", `{"name":"../etc"}`, 400},
		{"POST", `{"name":"` + strings.Repeat("a", 65) + `"}`, 400},
		{"POST", `{"name":"a\nb"}`, 400},
	}
	for _, tt := range tests {
		if got := h.send(tt.method, "/pair", tt.body, "X-Pairing-Code: "+code); got.status != tt.want || strings.Contains(got.body, "gp_") {
			t.Errorf("%s %.40q: %d %s; want %d", tt.method, tt.body, got.status, got.body, tt.want)
		}
	}
	if got := h.pair(code, `{"name":"bridge"}`); got.status != 200 || !strings.Contains(got.body, `"bridge-2"`) {
		t.Errorf("the code after that: %d %s", got.status, got.body)
	}
}

// TestOneWinner races clients for one code.
func TestOneWinner(t *testing.T) {
	h := open(t, nil)
	code := h.code()
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, _, err := h.Pair(t.Context(), code, "", fmt.Sprintf("192.0.2.%d", i)); err == nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || len(h.Tokens()) != 1 {
		t.Errorf("%d clients got a token, and there are %d", won.Load(), len(h.Tokens()))
	}
}

// TestLongNameIsTaken: there is room for what tells it from the first.
func TestLongNameIsTaken(t *testing.T) {
	h := open(t, nil)
	long := strings.Repeat("a", 64)
	for _, want := range []string{long, strings.Repeat("a", 59) + "-2", strings.Repeat("a", 59) + "-3"} {
		if got, _, err := h.Pair(t.Context(), h.code(), long, "192.0.2.1"); err != nil || got.Name != want {
			t.Errorf("%q, %v, want %q", got.Name, err, want)
		}
	}
}

// TestPairedTogether: clients that pair at once, under one name, all get a token.
func TestPairedTogether(t *testing.T) {
	h := open(t, nil)
	var all sync.WaitGroup
	for i := range 8 {
		code := h.code()
		all.Go(func() {
			if _, _, err := h.Pair(t.Context(), code, "laptop", fmt.Sprintf("192.0.2.%d", i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(h.Tokens()); n != 8 {
		t.Errorf("there are %d tokens", n)
	}
}

// TestPairingLockout holds a source off after five failures, for 300 seconds,
// with a right code too, and nobody else.
func TestPairingLockout(t *testing.T) {
	h := open(t, nil)
	for n := range 5 {
		if got := h.pair("AAAA-AAAA", ""); got.status != 401 {
			t.Fatalf("failure %d: %d", n+1, got.status)
		}
	}
	code := h.code()
	h.clock.Advance(50 * time.Second)
	if got := h.pair(code, ""); got.status != 429 || got.header.Get("Retry-After") != "250" {
		t.Fatalf("after five: %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	if _, _, err := h.Pair(t.Context(), code, "", "198.51.100.1"); err != nil {
		t.Errorf("another source: %v", err)
	}
	h.clock.Advance(250*time.Second - time.Nanosecond)
	if got := h.pair(h.code(), ""); got.status != 429 {
		t.Errorf("just before the end: %d", got.status)
	}
	h.clock.Advance(time.Nanosecond)
	if got := h.pair(h.code(), ""); got.status != 200 {
		t.Errorf("at the end: %d", got.status)
	}
	if events := h.events(); !strings.Contains(events, "locked_out wrong pairing codes 127.0.0.1") {
		t.Errorf("the lockout is not on record:\n%s", events)
	}
}

// TestPairingEverywhere bounds wrong codes from all addresses together.
func TestPairingEverywhere(t *testing.T) {
	h := open(t, nil)
	code := h.code()
	tries := 0
	for ; tries < 100; tries++ {
		_, _, err := h.Pair(t.Context(), "wrong", "", fmt.Sprintf("2001:db8:%x::/64", tries))
		if err == nil || strings.Contains(err.Error(), "too many") {
			break
		}
	}
	if tries != 30 {
		t.Errorf("%d wrong codes from as many networks were looked at; want 30", tries)
	}
	if _, _, err := h.Pair(t.Context(), code, "", "192.0.2.1"); err == nil {
		t.Error("a right code counts while too many are wrong")
	}
	h.clock.Advance(10 * time.Second)
	if _, _, err := h.Pair(t.Context(), h.code(), "", "192.0.2.1"); err != nil {
		t.Errorf("ten seconds later: %v", err)
	}
}

// TestPairingOff shows that no code is made or taken then.
func TestPairingOff(t *testing.T) {
	h := open(t, nil)
	code := h.code()
	h.Configure(door.Settings{Token: staticToken})
	if _, _, err := h.NewCode(t.Context()); err == nil {
		t.Error("a code is made")
	}
	if got := h.pair(code, ""); got.status != 403 || !strings.Contains(got.body, "require_pairing") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestGuesses counts wrong credentials per source. A token that is right gets in
// all the same; a password waits.
func TestGuesses(t *testing.T) {
	h := open(t, nil)
	named := h.create(door.NewToken{Name: "a"})
	for n := range 60 {
		if got := h.request("/acp", bearer(fmt.Sprintf("wrong-%d", n))); got.status != 401 {
			t.Fatalf("failure %d: %d", n+1, got.status)
		}
	}
	for _, tt := range []struct {
		name, header string
		want         int
	}{
		{"wrong token", bearer("wrong"), 429},
		{"wrong password", basic("a", "wrong"), 429},
		{"right password", basic("a", staticPassword), 429},
		{"right token", bearer(named), 200},
		{"static token", bearer(staticToken), 200},
		{"no credential", "X: y", 401},
	} {
		if got := h.request("/acp", tt.header); got.status != tt.want || (tt.want == 429) != (got.header.Get("Retry-After") == "300") {
			t.Errorf("%s: %d, Retry-After %q; want %d", tt.name, got.status, got.header.Get("Retry-After"), tt.want)
		}
	}
	h.clock.Advance(5 * time.Minute)
	if got := h.request("/acp", basic("a", staticPassword)); got.status != 200 {
		t.Errorf("the password after five minutes: %d", got.status)
	}
	if events := h.events(); strings.Count(events, "locked_out wrong credentials 127.0.0.1") != 1 {
		t.Errorf("the lockout is not on record once:\n%s", events)
	}
}

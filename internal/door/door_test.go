package door_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	staticToken    = "static-token-0123456789"
	staticPassword = "correct horse: battery"
)

// clock is a time that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// house is a door in front of a real HTTP server.
type house struct {
	*door.Door
	t      *testing.T
	dir    string
	clock  *clock
	redact *secret.Redactor
	audit  *audit.Log
	addr   string // host:port of the server
	port   string
}

// open opens a door with static credentials, pairing and what change makes of
// that.
func open(t *testing.T, change func(*door.Settings)) *house {
	t.Helper()
	h := &house{t: t, dir: t.TempDir(), clock: newClock(), redact: secret.NewRedactor()}
	h.audit = audit.New(audit.Options{Dir: h.dir, Redact: h.redact})
	s := door.Settings{Token: staticToken, Password: staticPassword, Pairing: true}
	if change != nil {
		change(&s)
	}
	h.reopen(s)
	server := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(server.Close)
	h.addr = server.Listener.Addr().String()
	_, h.port, _ = net.SplitHostPort(h.addr)
	return h
}

// reopen is what a start of the gateway does.
func (h *house) reopen(s door.Settings) {
	h.t.Helper()
	d, err := door.Open(door.Options{
		Path: filepath.Join(h.dir, "tokens.json"), Settings: s, Now: h.clock.Now, Redact: h.redact, Audit: h.audit,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Door = d
}

func (h *house) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/pair" {
		h.ServePair(w, r)
		return
	}
	p, err := h.Admit(r)
	if err != nil {
		door.Refuse(w, err)
		return
	}
	fmt.Fprintf(w, "%s by %s as %s, agents %v, local %v", p.Owner, p.Name, p.Role, p.Agents, p.Local)
}

func (h *house) create(n door.NewToken) string {
	h.t.Helper()
	_, text, err := h.Create(context.Background(), n)
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

// answer is a response: its status, its headers but for the date, its body.
type answer struct {
	status int
	header http.Header
	body   string
}

// text is the whole of it.
func (a answer) text() string {
	var b bytes.Buffer
	fmt.Fprintln(&b, a.status)
	_ = a.header.Write(&b) // in the order of names
	return b.String() + a.body
}

// request sends a request byte by byte as it is told, so that no client library
// makes it any better. Without a Host line it gets the server's.
func (h *house) request(target string, headers ...string) answer {
	h.t.Helper()
	return h.send("GET", target, "", headers...)
}

func (h *house) send(method, target, body string, headers ...string) answer {
	h.t.Helper()
	nc, err := net.Dial("tcp", h.addr)
	if err != nil {
		h.t.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(30 * time.Second))
	text := method + " " + target + " HTTP/1.1\r\n"
	if !strings.HasPrefix(strings.Join(headers, "\n"), "Host:") {
		text += "Host: " + h.addr + "\r\n"
	}
	for _, line := range headers {
		text += line + "\r\n"
	}
	if _, err := fmt.Fprintf(nc, "%sContent-Length: %d\r\n\r\n%s", text, len(body), body); err != nil {
		h.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	resp.Header.Del("Date")
	return answer{resp.StatusCode, resp.Header, string(data)}
}

func bearer(token string) string { return "Authorization: Bearer " + token }

func basic(user, password string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// TestCredentials shows each way in, and what it lets in.
func TestCredentials(t *testing.T) {
	h := open(t, func(s *door.Settings) { s.Bridge = "bridge-token-0123456789" })
	named := h.create(door.NewToken{Name: "ci", Role: session.Prompter, Scope: []string{"main", "codex"}})
	const local = "local by gateway.auth.token as approver, agents [], local true"
	tests := []struct {
		name, target string
		headers      []string
		want         string
	}{
		{"bearer", "/acp", []string{bearer(staticToken)}, local},
		{"bearer in capitals", "/acp", []string{"AUTHORIZATION: BEARER " + staticToken}, local},
		{"named", "/acp", []string{bearer(named)}, "ci by ci as prompter, agents [main codex], local true"},
		{"bridge", "/acp", []string{bearer("bridge-token-0123456789")}, "local by bridge as approver, agents [], local true"},
		{"subprotocol", "/acp", []string{"Sec-WebSocket-Protocol: zeroclaw.acp.v1, bearer." + staticToken}, local},
		{"second line of subprotocols", "/acp", []string{"Sec-WebSocket-Protocol: a", "Sec-WebSocket-Protocol:bearer." + named + ",b"}, "ci by ci as prompter, agents [main codex], local true"},
		{"query", "/acp?agent=main&token=" + staticToken, nil, local},
		{"query beside rubbish", "/acp?%zz;&token=" + staticToken + "&token=other", nil, local},
		{"password", "/acp", []string{basic("anyone", staticPassword)}, "local by gateway.auth.password as approver, agents [], local true"},
		{"password without user", "/acp", []string{basic("", staticPassword)}, "local by gateway.auth.password as approver, agents [], local true"},
		{"the header comes first", "/acp?token=wrong", []string{bearer(staticToken), "Sec-WebSocket-Protocol: bearer.wrong"}, local},
		{"then the subprotocol", "/acp?token=wrong", []string{"Sec-WebSocket-Protocol: bearer." + staticToken, basic("a", "wrong")}, local},
		{"then the query", "/acp?token=" + staticToken, []string{basic("a", "wrong")}, local},
		{"another scheme is none", "/acp?token=" + staticToken, []string{"Authorization: Digest x"}, local},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.request(tt.target, tt.headers...); got.status != 200 || got.body != tt.want {
				t.Errorf("%d %q; want %q", got.status, got.body, tt.want)
			}
		})
	}
}

// TestUnauthorized shows that nothing else gets in, and that the answer says
// nothing about what was wrong (Z2).
func TestUnauthorized(t *testing.T) {
	h := open(t, nil)
	good := h.create(door.NewToken{Name: "good"})
	revoked := h.create(door.NewToken{Name: "revoked"})
	expired := h.create(door.NewToken{Name: "expired", Expires: h.clock.Now().Add(time.Hour)})
	if err := h.Revoke(t.Context(), "revoked"); err != nil {
		t.Fatal(err)
	}
	h.clock.Advance(time.Hour)
	want := h.request("/acp").text() // without any
	if !strings.HasPrefix(want, "401\n") || !strings.Contains(want, `Www-Authenticate: Bearer realm="grapnel"`) {
		t.Fatalf("without a credential:\n%s", want)
	}
	tests := []struct {
		name, target string
		headers      []string
	}{
		{"wrong", "/acp", []string{bearer("wrong")}},
		{"empty", "/acp", []string{"Authorization: Bearer "}},
		{"no value", "/acp", []string{"Authorization: Bearer"}},
		{"empty header", "/acp", []string{"Authorization:"}},
		{"revoked", "/acp", []string{bearer(revoked)}},
		{"expired", "/acp", []string{bearer(expired)}},
		{"prefix", "/acp", []string{bearer(good[:len(good)-1])}},
		{"longer", "/acp", []string{bearer(good + "a")}},
		{"capitals", "/acp", []string{bearer(strings.ToUpper(good))}},
		{"space before", "/acp", []string{bearer(" " + good)}},
		{"space within the header", "/acp", []string{bearer(good + " x")}},
		{"space after", "/acp?token=" + good + "%20", nil},
		{"plus after", "/acp?token=" + good + "+", nil},
		{"line end after", "/acp?token=" + good + "%0a", nil},
		{"NUL after", "/acp?token=" + good + "%00", nil},
		{"query malformed", "/acp?token=%zz" + good, nil},
		{"query empty", "/acp?token=", nil},
		{"empty query decides", "/acp?token=", []string{basic("a", staticPassword)}},
		{"empty subprotocol", "/acp", []string{"Sec-WebSocket-Protocol: bearer."}},
		{"empty subprotocol decides", "/acp?token=" + good, []string{"Sec-WebSocket-Protocol: bearer."}},
		{"subprotocol in capitals", "/acp", []string{"Sec-WebSocket-Protocol: BEARER." + good}},
		{"wrong header decides", "/acp?token=" + good, []string{bearer("wrong"), "Sec-WebSocket-Protocol: bearer." + good}},
		{"wrong subprotocol decides", "/acp?token=" + good, []string{"Sec-WebSocket-Protocol: bearer.wrong"}},
		{"two headers", "/acp", []string{bearer(good), bearer(good)}},
		{"password as token", "/acp", []string{bearer(staticPassword)}},
		{"password in the query", "/acp?token=" + strings.ReplaceAll(staticPassword, " ", "+"), nil},
		{"password key in the query", "/acp?password=" + strings.ReplaceAll(staticPassword, " ", "+"), nil},
		{"token as password", "/acp", []string{basic("x", good)}},
		{"token as user", "/acp", []string{basic(good, "")}},
		{"no colon", "/acp", []string{"Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(staticPassword))}},
		{"not base64", "/acp", []string{"Authorization: Basic ***"}},
		{"bare token", "/acp", []string{"Authorization: " + good}},
		{"the hash", "/acp", []string{bearer(fmt.Sprintf("%x", good))}},
		{"very long", "/acp", []string{bearer(strings.Repeat("a", 8000))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.request(tt.target, tt.headers...).text(); got != want {
				t.Errorf("the answer tells it from a missing credential:\n%s\nwant\n%s", got, want)
			}
		})
	}
	if got := h.request("/acp", bearer(good)); got.status != 200 {
		t.Errorf("the good one gets %d", got.status)
	}
}

// TestUnsetCredentials shows that an empty static credential is none.
func TestUnsetCredentials(t *testing.T) {
	h := open(t, func(s *door.Settings) { s.Token, s.Password = "", "" })
	for _, header := range []string{"X: y", "Authorization: Bearer ", basic("", ""), basic("a", ""), "Sec-WebSocket-Protocol: bearer."} {
		if got := h.request("/acp", header); got.status != 401 {
			t.Errorf("%q gets %d", header, got.status)
		}
	}
	if h.Guarded() {
		t.Error("a door without any credential says it is guarded")
	}
	h.create(door.NewToken{Name: "a", Expires: h.clock.Now().Add(time.Hour)})
	if !h.Guarded() {
		t.Error("a token does not count")
	}
	h.clock.Advance(time.Hour)
	if h.Guarded() {
		t.Error("an expired token counts")
	}
}

// TestAuthority tells passes apart by what they are good for, not by their names.
func TestAuthority(t *testing.T) {
	base := door.Pass{Owner: "a", Name: "x", Role: session.Prompter, Agents: []string{"m"}}
	same := base
	same.Name, same.Local = "y", true
	if base.Authority() != same.Authority() {
		t.Error("another token of the same authority is another one")
	}
	for _, other := range []door.Pass{
		{Owner: "b", Role: session.Prompter, Agents: []string{"m"}},
		{Owner: "a", Role: session.Observer, Agents: []string{"m"}},
		{Owner: "a", Role: session.Prompter},
		{Owner: "a", Role: session.Prompter, Agents: []string{"m", "n"}},
	} {
		if base.Authority() == other.Authority() {
			t.Errorf("%+v is as good as %+v", other, base)
		}
	}
}

package fieldtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// knock sends a request byte by byte as it is told and returns the status and
// the whole answer but for its date. A 101 is left there. Without a Host line it
// gets the gateway's.
func (g *Gateway) knock(target string, headers ...string) (int, string) {
	g.tb.Helper()
	nc, err := net.Dial("tcp", g.Host())
	if err != nil {
		g.tb.Fatal(err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	method, path, _ := strings.Cut(target, " ")
	lines := []string{method + " " + path + " HTTP/1.1"}
	if !strings.HasPrefix(strings.Join(headers, "\n"), "Host:") {
		lines = append(lines, "Host: "+g.Host())
	}
	lines = append(append(lines, headers...), "Content-Length: 0", "", "")
	if _, err := io.WriteString(nc, strings.Join(lines, "\r\n")); err != nil {
		g.tb.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(nc), nil)
	if err != nil {
		g.tb.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp.StatusCode, ""
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		g.tb.Fatal(err)
	}
	resp.Header.Del("Date")
	var whole strings.Builder
	_ = resp.Header.Write(&whole) // in the order of names
	return resp.StatusCode, whole.String() + string(body)
}

// upgrade is a WebSocket handshake with more headers.
func upgrade(headers ...string) []string {
	return append(headers, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
}

const withToken = "Authorization: Bearer " + Token

// TestZ1ForeignPages: a page of another origin, or one whose name was made to
// point here, is refused before the upgrade, whatever token it has, and so it is
// by every route that has anything to tell.
func TestZ1ForeignPages(t *testing.T) {
	w := NewWorld(t, `gateway.allowed_origins = ["https://chat.example"]`, `gateway.allowed_hosts = ["gw.example"]`)
	g := w.Gateway()
	_, port, _ := net.SplitHostPort(g.Host())
	tests := []struct {
		headers string
		want    int // of the handshake
	}{
		{"", 101},
		{"Origin: http://ADDR", 101},
		{"Host: localhost:PORT|Origin: http://localhost:PORT", 101},
		{"Host: LOCALHOST:PORT", 101},
		{"Host: gw.example", 101},
		{"Host: gw.example|Origin: http://gw.example", 101},
		{"Origin: https://chat.example", 101},
		{"Origin: http://evil.example", 403},
		{"Origin: http://localhost:9999", 403},
		{"Origin: null", 403},
		{"Origin: http://127.0.0.1.evil.example", 403},
		{"Origin: http://127.0.0.1.evil.example:PORT", 403},
		{"Origin: http://ADDR@evil.example", 403},
		{"Origin: http://127.0.0.1", 403},
		{"Origin: https://ADDR", 403},
		{"Origin: http://localhost:PORT", 403}, // asked for by its address
		{"Origin: http://ADDR|Origin: http://ADDR", 403},
		{"Host: attacker.test", 403},
		{"Host: attacker.test:PORT|Origin: http://attacker.test:PORT", 403},
		{"Host: localhost", 403},
		{"Host: localhost.:PORT", 403},
		{"Host: 0.0.0.0:PORT", 403},
		{"Host: attacker.test|X-Forwarded-Host: ADDR", 403},
	}
	fill := strings.NewReplacer("ADDR", g.Host(), "PORT", port)
	for _, tt := range tests {
		var headers []string
		if tt.headers != "" {
			headers = strings.Split(fill.Replace(tt.headers), "|")
		}
		headers = append(headers, withToken)
		if got, _ := g.knock("GET /acp", upgrade(headers...)...); got != tt.want {
			t.Errorf("%q: the handshake gets %d, want %d", tt.headers, got, tt.want)
		}
		for _, route := range []string{"POST /acp", "GET /acp", "DELETE /acp", "GET /metrics", "POST /pair"} {
			if got, text := g.knock(route, headers...); (got == 403) != (tt.want == 403) {
				t.Errorf("%q: %s gets %d %s", tt.headers, route, got, text)
			}
		}
	}
	if got, _ := g.knock("GET /acp", upgrade("Origin: http://evil.example")...); got != 403 {
		t.Errorf("a foreign page without a token gets %d", got)
	}
}

// TestZ2FailsClosed: without the very credential nobody comes in, by any route,
// and the answer says nothing.
func TestZ2FailsClosed(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	good := w.token("ci")
	revoked := w.token("gone")
	w.grapnel("", "gateway", "token", "revoke", "gone")
	expired := w.token("brief", "--expires", "1s")
	waitFor(t, "the token to expire", func() bool {
		status, _ := g.knock("GET /metrics", "Authorization: Bearer "+expired)
		return status == 401
	})
	_, want := g.knock("GET /acp", upgrade()...)
	if !strings.Contains(want, "unauthorized") || strings.Contains(want, "Acp-") {
		t.Fatalf("without a credential:\n%s", want)
	}
	tests := []struct {
		name, query string
		header      string
	}{
		{"none", "", "X: y"},
		{"wrong", "", "Authorization: Bearer wrong"},
		{"empty", "", "Authorization: Bearer "},
		{"prefix", "", "Authorization: Bearer " + good[:len(good)-1]},
		{"prefix of the static one", "", withToken[:len(withToken)-1]},
		{"longer", "", "Authorization: Bearer " + good + "x"},
		{"space before", "", "Authorization: Bearer  " + good},
		{"space after", "?token=" + good + "%20", "X: y"},
		{"revoked", "", "Authorization: Bearer " + revoked},
		{"expired", "", "Authorization: Bearer " + expired},
		{"empty query", "?token=", "X: y"},
		{"wrong header, good query", "?token=" + good, "Authorization: Bearer wrong"},
		{"empty subprotocol", "", "Sec-WebSocket-Protocol: bearer."},
		{"as a password", "", "Authorization: Basic eDo="},
	}
	for _, tt := range tests {
		for _, route := range []string{"GET /acp", "POST /acp", "DELETE /acp", "GET /metrics"} {
			headers := []string{tt.header}
			if route == "GET /acp" {
				headers = upgrade(tt.header)
			}
			if got, text := g.knock(route+tt.query, headers...); got != 401 || text != want {
				t.Errorf("%s by %s: %d\n%s", tt.name, route, got, text)
			}
		}
	}
	for name, knock := range map[string][]string{
		"header": {"Authorization: Bearer " + good}, "subprotocol": {"Sec-WebSocket-Protocol: zeroclaw.acp.v1, bearer." + good},
	} {
		if got, _ := g.knock("GET /acp", upgrade(knock...)...); got != 101 {
			t.Errorf("the token by %s gets %d", name, got)
		}
	}
	if got, _ := g.knock("GET /acp?token="+good, upgrade()...); got != 101 {
		t.Errorf("the token by query gets %d", got)
	}
}

// token makes a token by the command line.
func (w *World) token(name string, more ...string) string {
	w.T.Helper()
	var made struct{ Name, Token string }
	out := w.grapnel("", append([]string{"gateway", "token", "create", name, "--json"}, more...)...)
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.Name != name || !strings.HasPrefix(made.Token, "gp_") {
		w.T.Fatalf("token create printed %s (%v)", out, err)
	}
	return made.Token
}

// TestZ2RefusesToStart: an address that others reach needs a credential, and one
// that is set needs to be there. An empty one is none.
func TestZ2RefusesToStart(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config string
		env    string
		args   []string
		want   string
	}{
		{"no credential", "", "X=y", []string{"--host", "0.0.0.0", "--insecure-bind"}, "no credential is set"},
		{"empty variable", `gateway.auth.token = "env:GW_TOKEN"`, "GW_TOKEN=", []string{"--host", "0.0.0.0", "--insecure-bind"}, "GW_TOKEN is not set"},
		{"empty literal", `gateway.auth.token = ""`, "X=y", []string{"--host", "0.0.0.0", "--insecure-bind"}, "no credential is set"},
		{"empty override", "", "GRAPNEL_gateway__auth__token=", []string{"--host", "0.0.0.0", "--insecure-bind"}, "no credential is set"},
		{"in the clear", "", "GRAPNEL_gateway__auth__token=" + Token, []string{"--host", "0.0.0.0"}, "without TLS"},
		{"empty variable on loopback", `gateway.auth.password = "env:GW_TOKEN"`, "GW_TOKEN=", nil, "gateway.auth.password cannot be read"},
		{"missing file", `gateway.auth.token = "file:nowhere"`, "X=y", nil, "does not exist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWorld(t, tt.config)
			w.Env = append(w.Env, tt.env, "GRAPNEL_gateway__port=0")
			out, complaint, code := w.Run(append([]string{"gateway"}, tt.args...)...)
			if code != 1 || !strings.Contains(complaint, tt.want) || strings.Count(complaint, "\n") != 1 || out != "" {
				t.Errorf("exit %d, %q, %q; want …%s…", code, out, complaint, tt.want)
			}
		})
	}
}

// TestZ3GatewayTokensInNoArguments: while a turn runs no process of the gateway
// has a token in its arguments or, below the gateway, in its environment; and
// tokens are on no disk.
func TestZ3GatewayTokensInNoArguments(t *testing.T) {
	w := NewWorld(t, `autonomy.auto_approve = ["shell"]`, `autonomy.allowed_commands = ["sleep"]`)
	g := w.Gateway("-v")
	named := w.token("ci", "--owner", "local")
	c := g.Connect(Dial{Anonymous: true, Protocols: []string{"bearer." + named}})
	c.Init()
	s := c.New()
	id := c.BeginPrompt(s, "D:TOOL shell sleep 30")
	c.AwaitRunning(s, 0)
	waitFor(t, "the command to run", func() bool { return len(processesWith(t, g.Pid(), "sleep\x0030")) > 0 })
	for pid, arguments := range tree(t, g.Pid()) {
		if strings.Contains(arguments, named) || strings.Contains(arguments, Token) {
			t.Errorf("a token is in the arguments of process %d: %q", pid, arguments)
		}
	}
	for _, pid := range processesWith(t, g.Pid(), "sleep\x0030") {
		if environ := environment(pid); strings.Contains(environ, Token) || strings.Contains(environ, named) {
			t.Errorf("a token is in the environment of a command")
		}
	}
	c.Cancel(s)
	c.Response(id)
	if name := fileWith(t, w.Home, named); name != "" {
		t.Errorf("the token is stored in %s", name)
	}
}

// TestZ4GatewaySecretsStayOut: at full verbosity, with the token in each place a
// client can put it and frames that cannot be read, none is logged or stored.
func TestZ4GatewaySecretsStayOut(t *testing.T) {
	w := NewWorld(t, `telemetry.log_level = "debug"`, `gateway.auth.password = "SEKRET8-a-password"`)
	g := w.Gateway("-v")
	named := w.token("ci")
	var heard strings.Builder
	for _, d := range []Dial{
		{},
		{Anonymous: true, Query: "agent=main&token=" + named},
		{Anonymous: true, Protocols: []string{"zeroclaw.acp.v1", "bearer." + named}},
		{Anonymous: true, Header: http.Header{"Authorization": {"Bearer " + named}}},
	} {
		c := g.Connect(d)
		c.Init()
		from := c.Lines()
		c.Send(`{"jsonrpc":"2.0","id":9,"method":"session/new","params":{"token":"` + secretOfFrame + `",}`)
		c.Send(secretOfFrame)
		c.Await(from, "an error", func(m Message) bool { return m.Error != nil })
		c.Must("session/new", object{"cwd": w.Cwd, "mcpServers": []object{
			{"type": "http", "name": "web", "url": "http://127.0.0.1:1/", "headers": []object{{"name": "X-Api-Key", "value": secretOfHeader}}},
		}}, nil)
		for _, m := range c.Messages() {
			heard.WriteString(encode(m))
		}
		c.SendBinary("\xff\xfe" + secretOfFrame)
		_, reason := c.Closed()
		heard.WriteString(reason)
	}
	for _, target := range []string{"GET /acp?token=SEKRET9-wrong", "POST /acp?token=SEKRET9-wrong", "GET /metrics?token=" + named, "GET /nothing?token=" + named, "GET /health?token=" + named} {
		_, text := g.knock(target, "X: y")
		heard.WriteString(text)
	}
	_, text := g.knock("POST /acp", "Authorization: Basic eDpTRUtSRVQ4LWEtcGFzc3dvcmQ=")
	heard.WriteString(text)
	g.knock("GET /acp", "Authorization: Bearer SEKRET9-wrong")
	shown := w.grapnel("", "gateway", "status", "--json") + w.grapnel("", "gateway", "token", "list") + w.grapnel("", "config", "show")
	for _, secret := range []string{named, Token, "SEKRET8-a-password", "SEKRET9-wrong", secretOfFrame, secretOfHeader, "eDpTRUtSRVQ4LWEtcGFzc3dvcmQ="} {
		for place, text := range map[string]string{"the log": g.Stderr(), "what clients got": heard.String(), "what commands show": shown} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s is in %s: …%s", secret, place, text[max(0, at-200):at+len(secret)])
			}
		}
		if name := fileWith(t, filepath.Join(w.Home, "data"), secret); name != "" {
			t.Errorf("%s is stored in %s", secret, name)
		}
	}
	if !strings.Contains(g.Stderr(), "route=/acp") {
		t.Error("nothing is logged: nothing is tested")
	}
}

// TestPairingByCommand: the code comes over the socket, a client takes it for a
// token, once; no route gives codes away.
func TestPairingByCommand(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	code := strings.TrimSpace(strings.SplitN(w.grapnel("", "gateway", "pair"), "\n", 2)[0])
	for _, route := range []string{"GET /pair", "POST /pair", "GET /pair/code", "POST /acp", "GET /health", "GET /", "GET /metrics"} {
		if _, text := g.knock(route, withToken); strings.Contains(text, code) {
			t.Errorf("%s tells the code", route)
		}
	}
	status, answer := g.knock("POST /pair", "X-Pairing-Code: "+strings.ToLower(code))
	_, body, _ := strings.Cut(answer, "{")
	var paired struct{ Token, Name, Owner string }
	if err := json.Unmarshal([]byte("{"+body), &paired); status != 200 || err != nil || paired.Owner != "local" {
		t.Fatalf("pairing: %d %s (%v)", status, answer, err)
	}
	if status, _ := g.knock("POST /pair", "X-Pairing-Code: "+code); status != 401 {
		t.Errorf("the code again: %d", status)
	}
	c := g.Connect(Dial{Anonymous: true, Header: http.Header{"Authorization": {"Bearer " + paired.Token}}})
	c.Init()
	c.New()
	if out := w.grapnel("", "gateway", "token", "list", "--json"); !strings.Contains(out, `"name": "paired"`) || strings.Contains(out, paired.Token) {
		t.Errorf("token list: %s", out)
	}
	for range 4 {
		g.knock("POST /pair", "X-Pairing-Code: AAAA-AAAA")
	}
	if status, text := g.knock("POST /pair", "X-Pairing-Code: "+code); status != 429 || !strings.Contains(text, "Retry-After: 300") {
		t.Errorf("after five failures: %d %s", status, text)
	}
	w.grapnel("", "gateway", "token", "revoke", "paired")
	if code, reason := c.Closed(); code != 1008 || !strings.Contains(reason, "taken back") {
		t.Errorf("the connection of a revoked token ends with %d %q", code, reason)
	}
	log := w.grapnel("", "audit", "export")
	for _, event := range []string{"code_issued", "paired", "token_revoked", "locked_out"} {
		if !strings.Contains(log, event) {
			t.Errorf("%s is not on record:\n%s", event, log)
		}
	}
}

// TestTokenCommandsNeedAGateway: they say so in a sentence.
func TestTokenCommandsNeedAGateway(t *testing.T) {
	w := NewWorld(t)
	for _, args := range [][]string{{"pair"}, {"token", "create", "a"}, {"token", "list"}, {"token", "revoke", "a"}} {
		_, complaint, code := w.Run(append([]string{"gateway"}, args...)...)
		if code != 1 || !strings.Contains(complaint, "no gateway runs") || strings.Count(complaint, "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, code, complaint)
		}
	}
	g := w.Gateway()
	w.token("a")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"create", "a"}, 1, "there is a token a already"},
		{[]string{"create", "local"}, 1, "--owner local"},
		{[]string{"create", "b", "--role", "admin"}, 1, "observer, prompter or approver"},
		{[]string{"create", "b", "--scope", "ghost"}, 1, `no agent "ghost"`},
		{[]string{"create", "b", "--expires", "soon"}, 2, "such as 12h or 30d"},
		{[]string{"create", "b", "--expires", "-1h"}, 2, "such as 12h or 30d"},
		{[]string{"create"}, 2, "needs NAME"},
		{[]string{"revoke", "b"}, 1, "no such token"},
	} {
		_, complaint, code := w.Run(append([]string{"gateway", "token"}, tt.args...)...)
		if code != tt.code || !strings.Contains(complaint, tt.want) {
			t.Errorf("%v: exit %d, %q", tt.args, code, complaint)
		}
	}
	g.Stop()
}

// TestExpiryEndsAConnection: the connection of a token ends with it.
func TestExpiryEndsAConnection(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	c := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("brief", "--expires", "3s")})
	c.Init()
	if code, reason := c.Closed(); code != 1008 || !strings.Contains(reason, "expired") {
		t.Errorf("it ends with %d %q", code, reason)
	}
}

// TestRoleAndScopeOfAToken: a token bounds what its client may be and whom it may
// use, whatever the client asks for.
func TestRoleAndScopeOfAToken(t *testing.T) {
	w := NewWorld(t, "[agents.other]", `provider = "fake"`)
	g := w.Gateway()
	owner := g.Connect(Dial{Query: "agent=main"})
	owner.Init()
	s := owner.New()

	watcher := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("watcher", "--owner", "local", "--role", "observer")})
	watcher.Init()
	watcher.Must("session/load", object{"sessionId": s, "cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"grapnel": object{"role": "approver"}}}, nil)
	for _, call := range []struct {
		method string
		params object
	}{
		{"session/prompt", PromptParams(s, "D:SAY hi")},
		{"session/new", object{"cwd": w.Cwd, "mcpServers": []any{}}},
		{"session/set_mode", object{"sessionId": s, "modeId": "plan"}},
		{"session/delete", object{"sessionId": s}},
		{"session/close", object{"sessionId": s}},
		{"_grapnel/session/share", object{"sessionId": s, "owner": "watcher", "role": "approver"}},
	} {
		if m := watcher.Call(call.method, call.params); m.Error == nil {
			t.Errorf("an observer may %s", call.method)
		}
	}
	id := owner.BeginPrompt(s, "D:TOOL shell mkdir -p d")
	p := owner.AwaitPermission(0)
	watcher.Answer(p, object{"outcome": object{"outcome": "selected", "optionId": p.Option("allow_once")}})
	watcher.Must("session/list", object{}, nil)
	owner.Choose(p, "reject_once")
	owner.Response(id)
	if hasUpdate(owner.Updates(s, 0), func(u Update) bool { return u.Status == "completed" }) {
		t.Error("the observer's answer counted")
	}

	scoped := g.Connect(Dial{Anonymous: true, Query: "agent=main&token=" + w.token("scoped", "--owner", "local", "--scope", "other")})
	scoped.Init()
	if m := scoped.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"agentAlias": "main"}}); m.Error == nil {
		t.Errorf("a session of an agent out of scope: %s", m.Result)
	}
	if m := scoped.Call("session/load", w.LoadParams(s)); m.Error == nil {
		t.Error("a session of an agent out of scope is loaded")
	}
	if m := scoped.Call("session/list", object{}); strings.Contains(string(m.Result), s) {
		t.Error("a session of an agent out of scope is listed")
	}
}

// TestCeilingOfAnOwner: full autonomy of the agent is not that of every owner.
func TestCeilingOfAnOwner(t *testing.T) {
	w := NewWorld(t, `autonomy.level = "full"`, `owners.trusted.ceiling = "full"`, `owners.guest.ceiling = "readonly"`)
	g := w.Gateway()
	for _, tt := range []struct {
		owner string
		want  string // what becomes of a command that needs approval at level supervised
	}{
		{"trusted", "runs"}, {"ci", "asks"}, {"guest", "fails"},
	} {
		c := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token(tt.owner)})
		c.Init()
		s := c.New()
		id := c.BeginPrompt(s, "D:TOOL shell mkdir -p d")
		m := c.Await(0, "a question or the end", func(m Message) bool {
			return m.Method == "session/request_permission" || string(m.ID) == id && m.Method == ""
		})
		got := "fails"
		switch {
		case m.Method != "":
			got = "asks"
		case hasUpdate(c.Updates(s, 0), func(u Update) bool { return u.Status == "completed" }):
			got = "runs"
		}
		if got != tt.want {
			t.Errorf("for %s it %s; want %s", tt.owner, got, tt.want)
		}
	}
}

// TestLimitsOfAnOwner: connections and messages are counted per owner.
func TestLimitsOfAnOwner(t *testing.T) {
	w := NewWorld(t, "gateway.limits.connections = 2", "gateway.limits.requests_per_minute = 20")
	g := w.Gateway()
	query := "token=" + w.token("busy")
	a := g.Connect(Dial{Anonymous: true, Query: query})
	b := g.Connect(Dial{Anonymous: true, Query: query})
	if _, resp, err := g.TryConnect(Dial{Anonymous: true, Query: query}); err == nil || resp == nil || resp.StatusCode != 429 {
		t.Errorf("a third connection: %v, %v", resp, err)
	}
	other := g.Connect(Dial{})
	other.Init()
	a.Init()
	b.Init()
	refused := 0
	for range 30 {
		if m := a.Call("session/list", object{}); m.Error != nil {
			refused++
			if m.Error.Code != -32005 || !strings.Contains(string(m.Error.Data), "retryAfterMs") {
				t.Fatalf("over the rate: %+v", m.Error)
			}
		}
	}
	if refused < 10 || refused > 13 {
		t.Errorf("%d of 30 requests were refused", refused)
	}
	if m := b.Call("session/list", object{}); m.Error == nil {
		t.Error("another connection of the owner has a rate of its own")
	}
	other.Must("session/list", object{}, nil)
	b.Hangup()
	<-b.Ended
	waitFor(t, "room for a connection", func() bool {
		c, _, err := g.TryConnect(Dial{Anonymous: true, Query: query})
		if err == nil {
			c.Drop()
		}
		return err == nil
	})
}

// TestZ7HTTPConnections: the id of another's HTTP connection is as good as none,
// also for a credential of the same owner that may do less.
func TestZ7HTTPConnections(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	alice, bob := w.token("alice"), w.token("bob")
	watcher := w.token("watcher", "--owner", "alice", "--role", "observer")
	second := w.token("second", "--owner", "alice")
	post := func(token, id, body string) (int, string, string) {
		req, err := http.NewRequest(http.MethodPost, g.URL+"/acp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		if id != "" {
			req.Header.Set("Acp-Connection-Id", id)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header.Get("Acp-Connection-Id"), string(text)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	list := Request("2", "session/list", object{})
	status, id, text := post(alice, "", Request("1", "initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}))
	if status != 200 || id == "" {
		t.Fatalf("initialize: %d %s", status, text)
	}
	none, _, noneText := post(bob, strings.Repeat("0", len(id)), list)
	for name, token := range map[string]string{"another owner": bob, "a lesser credential": watcher} {
		if status, _, text := post(token, id, list); status != 404 || status != none || text != noneText {
			t.Errorf("%s gets %d %s; for no connection %d %s", name, status, text, none, noneText)
		}
	}
	if status, _, text := post(second, id, list); status != 202 {
		t.Errorf("another token of the same authority gets %d %s", status, text)
	}
	w.grapnel("", "gateway", "token", "revoke", "alice")
	if status, _, _ := post(alice, id, list); status != 401 {
		t.Errorf("a revoked token gets %d", status)
	}
	waitFor(t, "the connection to end with its token", func() bool {
		status, _, _ := post(second, id, list)
		return status == 404
	})
}

// TestZ7OwnersAreApart: with one credential, every method about a session of
// another owner is answered as for an id that was never given out, to the byte;
// the owner's turn, question and transcript are as if nothing had been.
func TestZ7OwnersAreApart(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	a := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("alice")})
	b := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("bob")})
	a.Init()
	b.Init()
	s := a.New()
	a.Must("_grapnel/session/label", object{"sessionId": s, "label": "the " + s}, nil)
	turn := a.BeginPrompt(s, "D:SAY unheard of ; D:TOOL shell mkdir -p d")
	p := a.AwaitPermission(0)
	before := b.everythingListed()
	for _, call := range foreignCalls(w) {
		random := "s_" + strings.Repeat("a", len(s)-2)
		if got, want := b.probe(call, s), b.probe(call, random); got != want {
			t.Errorf("%s answers\n%s\nfor another's session, and for none\n%s", call.method, got, want)
		}
	}
	b.Answer(p, object{"outcome": object{"outcome": "selected", "optionId": p.Option("allow_once")}})
	if after := b.everythingListed(); after != before || strings.Contains(after, s) || strings.Contains(after, "unheard") {
		t.Errorf("bob's lists were %s and are %s", before, after)
	}
	if hasUpdate(a.Updates(s, 0), func(u Update) bool { return u.Status == "completed" || u.Status == "failed" }) {
		t.Error("bob's answer counted")
	}
	a.Choose(p, "allow_once")
	defer func() {
		if log := w.grapnel("", "audit", "export", "--session", s); !strings.Contains(log, `"by":"person alice `) {
			t.Errorf("who allowed it is not on record:\n%s", log)
		}
	}()
	if reason := a.Response(turn).StopReason(); reason != "end_turn" {
		t.Errorf("alice's turn ended with %s", reason)
	}
	for _, m := range b.Messages() {
		if m.Method != "" {
			t.Errorf("bob is told %s %s", m.Method, m.Params)
		}
	}
	again := g.Connect(Dial{Anonymous: true, Query: "token=" + w.token("alice2", "--owner", "alice")})
	again.Init()
	again.Must("session/load", w.LoadParams(s), nil)
	if said := again.Said(s, 0); !strings.Contains(said, "unheard of") {
		t.Errorf("another token of alice is told %q", said)
	}
	local := g.Connect(Dial{})
	local.Init()
	if m := local.Call("session/load", w.LoadParams(s)); m.Error == nil {
		t.Error("the owner of this machine has alice's session over the network")
	}
}

type foreignCall struct {
	method string
	params object // ID stands for the session's id
}

// foreignCalls is every method there is about a session.
func foreignCalls(w *World) []foreignCall {
	of := func(more object) object {
		p := object{"sessionId": "ID"}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	cwd := object{"cwd": w.Cwd, "mcpServers": []any{}}
	text := object{"prompt": []object{{"type": "text", "text": "D:SAY hi"}}}
	return []foreignCall{
		{"session/load", of(cwd)},
		{"session/resume", of(cwd)},
		{"session/resume", of(object{"cwd": w.Cwd, "_meta": object{"grapnel": object{"after": 1, "role": "observer"}}})},
		{"session/fork", of(cwd)},
		{"session/prompt", of(text)},
		{"_session/steering", of(text)},
		{"session/cancel", of(nil)},
		{"session/set_mode", of(object{"modeId": "full"})},
		{"session/set_model", of(object{"modelId": "fake-model"})},
		{"session/set_config_option", of(object{"configId": "mode", "value": "full"})},
		{"_grapnel/session/revoke", of(object{"grants": []string{"x"}})},
		{"_grapnel/session/share", of(object{"owner": "bob", "role": "approver"})},
		{"_grapnel/session/label", of(object{"label": "mine"})},
		{"session/set_title", of(object{"title": "mine"})},
		{"session/archive", of(nil)},
		{"session/unarchive", of(nil)},
		{"session/status", of(nil)},
		{"session/update", of(object{"update": object{"sessionUpdate": "plan", "entries": []any{}}})},
		{"session/event", of(object{"event": object{"type": "x"}})},
		{"session/new", object{"cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"sessionLabel": "the ID"}}},
		{"session/new", object{"cwd": w.Cwd, "mcpServers": []any{}, "_meta": object{"sessionKey": "agent:main:acp:ID", "requireExisting": true}}},
		{"session/stop", of(nil)},
		{"session/close", of(nil)},
		{"session/delete", of(nil)},
	}
}

// probe makes a call about a session and returns the answer's bytes, with ID for
// the session's id and N for the request's.
func (c *Client) probe(call foreignCall, id string) string {
	c.t.Helper()
	n := c.Begin(call.method, json.RawMessage(strings.ReplaceAll(encode(call.params), "ID", id)))
	m := c.Response(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.NewReplacer(id, "ID", fmt.Sprintf(`"id":%s`, n), `"id":N`).Replace(c.raw[m.Line])
}

// everythingListed is what a client can list and find.
func (c *Client) everythingListed() string {
	c.t.Helper()
	list := c.Call("session/list", object{"archived": "include"})
	found := c.Call("_grapnel/session/search", object{"text": "unheard", "archived": "include"})
	return string(list.Result) + string(found.Result)
}

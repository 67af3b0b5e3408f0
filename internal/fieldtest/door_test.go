package fieldtest

import (
	"bufio"
	"encoding/json"
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

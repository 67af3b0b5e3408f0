package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/ws"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

const patience = 30 * time.Second

// fakeDoor lets in who has the token it knows.
type fakeDoor struct {
	enter func(ctx context.Context) (context.Context, func(), error)
}

const goodToken = "good"

func (d fakeDoor) Admit(r *http.Request) (door.Pass, error) {
	if strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") != goodToken {
		return door.Pass{}, &door.Refusal{Status: http.StatusUnauthorized, Message: "unauthorized"}
	}
	return door.Pass{Owner: "ann", Agents: []string{"a"}, Local: true}, nil
}

func (d fakeDoor) Enter(ctx context.Context, _ door.Pass) (context.Context, func(), error) {
	if d.enter != nil {
		return d.enter(ctx)
	}
	return ctx, func() {}, nil
}

func (fakeDoor) Count(string) time.Duration { return 0 }

func (fakeDoor) ServePair(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(w, r.Body); err != nil {
		http.Error(w, "slow", http.StatusRequestTimeout)
	}
}

// echo answers each request with its own options and params.
type echo struct {
	o serve.ConnOptions
}

func (e echo) HandleRequest(_ context.Context, req *acp.Request) {
	_ = req.Reply(struct {
		Method  string   `json:"method"`
		Owner   string   `json:"owner"`
		Agent   string   `json:"agent"`
		Agents  []string `json:"agents"`
		ID      string   `json:"id"`
		Dialect bool     `json:"dialect"`
		Local   bool     `json:"local"`
	}{req.Method, e.o.Owner, e.o.Agent, e.o.Agents, e.o.ID, e.o.Dialect, e.o.Local})
}

func (echo) HandleNotification(context.Context, *acp.Notification) {}

// running is a gateway of a test.
type running struct {
	*Gateway
	t    *testing.T
	addr string
	log  *buffer
}

// start runs a gateway with the fake door and an echo behind it.
func start(t *testing.T, change func(*Options)) *running {
	t.Helper()
	log := &buffer{}
	o := Options{Door: fakeDoor{}, Version: "1.2", Metrics: true, Logger: slog.New(slog.NewTextHandler(log, nil))}
	var g *Gateway
	o.Serve = func(ctx context.Context, mc acp.MessageConn, co serve.ConnOptions) error {
		return acp.NewConn(mc, echo{o: co}, &acp.Options{Answered: func(method string, fault *acp.Error, took time.Duration) {
			g.Observe(co, method, fault, took)
		}}).Run(ctx)
	}
	if change != nil {
		change(&o)
	}
	g = New(o)
	l, err := Address{Host: "127.0.0.1"}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := g.Close(ctx, "the test is over"); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &running{g, t, l.Addr().String(), log}
}

// buffer is a log that several goroutines write.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// get makes a request of its own connection and returns status and body.
func (g *running) do(method, path, token string, headers ...string) (int, string) {
	g.t.Helper()
	req, err := http.NewRequest(method, "http://"+g.addr+path, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	tr := &http.Transport{DisableKeepAlives: true}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(req)
	if err != nil {
		g.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func (g *running) dial(query string, protocols ...string) (*ws.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return ws.Dial(ctx, "ws://"+g.addr+g.opts.Prefix+"/acp"+query, ws.DialOptions{
		Header: http.Header{"Authorization": {"Bearer " + goodToken}}, Subprotocols: protocols,
	})
}

func (g *running) mustDial(query string, protocols ...string) *ws.Conn {
	g.t.Helper()
	c, err := g.dial(query, protocols...)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = c.Close() })
	return c
}

func ask(t *testing.T, c acp.MessageConn, line string) (answer struct {
	ID     jsontext.Value `json:"id"`
	Result struct {
		Method, Owner, Agent, ID string
		Agents                   []string
		Dialect, Local           bool
	} `json:"result"`
	Error *acp.Error `json:"error"`
},
) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.WriteMessage(ctx, jsontext.Value(line)); err != nil {
		t.Fatal(err)
	}
	msg, err := c.ReadMessage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(msg, &answer, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v: %s", err, msg)
	}
	return answer
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`

func TestSocketKnowsWhoseItIs(t *testing.T) {
	g := start(t, nil)
	c := g.mustDial("?agent=%20b%20")
	r := ask(t, c, initialize).Result
	if r.Owner != "ann" || r.Agent != "b" || len(r.Agents) != 1 || !r.Local || r.Dialect || r.ID == "" || r.ID != c.ID() {
		t.Errorf("%+v, the handshake said %q", r, c.ID())
	}
	if r := ask(t, g.mustDial("?agent="), initialize).Result; r.Agent != "" {
		t.Errorf("a blank agent is %q", r.Agent)
	}
}

func TestTheDoorComesBeforeTheUpgrade(t *testing.T) {
	g := start(t, nil)
	for _, token := range []string{"", "bad"} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		_, err := ws.Dial(ctx, "ws://"+g.addr+"/acp", ws.DialOptions{Header: http.Header{"Authorization": {"Bearer " + token}}})
		cancel()
		var refused *ws.HandshakeError
		if !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
			t.Errorf("token %q: %v", token, err)
		}
		for _, method := range []string{"GET", "POST", "DELETE", "PUT"} {
			if status, _ := g.do(method, "/acp", token); status != http.StatusUnauthorized {
				t.Errorf("%s with token %q: %d", method, token, status)
			}
		}
	}
	if n := g.Connections(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestSubprotocolIsTheDialectsOrNone(t *testing.T) {
	g := start(t, nil)
	for _, offer := range []struct {
		offered []string
		want    string
	}{
		{nil, ""},
		{[]string{"zeroclaw.acp.v1", "bearer.secret"}, "zeroclaw.acp.v1"},
		{[]string{"bearer.secret", "zeroclaw.acp.v1"}, "zeroclaw.acp.v1"},
		{[]string{"bearer.secret"}, ""},
	} {
		c := g.mustDial("", offer.offered...)
		if c.Subprotocol() != offer.want {
			t.Errorf("%v: selected %q", offer.offered, c.Subprotocol())
		}
		if r := ask(t, c, initialize).Result; r.Dialect != (offer.want != "") {
			t.Errorf("%v: dialect %v", offer.offered, r.Dialect)
		}
	}
}

func TestFirstMessageMustBeInitialize(t *testing.T) {
	g := start(t, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, first := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{}}`,
		`{"jsonrpc":"2.0","method":"session/cancel"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":5}`,
	} {
		c := g.mustDial("")
		if err := c.WriteMessage(ctx, jsontext.Value(first)); err != nil {
			t.Fatal(err)
		}
		_, err := c.ReadMessage(ctx)
		var closed *ws.CloseError
		if !errors.As(err, &closed) || closed.Code != 1002 || closed.Reason != "First message must be initialize" {
			t.Errorf("%s: %v", first, err)
		}
	}
}

func TestBrokenMessagesCloseNothing(t *testing.T) {
	g := start(t, nil)
	c := g.mustDial("")
	for _, m := range []struct {
		line string
		code acp.ErrorCode
	}{{`[` + initialize + `]`, -32600}, {`{"jsonrpc"`, -32700}, {`true`, -32600}} {
		if a := ask(t, c, m.line); a.Error == nil || a.Error.Code != m.code || string(a.ID) != "null" {
			t.Errorf("%s: %+v", m.line, a)
		}
	}
	if a := ask(t, c, initialize); a.Error != nil {
		t.Errorf("after them: %v", a.Error)
	}
}

func TestTheDialectNeedsNoInitialize(t *testing.T) {
	g := start(t, nil)
	c := g.mustDial("", "zeroclaw.acp.v1")
	if a := ask(t, c, `{"jsonrpc":"2.0","id":1,"method":"session/new"}`); a.Result.Method != "session/new" {
		t.Errorf("%+v", a)
	}
}

func TestMessageOverTheLimitIs1009(t *testing.T) {
	g := start(t, func(o *Options) { o.MaxBytes = 2048 })
	c := g.mustDial("")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.WriteMessage(ctx, jsontext.Value(`"`+strings.Repeat("x", 4096)+`"`)); err != nil {
		t.Fatal(err)
	}
	_, err := c.ReadMessage(ctx)
	var closed *ws.CloseError
	if !errors.As(err, &closed) || closed.Code != 1009 {
		t.Error(err)
	}
}

func TestARevokedCredentialEndsItsConnections(t *testing.T) {
	revoked := make(chan context.CancelCauseFunc, 1)
	left := make(chan struct{})
	g := start(t, func(o *Options) {
		o.Door = fakeDoor{enter: func(ctx context.Context) (context.Context, func(), error) {
			inside, end := context.WithCancelCause(ctx)
			revoked <- end
			return inside, func() { end(nil); close(left) }, nil
		}}
	})
	c := g.mustDial("")
	ask(t, c, initialize)
	(<-revoked)(door.ErrRevoked)
	_, err := c.ReadMessage(context.Background())
	var closed *ws.CloseError
	if !errors.As(err, &closed) || closed.Code != 1008 || closed.Reason != door.ErrRevoked.Error() {
		t.Error(err)
	}
	<-left
}

func TestTooManyConnectionsAreRefused(t *testing.T) {
	g := start(t, func(o *Options) {
		o.Door = fakeDoor{enter: func(context.Context) (context.Context, func(), error) {
			return nil, nil, &door.Refusal{Status: http.StatusTooManyRequests, Message: "too many"}
		}}
	})
	_, err := g.dial("")
	var refused *ws.HandshakeError
	if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests {
		t.Error(err)
	}
	if status, body := g.do("POST", "/acp", goodToken, "Content-Type", "application/json"); status != http.StatusTooManyRequests || body != "too many\n" {
		t.Errorf("over HTTP: %d %s", status, body)
	}
}

// TestAPostThatOpensNothingTakesNoPlace: what is no initialize is no connection.
func TestAPostThatOpensNothingTakesNoPlace(t *testing.T) {
	var inside atomic.Int32
	g := start(t, func(o *Options) {
		o.Door = fakeDoor{enter: func(ctx context.Context) (context.Context, func(), error) {
			inside.Add(1)
			return ctx, func() { inside.Add(-1) }, nil
		}}
	})
	if status, _ := g.do("POST", "/acp", goodToken, "Content-Type", "application/json"); status != http.StatusBadRequest {
		t.Errorf("nothing is posted: %d", status)
	}
	if n := inside.Load(); n != 0 {
		t.Errorf("%d places are taken", n)
	}
}

func TestRoutesLieBelowThePrefix(t *testing.T) {
	g := start(t, func(o *Options) { o.Prefix = CleanPrefix("/x/y/") })
	for path, want := range map[string]int{
		"/x/y/health": 200, "/health": 404, "/x/y/acp": 406, "/x/y": 404, "/": 404, "/x/y/acp/": 404, "/x/y/metrics": 200,
	} {
		if status, body := g.do("GET", path, goodToken); status != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	ask(t, g.mustDial(""), initialize)
	if CleanPrefix("/") != "" || CleanPrefix("a") != "/a" {
		t.Error("prefixes are not cleaned")
	}
}

func TestDrainRefusesNewConnectionsOnly(t *testing.T) {
	g := start(t, nil)
	c := g.mustDial("")
	ask(t, c, initialize)
	g.Drain()
	_, err := g.dial("")
	var refused *ws.HandshakeError
	if !errors.As(err, &refused) || refused.Status != http.StatusServiceUnavailable || refused.Header.Get("Retry-After") == "" {
		t.Error(err)
	}
	if status, _ := g.do("POST", "/acp", goodToken, "Content-Type", "application/json"); status != http.StatusServiceUnavailable {
		t.Errorf("a new connection by HTTP: %d", status)
	}
	if status, body := g.do("GET", "/health", ""); status != http.StatusServiceUnavailable || !strings.Contains(body, `"draining"`) {
		t.Errorf("health: %d %s", status, body)
	}
	ask(t, c, `{"jsonrpc":"2.0","id":2,"method":"x"}`)
}

func TestCloseSaysWhy(t *testing.T) {
	g := start(t, nil)
	c := g.mustDial("")
	ask(t, c, initialize)
	closed := make(chan error, 1)
	go func() {
		_, err := c.ReadMessage(context.Background())
		closed <- err
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := g.Close(ctx, "good night"); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; !errors.Is(err, io.EOF) { // 1001 is a clean end
		t.Error(err)
	}
	if _, err := net.Dial("tcp", g.addr); err == nil {
		t.Error("it still listens")
	}
}

// TestW2AClientThatAnswersNoPingIsLetGo: its socket is open, and nobody is at the
// other end.
func TestW2AClientThatAnswersNoPingIsLetGo(t *testing.T) {
	over := make(chan error, 1)
	g := start(t, func(o *Options) {
		o.Ping = 50 * time.Millisecond
		serveOne := o.Serve
		o.Serve = func(ctx context.Context, mc acp.MessageConn, co serve.ConnOptions) error {
			err := serveOne(ctx, mc, co)
			over <- err
			return err
		}
	})
	nc, err := net.Dial("tcp", g.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	const handshake = "GET /acp HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nAuthorization: Bearer " + goodToken + "\r\n\r\n"
	if _, err := io.WriteString(nc, handshake); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-over:
		var lost *ws.CloseError
		if !errors.As(err, &lost) || lost.Code != ws.CodeLost {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it was not let go")
	}
}

// TestCloseEndsStreams: an open stream holds the end of the gateway up for no
// longer than a moment.
func TestCloseEndsStreams(t *testing.T) {
	g := start(t, nil)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	send := func(method, id, body string) *http.Response {
		req, err := http.NewRequest(method, "http://"+g.addr+"/acp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+goodToken)
		req.Header.Set("Content-Type", "application/json")
		if method == http.MethodGet {
			req.Header.Set("Accept", "text/event-stream")
		}
		if id != "" {
			req.Header.Set("Acp-Connection-Id", id)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	first := send("POST", "", initialize)
	_ = first.Body.Close()
	stream := send("GET", first.Header.Get("Acp-Connection-Id"), "")
	defer stream.Body.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	begun := time.Now()
	if err := g.Close(ctx, "good night"); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("it took %v", took)
	}
}

//go:build unix

package acpclient

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// buffer may be written to and read at once.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// bench is a client with the fake agent.
type bench struct {
	dir      string
	out, err buffer
	opts     Options
}

func newBench(t *testing.T, how string) *bench {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir}
	b.opts = Options{
		Cwd: dir, Server: []string{self}, ServerEnv: append(os.Environ(), behaves+"="+how, "GORACE=atexit_sleep_ms=10"),
		StartTimeout: 30 * time.Second, Redact: func(s string) string { return s },
		Files: true, Terminals: true, Environ: os.Environ(), Stdout: &b.out, Stderr: &b.err,
	}
	return b
}

func (b *bench) run(ctx context.Context, lines ...string) error {
	b.opts.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	return Run(ctx, b.opts)
}

func TestScript(t *testing.T) {
	read := `"title":"Read a.txt","kind":"read","name":"Read","rawInput":{"path":"a.txt"}}`
	for name, c := range map[string]struct {
		how     string
		lines   []string
		out     string   // whole; "*" for any
		err     []string // parts
		end     error
		prepare func(*Options)
	}{
		"prompts":           {how: "ok", lines: []string{"say one", "", "  ", "say two\r"}, out: "one\ntwo\n"},
		"no prompts":        {how: "ok"},
		"control sequences": {how: "ok", lines: []string{"say a\x1b[31mb\x07\x1b]0;title\x07c"}, out: "abc\n"},
		"S1 early update":   {how: "early", lines: []string{"say after"}, out: "before the answerafter\n"},
		"F2 noise":          {how: "noise", lines: []string{"say hello"}, out: "hello\n"},
		"X5 order":          {how: "ok", lines: []string{"count"}, out: numbers() + "\n"},
		"X17 empty reply":   {how: "ok", lines: []string{"nothing"}, err: []string{"(empty reply)"}},
		"X17 only thoughts": {how: "ok", lines: []string{`raw {"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`}, err: []string{"~ hm", "(empty reply)"}},
		"R9 stderr":         {how: "ok", lines: []string{"stderr", "stderr"}, out: "done\ndone\n"},
		"F4 12 MiB":         {how: "ok", lines: []string{"big"}, out: strings.Repeat("x", 12<<20) + "\n"},
		"refusal":           {how: "ok", lines: []string{"stop refusal", "say more"}, out: "so\nmore\n", end: ErrRefused, err: []string{"the turn ended: refusal"}},
		"cap":               {how: "ok", lines: []string{"stop max_tokens"}, out: "so\n", end: ErrCapped},
		"C7 unknown end":    {how: "ok", lines: []string{"stop paused"}, out: "so\n", end: ErrFailed, err: []string{"paused"}},
		"worst end counts":  {how: "ok", lines: []string{"stop refusal", "fail no", "say x"}, out: "so\nx\n", end: ErrFailed, err: []string{"no (-32603)"}},
		"load":              {how: "ok", lines: []string{"say new"}, out: "new\n", err: []string{"> old question", "old answer"}, prepare: func(o *Options) { o.Load = "S" }},
		"C7 unknown": {how: "ok", lines: []string{
			`raw {"sessionUpdate":"future_thing","x":1}`, `raw {"sessionUpdate":"agent_message_chunk","content":{"type":"hologram"}}`, "say alive",
		}, out: "alive\n"},
		"T8 unknown terminal": {how: "ok", lines: []string{
			`raw {"sessionUpdate":"tool_call","toolCallId":"t","title":"T","status":"completed","content":[{"type":"content","content":{"type":"text","text":"keep"}},{"type":"terminal","terminalId":"none"}]}`,
		}, err: []string{"+ T", "    keep"}},
		"diff": {how: "ok", lines: []string{
			`raw {"sessionUpdate":"tool_call","toolCallId":"t","title":"Edit","content":[{"type":"diff","path":"/x/a.go","oldText":"one\ntwo\n","newText":"one\n2\n"}]}`,
		}, err: []string{"* Edit", "/x/a.go", "@@ -1 +1 @@", "-two", "+2"}},
		"plan": {how: "ok", lines: []string{
			`raw {"sessionUpdate":"plan","entries":[{"content":"first","priority":"low","status":"completed"},{"content":"second","priority":"low","status":"pending"}]}`,
		}, err: []string{"[x] first", "[ ] second"}},
		"usage": {how: "ok", lines: []string{`raw {"sessionUpdate":"usage_update","used":500,"size":1000,"cost":{"amount":0.5,"currency":"USD"}}`}, err: []string{"context: 500 of 1000 tokens (50%), cost 0.5000 USD"}},

		"read is proven":        {how: "ok", lines: []string{"permit " + read}, out: `{"outcome":"selected","optionId":"x1"}` + "\n", err: []string{"allowed, since it only reads in this directory"}},
		"only once":             {how: "ok", lines: []string{"permit " + read + `,"options":[{"optionId":"a","name":"Yes","kind":"allow_always"},{"optionId":"n","name":"No","kind":"reject_always"}]`}, out: `{"outcome":"selected","optionId":"n"}` + "\n", end: ErrDenied},
		"P6 deny by kind":       {how: "ok", lines: []string{`permit "title":"x"}`}, out: `{"outcome":"selected","optionId":"nope-7"}` + "\n", end: ErrDenied, err: []string{"denied, since there is nobody to ask"}},
		"P6 nothing to deny by": {how: "ok", lines: []string{`permit "title":"x"},"options":[{"optionId":"a","name":"No","kind":"allow_once"}]`}, out: `{"outcome":"cancelled"}` + "\n", end: ErrDenied},
		"P6 deny once":          {how: "ok", lines: []string{`permit "title":"x"},"options":[{"optionId":"a","name":"allow","kind":"reject_always"},{"optionId":"b","name":"yes","kind":"reject_once"}]`}, out: `{"outcome":"selected","optionId":"b"}` + "\n", end: ErrDenied},
		"Z8 rm labelled read":   {how: "ok", lines: []string{`permit "title":"read file","kind":"read","rawInput":{"command":"rm -rf x"}}`}, out: `{"outcome":"selected","optionId":"nope-7"}` + "\n", end: ErrDenied},
		"Z8 announced as another": {how: "ok", lines: []string{
			`raw {"sessionUpdate":"tool_call","toolCallId":"t1","title":"Write","name":"write_file","rawInput":{"path":"a.txt"}}`, "permit " + read,
		}, out: `{"outcome":"selected","optionId":"nope-7"}` + "\n", end: ErrDenied},

		"C6 read":     {how: "ok", lines: []string{`call fs/read_text_file {"sessionId":"S","path":"a.txt","line":2}`}, out: `{"content":"two\n"} <nil>` + "\n"},
		"C6 limit 0":  {how: "ok", lines: []string{`call fs/read_text_file {"sessionId":"S","path":"a.txt","limit":0}`}, out: "*line and limit count from 1 (-32602)"},
		"C6 fraction": {how: "ok", lines: []string{`call fs/read_text_file {"sessionId":"S","path":"a.txt","line":1.5}`}, out: "*-32602"},
		"C6 text":     {how: "ok", lines: []string{`call fs/read_text_file {"sessionId":"S","path":"a.txt","line":"1"}`}, out: "*-32602"},
		"C6 negative": {how: "ok", lines: []string{`call fs/read_text_file {"sessionId":"S","path":"a.txt","limit":-1}`}, out: "*-32602"},
		"L14 unknown": {how: "ok", lines: []string{`call _x/y {}`}, out: "*-32601"},
		"no forms":    {how: "ok", lines: []string{`form {"type":"object","properties":{}}`}, out: "*-32601"},
		"not offered": {how: "ok", lines: []string{`call fs/read_text_file {"sessionId":"S","path":"a.txt"}`, `call terminal/create {"sessionId":"S","command":"true"}`}, out: "*-32601", prepare: func(o *Options) { o.Files, o.Terminals = false, false }},

		"L10 dies":         {how: "ok", lines: []string{"die", "say never"}, out: "partial\n", end: ErrFailed, err: nil},
		"L10 is killed":    {how: "ok", lines: []string{"killed"}, end: ErrFailed},
		"Y2 ends at start": {how: "npm", lines: []string{"say x"}, end: ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.how)
			if c.prepare != nil {
				c.prepare(&b.opts)
			}
			end := b.run(t.Context(), c.lines...)
			if !errors.Is(end, c.end) {
				t.Errorf("it ends with %v, not %v", end, c.end)
			}
			if part, any := strings.CutPrefix(c.out, "*"); any && !strings.Contains(b.out.String(), part) || !any && b.out.String() != c.out {
				t.Errorf("stdout: %.500q", b.out.String())
			}
			for _, part := range c.err {
				if !strings.Contains(b.err.String(), part) {
					t.Errorf("stderr has no %q: %.2000s", part, b.err.String())
				}
			}
			if strings.ContainsAny(b.err.String()+b.out.String(), "\x1b\a\r") {
				t.Errorf("there are control characters in %.500q %.500q", b.err.String(), b.out.String())
			}
		})
	}
}

func numbers() string {
	var b strings.Builder
	for i := range 200 {
		b.WriteString(" " + string(appendInt(i)))
	}
	return strings.TrimPrefix(b.String(), " ") + " "
}

func appendInt(i int) []byte {
	if i < 10 {
		return []byte{byte('0' + i)}
	}
	return append(appendInt(i/10), byte('0'+i%10))
}

// TestMessages holds the words for agents that do not work.
func TestMessages(t *testing.T) {
	for name, c := range map[string]struct {
		how, prompt string
		want        []string
		prepare     func(*Options)
	}{
		"L10":               {"ok", "die", []string{"exited with code 3", "boom: no quota"}, nil},
		"L10 signal":        {"ok", "killed", []string{"was ended by SIGKILL"}, nil},
		"Y2":                {"npm", "", []string{"exited with code 1", "npm error EOVERRIDE Override for zod conflicts"}, nil},
		"F2 flood":          {"flood", "", []string{"writes what is no ACP", "junk line 0"}, nil},
		"R8 no answer":      {"silent", "", []string{"has not answered initialize for 500ms", "Welcome to the UI!"}, func(o *Options) { o.StartTimeout = 500 * time.Millisecond }},
		"L13 newer version": {"future", "", []string{"speaks version 2 of ACP, and this client only version 1"}, nil},
		"login":             {"auth", "", []string{"log in first", ":login browser   Log in by browser", "setup   Set a key"}, nil},
		"no program":        {"ok", "", []string{"there is no program /no/such"}, func(o *Options) { o.Server = []string{"/no/such"} }},
		"no directory":      {"ok", "", []string{"use the directory"}, func(o *Options) { o.Cwd = "/no/such" }},
		"cannot resume":     {"ok", "", []string{"this agent cannot resume sessions"}, func(o *Options) { o.Resume = "x" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.how)
			if c.prepare != nil {
				c.prepare(&b.opts)
			}
			err := b.run(t.Context(), c.prompt)
			if err == nil {
				t.Fatal("it ends well")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
			if _, err := os.Stat(filepath.Join(b.dir, "opened")); err == nil {
				t.Error("a session was opened")
			}
		})
	}
}

// TestX3CancelAnswersQuestions interrupts a turn with two open permissions: both are answered.
func TestX3CancelAnswersQuestions(t *testing.T) {
	b := newBench(t, "ok")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held := make(chan struct{}, 2)
	v := newView(&streams{out: &b.out, err: &b.err}, false)
	c, err := connect(ctx, b.opts, v, &waiter{held: held}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := c.start(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.prompt(ctx, `permits "title":"x"}`) }()
	<-held
	<-held
	cancel()
	if err := <-ended; !errors.Is(err, ErrInterrupted) || errors.Is(err, errStuck) {
		t.Error(err)
	}
	if got := b.out.String(); strings.Count(got, `{"outcome":"cancelled"}`) != 2 {
		t.Errorf("%q", got)
	}
}

// waiter is a person who is asked and does not answer.
type waiter struct{ held chan struct{} }

func (w *waiter) choose(ctx context.Context, _ question) (int, error) {
	w.held <- struct{}{}
	<-ctx.Done()
	return 0, context.Cause(ctx)
}

func (w *waiter) line(ctx context.Context, _ string) (string, error) {
	_, err := w.choose(ctx, question{})
	return "", err
}

// TestInterrupt ends a turn that does not end by itself.
func TestInterrupt(t *testing.T) {
	b := newBench(t, "ok")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.run(ctx, "stall", "say never") }()
	waitFor(t, func() bool { return strings.Contains(b.out.String(), "stalling") })
	cancel()
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
	if got := b.out.String(); got != "stalling\n" {
		t.Errorf("%q", got)
	}
}

// TestX2CancelRightBehindThePrompt interrupts a turn before it has begun: it is sent, and then cancelled.
func TestX2CancelRightBehindThePrompt(t *testing.T) {
	b := newBench(t, "ok")
	c, err := connect(t.Context(), b.opts, newView(&streams{out: &b.out, err: &b.err}, false), nobody{}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := c.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.prompt(ctx, "stall"); !errors.Is(err, ErrInterrupted) || errors.Is(err, errStuck) {
			t.Fatal(err)
		}
	}
}

// TestInterruptedStart ends the wait for an agent that says nothing.
func TestInterruptedStart(t *testing.T) {
	b := newBench(t, "silent")
	b.opts.ServerVerbose, b.opts.Wire = true, true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- b.run(ctx, "say never") }()
	waitFor(t, func() bool {
		return strings.Contains(b.err.String(), `-> {"jsonrpc":"2.0","id":1,"method":"initialize"`)
	})
	cancel()
	if err := <-ended; !errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
}

// TestServerVerbose shows what the server logs, and takes secrets out.
func TestServerVerbose(t *testing.T) {
	b := newBench(t, "ok")
	b.opts.ServerVerbose = true
	b.opts.Redact = func(s string) string { return strings.ReplaceAll(s, "quota", "[redacted]") }
	if err := b.run(t.Context(), "die"); !errors.Is(err, ErrFailed) {
		t.Error(err)
	}
	if got := b.err.String(); !strings.Contains(got, "server: boom: no [redacted]\n") {
		t.Errorf("%q", got)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// TestL5ServerMayFinish ends servers as gently as they let themselves be ended.
func TestL5ServerMayFinish(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes as long as patience with a server does")
	}
	for how, marked := range map[string]bool{"marks-eof": true, "marks-term": true, "ignores": false} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, how)
			started := time.Now()
			if err := b.run(t.Context(), "say x"); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(started); d > 12*time.Second {
				t.Errorf("it took %v", d)
			}
			if _, err := os.Stat(filepath.Join(b.dir, "marker")); (err == nil) != marked {
				t.Errorf("marker: %v", err)
			}
		})
	}
}

// TestAnnouncesWhatItServes looks at the capabilities that the agent was told.
func TestAnnouncesWhatItServes(t *testing.T) {
	for want, prepare := range map[string]func(*Options){
		`{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`: func(*Options) {},
		`{"fs":{"readTextFile":true,"writeTextFile":true}}`:                 func(o *Options) { o.Terminals = false },
		`{}`: func(o *Options) { o.Files, o.Terminals = false, false },
		`{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"_meta":{"grapnel":{"clientFs":true,"tools":"client"}}}`: dialFake,
		`{"fs":{"readTextFile":true,"writeTextFile":true},"_meta":{"grapnel":{"clientFs":true,"tools":"gateway"}}}`: func(o *Options) {
			dialFake(o)
			o.Terminals = false
		},
	} {
		b := newBench(t, "ok")
		prepare(&b.opts)
		if err := b.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(b.dir, "capabilities")); err != nil || string(got) != want {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
	}
}

// dialFake has the agent run already, as one at a distance does.
func dialFake(o *Options) {
	o.Dial = func(ctx context.Context) (acp.MessageConn, error) {
		_, pipe, err := startServer(ctx, *o, nil)
		return pipe, err
	}
}

// TestDialedAgent speaks over a connection that is there.
func TestDialedAgent(t *testing.T) {
	b := newBench(t, "")
	here, there := acp.NewPipe()
	a := &fake{}
	a.conn = acp.NewConn(there, a.agent().Handler(), nil)
	served := make(chan error, 1)
	go func() { served <- a.conn.Run(context.Background()) }()
	t.Chdir(b.dir)
	b.opts.Dial = func(context.Context) (acp.MessageConn, error) { return here, nil }
	b.opts.Files, b.opts.Terminals = false, false
	read := `permit "title":"Read a.txt","kind":"read","name":"Read","rawInput":{"path":"a.txt"}}`
	if err := b.run(t.Context(), "say hello", read); !errors.Is(err, ErrDenied) || !strings.HasPrefix(b.out.String(), "hello\n") {
		t.Errorf("%q, %v", b.out.String(), err)
	}
	if !strings.Contains(b.err.String(), "works elsewhere, where nothing can be proven") {
		t.Errorf("a read on another machine: %s", b.err.String())
	}
	<-served
	b.opts.Dial = func(context.Context) (acp.MessageConn, error) { return nil, errors.New("nobody is there") }
	if err := b.run(t.Context(), "say hello"); err == nil || !strings.Contains(err.Error(), "nobody is there") {
		t.Error(err)
	}
}

// TestAgentThatLeavesAfterATurn: its end does not make good what went wrong before.
func TestAgentThatLeavesAfterATurn(t *testing.T) {
	for range 20 { // whether the end is seen with the answer or after it
		b := newBench(t, "")
		here, there := acp.NewPipe()
		served := make(chan error, 1)
		go func() {
			served <- answerEach(there, `{"protocolVersion":1}`, `{"sessionId":"S"}`, `{"stopReason":"refusal"}`, `{"stopReason":"end_turn"}`)
		}()
		left := &leaving{MessageConn: here, gone: make(chan struct{})}
		b.opts.Dial = func(context.Context) (acp.MessageConn, error) { return left, nil }
		b.opts.Stderr = left
		if err := b.run(t.Context(), "one", "two"); !errors.Is(err, ErrRefused) && !errors.Is(err, ErrFailed) {
			t.Fatalf("it ends with %v", err)
		}
		if err := <-served; err != nil {
			t.Fatal(err)
		}
	}
}

// leaving is a connection, and an output that tells of the end of the second turn
// once the agent is gone.
type leaving struct {
	acp.MessageConn
	once sync.Once
	gone chan struct{}
}

func (l *leaving) Close() error {
	defer l.once.Do(func() { close(l.gone) })
	return l.MessageConn.Close()
}

func (l *leaving) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("(empty reply)")) {
		<-l.gone
	}
	return len(p), nil
}

// answerEach answers one request after the other, and leaves.
func answerEach(mc acp.MessageConn, results ...string) error {
	for _, result := range results {
		msg, err := mc.ReadMessage(context.Background())
		if err != nil {
			return err
		}
		var req struct {
			ID jsontext.Value `json:"id"`
		}
		if err := json.Unmarshal(msg, &req); err != nil {
			return err
		}
		answer := jsontext.Value(`{"jsonrpc":"2.0","id":` + string(req.ID) + `,"result":` + result + `}`)
		if err := mc.WriteMessage(context.Background(), answer); err != nil {
			return err
		}
	}
	return mc.Close()
}

//go:build unix

package acpclient

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	_ "github.com/grapnel-ai/grapnel/internal/proc/shim" // guards children, as in the program
)

// behaves is the variable that makes a test binary an agent, and says how it
// behaves.
const behaves = "ACPCLIENT_TEST_AGENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaves); how != "" {
		playAgent(how)
		return
	}
	goleak.VerifyTestMain(m)
}

// playAgent is an agent with a fault, or one that does what it is told.
func playAgent(how string) {
	switch how {
	case "npm": // Y2
		fmt.Fprintln(os.Stderr, "npm error code EOVERRIDE\nnpm error EOVERRIDE Override for zod conflicts")
		os.Exit(1)
	case "flood": // F2
		for i := range 10_000 {
			fmt.Printf("junk line %d\n", i)
		}
		waitForEnd()
	case "silent": // R8
		fmt.Println("Welcome to the UI!")
		waitForEnd()
	case "noise": // F2
		fmt.Print("[FA] ready\n\x1b[32mok\x1b[0m\n\n{\"id\":1,\"level\":\"info\",\"msg\":\"boot\"}\n")
	case "marks-eof", "marks-term", "ignores": // L5
		outlive(how)
		return
	}
	a := &fake{how: how}
	a.conn = acp.NewConn(acp.NewStdio(os.Stdin, os.Stdout, 0), a.agent().Handler(), nil)
	_ = a.conn.Run(context.Background())
}

func waitForEnd() {
	s := bufio.NewScanner(os.Stdin)
	for s.Scan() {
		continue
	}
	os.Exit(0)
}

// outlive answers nothing after its input has ended: it saves what it knows.
func outlive(how string) {
	terms := make(chan os.Signal, 1)
	signal.Notify(terms, syscall.SIGTERM)
	a := &fake{how: how}
	a.conn = acp.NewConn(acp.NewStdio(os.Stdin, os.Stdout, 0), a.agent().Handler(), nil)
	_ = a.conn.Run(context.Background())
	mark := func() { _ = os.WriteFile("marker", []byte(how), 0o600) }
	switch how {
	case "marks-eof":
		time.Sleep(300 * time.Millisecond) // what saving takes
		mark()
		return
	case "marks-term":
		<-terms
		mark()
		return
	}
	select {}
}

// fake is an agent that does what its prompts say.
type fake struct {
	how  string
	conn *acp.Conn
}

func (a *fake) client() v1.ClientConn { return v1.ClientConn{Conn: a.conn} }

func (a *fake) agent() *v1.Agent {
	return &v1.Agent{
		Initialize: a.initialize, NewSession: a.open, LoadSession: a.load, Prompt: a.prompt,
		Authenticate: func(context.Context, *v1.AuthenticateRequest) (*v1.AuthenticateResponse, error) {
			return &v1.AuthenticateResponse{}, nil
		},
	}
}

func (a *fake) initialize(_ context.Context, req *v1.InitializeRequest) (*v1.InitializeResponse, error) {
	caps, err := json.Marshal(&req.ClientCapabilities)
	if err == nil {
		err = os.WriteFile("capabilities", caps, 0o600)
	}
	answer := &v1.InitializeResponse{ProtocolVersion: 1, AgentCapabilities: v1.AgentCapabilities{LoadSession: true}}
	if a.how == "future" {
		answer.ProtocolVersion = 2
	}
	if a.how == "auth" {
		answer.AuthMethods = []v1.AuthMethod{
			{Agent: &v1.AuthMethodAgent{ID: "browser", Name: "Log in by browser"}},
			{Terminal: &v1.AuthMethodTerminal{ID: "setup", Name: "Set a key", Args: []string{"setup"}}},
		}
	}
	return answer, err
}

func (a *fake) open(ctx context.Context, _ *v1.NewSessionRequest) (*v1.NewSessionResponse, error) {
	switch a.how {
	case "auth":
		return nil, acp.Errorf(acp.CodeAuthRequired, "log in first")
	case "future":
		_ = os.WriteFile("opened", nil, 0o600)
	case "early": // S1
		a.say(ctx, "before the answer")
	}
	return &v1.NewSessionResponse{SessionID: "S"}, nil
}

func (a *fake) load(ctx context.Context, _ *v1.LoadSessionRequest) (*v1.LoadSessionResponse, error) {
	_ = a.client().SessionUpdate(ctx, &v1.SessionNotification{SessionID: "S", Update: v1.SessionUpdate{UserMessageChunk: chunk("old question")}})
	a.say(ctx, "old answer")
	return &v1.LoadSessionResponse{}, nil
}

func chunk(text string) *v1.ContentChunk {
	return &v1.ContentChunk{Content: v1.ContentBlock{Text: &v1.TextContent{Text: text}}}
}

func (a *fake) say(ctx context.Context, text string) {
	_ = a.client().SessionUpdate(ctx, &v1.SessionNotification{SessionID: "S", Update: v1.SessionUpdate{AgentMessageChunk: chunk(text)}})
}

// raw sends an update as it is.
func (a *fake) raw(ctx context.Context, update string) {
	_ = a.conn.Notify(ctx, "session/update", jsontext.Value(`{"sessionId":"S","update":`+update+`}`))
}

// prompt does what the first word of a prompt says with the rest.
func (a *fake) prompt(ctx context.Context, req *v1.PromptRequest) (*v1.PromptResponse, error) {
	word, rest, _ := strings.Cut(req.Prompt[0].Text.Text, " ")
	answer := &v1.PromptResponse{StopReason: v1.StopReasonEndTurn}
	switch word {
	case "say":
		a.say(ctx, rest)
	case "raw":
		a.raw(ctx, rest)
	case "stop":
		a.say(ctx, "so")
		answer.StopReason = v1.StopReason(rest)
	case "fail":
		return nil, acp.Errorf(acp.CodeInternalError, "%s", rest)
	case "die":
		a.say(ctx, "partial")
		fmt.Fprintln(os.Stderr, "boom: no quota")
		os.Exit(3)
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "big":
		a.say(ctx, strings.Repeat("x", 12<<20))
	case "stderr":
		_, _ = os.Stderr.WriteString(strings.Repeat("e", 8<<20))
		a.say(ctx, "done")
	case "count":
		var msgs []jsontext.Value
		for i := range 200 {
			msgs = append(msgs, jsontext.Value(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%d "}}}}`, i)))
		}
		_ = a.conn.WriteRaw(ctx, msgs...)
	case "permit":
		a.say(ctx, a.permit(ctx, rest))
	case "permits": // two at once
		answers := make(chan string, 2)
		for range 2 {
			go func() { answers <- a.permit(context.WithoutCancel(ctx), rest) }()
		}
		a.say(context.WithoutCancel(ctx), <-answers+"\n"+<-answers)
		if ctx.Err() != nil {
			answer.StopReason = v1.StopReasonCancelled
		}
	case "later": // asks when something may have been typed
		time.Sleep(500 * time.Millisecond)
		a.say(ctx, a.permit(ctx, rest))
	case "after": // X4: goes on when the turn is over
		go func() {
			time.Sleep(300 * time.Millisecond)
			for _, piece := range []string{"one ", "two ", "three\nfour ", "five"} {
				a.say(context.WithoutCancel(ctx), piece)
			}
		}()
	case "withdraw":
		short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		a.say(ctx, a.permit(short, rest))
	case "call":
		method, params, _ := strings.Cut(rest, " ")
		result, err := a.conn.Call(ctx, method, jsontext.Value(params))
		a.say(ctx, fmt.Sprintf("%s %v", result, err))
	case "stall":
		a.say(ctx, "stalling")
		<-ctx.Done()
		return nil, ctx.Err()
	case "form":
		result, err := a.conn.Call(ctx, "elicitation/create", jsontext.Value(`{"sessionId":"S","mode":"form","message":"Tell me","requestedSchema":`+rest+`}`))
		a.say(ctx, fmt.Sprintf("%s %v", result, err))
	}
	return answer, nil
}

// permit asks a permission with the params that are there and returns the
// outcome.
func (a *fake) permit(ctx context.Context, params string) string {
	if !strings.Contains(params, `"options"`) {
		params += `,"options":[{"optionId":"x1","name":"Sure","kind":"allow_once"},{"optionId":"x2","name":"Always","kind":"allow_always"},{"optionId":"nope-7","name":"No","kind":"reject_once"}]`
	}
	result, err := a.conn.Call(ctx, "session/request_permission", jsontext.Value(`{"sessionId":"S","toolCall":{"toolCallId":"t1",`+params+`}`))
	if err != nil {
		return "error: " + err.Error()
	}
	var answer struct{ Outcome jsontext.Value }
	if err := json.Unmarshal(result, &answer, json.MatchCaseInsensitiveNames(true)); err != nil {
		return err.Error()
	}
	return string(answer.Outcome)
}

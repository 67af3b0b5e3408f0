package v1_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/acp"
	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect runs agent and client against each other and returns the client's
// view of the agent and the agent's of the client.
func connect(t *testing.T, agent *v1.Agent, client *v1.Client) (v1.AgentConn, v1.ClientConn) {
	t.Helper()
	near, far := acp.NewPipe()
	toAgent := v1.AgentConn{Conn: acp.NewConn(near, client.Handler(), nil)}
	toClient := v1.ClientConn{Conn: acp.NewConn(far, agent.Handler(), nil)}
	ended := make(chan error, 2)
	go func() { ended <- toAgent.Run(context.Background()) }()
	go func() { ended <- toClient.Run(context.Background()) }()
	t.Cleanup(func() {
		_ = toAgent.Close()
		_ = toClient.Close()
		<-ended
		<-ended
	})
	return toAgent, toClient
}

func codeOf(err error) acp.ErrorCode {
	if fault, ok := errors.AsType[*acp.Error](err); ok {
		return fault.Code
	}
	return 0
}

func TestAgentErrors(t *testing.T) {
	agent := &v1.Agent{
		Authenticate: func(context.Context, *v1.AuthenticateRequest) (*v1.AuthenticateResponse, error) {
			return nil, acp.Errorf(acp.CodeAuthRequired, "log in first")
		},
		Prompt: func(context.Context, *v1.PromptRequest) (*v1.PromptResponse, error) {
			return nil, errors.New("the model is gone")
		},
	}
	conn, _ := connect(t, agent, &v1.Client{})
	for _, tc := range []struct {
		name, method, params string
		want                 acp.ErrorCode
		text                 string
	}{
		{"no function", "session/load", `{}`, acp.CodeMethodNotFound, "session/load"},
		{"no such method", "_x/y", `{}`, acp.CodeMethodNotFound, "_x/y"},
		{"bad params", "authenticate", `{"methodId":7}`, acp.CodeInvalidParams, "invalid params of authenticate: methodId must be a string"},
		{"no params", "authenticate", ``, acp.CodeInvalidParams, "methodId is required"},
		{"C7 unknown block", "session/prompt", `{"sessionId":"s","prompt":[{"type":"hologram"}]}`, acp.CodeInvalidParams, `prompt[0].type has the unknown value "hologram"`},
		{"an error with a code", "authenticate", `{"methodId":"m"}`, acp.CodeAuthRequired, "log in first"},
		{"an error without one", "session/prompt", `{"sessionId":"s","prompt":[]}`, acp.CodeInternalError, "the model is gone"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var params any
			if tc.params != "" {
				params = jsonValue(tc.params)
			}
			_, err := conn.Call(t.Context(), tc.method, params)
			if codeOf(err) != tc.want || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("error %v, want code %d and %q", err, tc.want, tc.text)
			}
		})
	}
}

// A nil result is sent as {}, and a null one is read as {} (S9).
func TestEmptyResults(t *testing.T) {
	agent := &v1.Agent{
		Logout: func(context.Context, *v1.LogoutRequest) (*v1.LogoutResponse, error) { return nil, nil },
		UnknownRequest: func(_ context.Context, req *acp.Request) {
			_ = req.ReplyRaw(jsonValue("null"))
		},
	}
	conn, _ := connect(t, agent, &v1.Client{})
	raw, err := conn.Call(t.Context(), v1.MethodLogout, nil)
	if err != nil || string(raw) != "{}" {
		t.Errorf("logout gave %s, %v", raw, err)
	}
	if _, err := conn.Conn.Call(t.Context(), "_x", nil); err != nil {
		t.Errorf("an unknown method: %v", err)
	}
}

func TestLoadResultForms(t *testing.T) {
	for _, form := range []string{`null`, `{}`, `{"configOptions":[]}`, `{"sessionId":"S"}`, `{"modes":7}`} {
		near, far := acp.NewPipe()
		agent := acp.NewConn(far, acp.HandlerFuncs{Request: func(_ context.Context, req *acp.Request) {
			_ = req.ReplyRaw(jsonValue(form))
		}}, nil)
		client := v1.AgentConn{Conn: acp.NewConn(near, acp.HandlerFuncs{}, nil)}
		ended := make(chan error, 2)
		go func() { ended <- agent.Run(context.Background()) }()
		go func() { ended <- client.Run(context.Background()) }()
		if _, err := client.LoadSession(t.Context(), &v1.LoadSessionRequest{SessionID: "S", Cwd: "/"}); err != nil {
			t.Errorf("S9: a load result of %s: %v", form, err)
		}
		_ = client.Close()
		_ = agent.Close()
		<-ended
		<-ended
	}
}

// session/cancel sent right behind session/prompt finds the turn, whichever
// goroutine is faster, and the turn ends as cancelled.
func TestCancelEndsTheTurn(t *testing.T) {
	cancelled := make(chan string, 1)
	agent := &v1.Agent{
		Prompt: func(ctx context.Context, _ *v1.PromptRequest) (*v1.PromptResponse, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Cancel: func(_ context.Context, n *v1.CancelNotification) { cancelled <- n.SessionID },
	}
	conn, _ := connect(t, agent, &v1.Client{})
	other, err := conn.Go(t.Context(), acp.ID{}, v1.MethodSessionPrompt, &v1.PromptRequest{SessionID: "other"})
	if err != nil {
		t.Fatal(err)
	}
	mine, err := conn.Go(t.Context(), acp.ID{}, v1.MethodSessionPrompt, &v1.PromptRequest{SessionID: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Cancel(t.Context(), &v1.CancelNotification{SessionID: "mine"}); err != nil {
		t.Fatal(err)
	}
	if got, err := mine.Wait(t.Context()); err != nil || string(got) != `{"stopReason":"cancelled"}` {
		t.Errorf("the cancelled turn ended with %s, %v", got, err)
	}
	if got := <-cancelled; got != "mine" {
		t.Errorf("Cancel was told of %q", got)
	}
	// The other session's turn still runs: only its own cancel ends it.
	if err := conn.Cancel(t.Context(), &v1.CancelNotification{SessionID: "other"}); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Wait(t.Context()); err != nil || string(got) != `{"stopReason":"cancelled"}` {
		t.Errorf("the other turn ended with %s, %v", got, err)
	}
	<-cancelled
}

// $/cancel_request is not session/cancel: the error of the context stays one.
func TestCancelledRequestIsAnError(t *testing.T) {
	running, failed := make(chan struct{}), make(chan error, 1)
	agent := &v1.Agent{Prompt: func(ctx context.Context, _ *v1.PromptRequest) (*v1.PromptResponse, error) {
		close(running)
		<-ctx.Done()
		failed <- ctx.Err()
		return nil, ctx.Err()
	}}
	conn, _ := connect(t, agent, &v1.Client{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-running
		cancel()
	}()
	if _, err := conn.Prompt(ctx, &v1.PromptRequest{SessionID: "s"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the agent saw %v", err)
	}
}

// A client takes what is newer than it is, in the order it was sent.
func TestClientIsTolerant(t *testing.T) {
	var kinds []string
	ended := make(chan struct{})
	client := &v1.Client{
		SessionUpdate: func(_ context.Context, n *v1.SessionNotification) { kinds = append(kinds, n.Update.Kind()) },
		RequestPermission: func(_ context.Context, req *v1.RequestPermissionRequest) (*v1.RequestPermissionResponse, error) {
			return &v1.RequestPermissionResponse{Outcome: v1.RequestPermissionOutcome{
				Selected: &v1.SelectedPermissionOutcome{OptionID: string(req.Options[0].Kind)},
			}}, nil
		},
		UnknownNotification: func(_ context.Context, n *acp.Notification) { close(ended) },
	}
	_, conn := connect(t, &v1.Agent{}, client)
	for _, params := range []string{
		`{"sessionId":"s","update":{"sessionUpdate":"future_thing"}}`,
		`{"sessionId":"s","update":{"sessionUpdate":"plan"}}`, // malformed: dropped
		`{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"hologram"}}}`,
	} {
		if err := conn.Notify(t.Context(), v1.MethodSessionUpdate, jsonValue(params)); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := conn.RequestPermission(t.Context(), &v1.RequestPermissionRequest{
		SessionID: "s", ToolCall: v1.ToolCallUpdate{ToolCallID: "c"},
		Options: []v1.PermissionOption{{OptionID: "o", Name: "n", Kind: "reject_with_edit"}},
	})
	if err != nil || answer.Outcome.Selected == nil || answer.Outcome.Selected.OptionID != "reject_with_edit" {
		t.Errorf("permission: %+v, %v", answer, err)
	}
	if err := conn.Notify(t.Context(), "_done", nil); err != nil {
		t.Fatal(err)
	}
	<-ended
	if diff := cmp.Diff([]string{"future_thing", "agent_message_chunk"}, kinds); diff != "" {
		t.Errorf("updates (-want +got):\n%s", diff)
	}
}

package v2_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/acp"
	v2 "github.com/grapnel-ai/grapnel/acp/v2"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every enum and union of version 2 is open: what it does not have is kept even
// by Decode, and only what is malformed fails.
func TestDecode(t *testing.T) {
	const fails = ""
	update := func(u string) string { return `{"sessionId":"s","update":` + u + `}` }
	for _, tc := range []struct {
		name     string
		msg      v2.Message
		in, want string
	}{
		{"unknown update", new(v2.UpdateSessionNotification), update(`{"sessionUpdate":"x","y":1}`), update(`{"sessionUpdate":"x","y":1}`)},
		{"unknown block", new(v2.PromptRequest), `{"sessionId":"s","prompt":[{"type":"x"}]}`, `{"sessionId":"s","prompt":[{"type":"x"}]}`},
		{"empty prompt", new(v2.PromptRequest), `{"sessionId":"s","prompt":[]}`, fails},
		{"no info", new(v2.InitializeRequest), `{"protocolVersion":2}`, fails},
		{"capability as a boolean", new(v2.InitializeRequest), `{"protocolVersion":2,"info":{"name":"n","version":"1"},"capabilities":{"auth":true}}`, `{"protocolVersion":2,"info":{"name":"n","version":"1"}}`},
		{"no servers", new(v2.NewSessionRequest), `{"cwd":"/w","mcpServers":null}`, `{"cwd":"/w"}`},
		{"server without a type", new(v2.NewSessionRequest), `{"cwd":"/w","mcpServers":[{"name":"n","command":"c"}]}`, fails},
		{"permission without options", new(v2.RequestPermissionRequest), `{"sessionId":"s","title":"t","options":[]}`, fails},
		{"unknown permission kind", new(v2.RequestPermissionRequest), `{"sessionId":"s","title":"t","options":[{"optionId":"o","name":"n","kind":"x"}]}`, `{"sessionId":"s","title":"t","options":[{"optionId":"o","name":"n","kind":"x"}]}`},
		{"terminal without columns", new(v2.UpdateSessionNotification), update(`{"sessionUpdate":"terminal_update","terminalId":"t","size":{"cols":0,"rows":1}}`), update(`{"sessionUpdate":"terminal_update","terminalId":"t"}`)},
		{"line 0", new(v2.UpdateSessionNotification), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"/a","line":0}]}`), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","locations":[{"path":"/a"}]}`)},
		{"other plan without an id", new(v2.UpdateSessionNotification), update(`{"sessionUpdate":"plan_update","plan":{"type":"tree"}}`), fails},
		{"config value", new(v2.SetSessionConfigOptionRequest), `{"sessionId":"s","configId":"c","type":"id","value":"v"}`, `{"sessionId":"s","configId":"c","type":"id","value":"v"}`},
		{"config value of another type", new(v2.SetSessionConfigOptionRequest), `{"sessionId":"s","configId":"c","type":"range","value":[1]}`, `{"sessionId":"s","configId":"c","type":"range","value":[1]}`},
		{"config value of another type missing", new(v2.SetSessionConfigOptionRequest), `{"sessionId":"s","configId":"c","type":"range"}`, fails},
		{"null id", new(v2.CancelRequestNotification), `{"requestId":null}`, fails},
		{"moved file without its old path", new(v2.UpdateSessionNotification), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","changes":[{"operation":"move","path":"/a"}]}]}`), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","content":[{"type":"diff","changes":[]}]}`)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := v2.Decode([]byte(tc.in), tc.msg)
			if (err != nil) != (tc.want == fails) {
				t.Fatalf("%s: error %v", tc.in, err)
			}
			if err != nil {
				return
			}
			if out, err := json.Marshal(tc.msg); err != nil || string(out) != tc.want {
				t.Errorf("%s\nleaves %s (%v)\nwant   %s", tc.in, out, err, tc.want)
			}
		})
	}
}

// FuzzUnions decodes anything as any union. What is accepted must come back the
// same after it was encoded and decoded once more.
func FuzzUnions(f *testing.F) {
	all := families()
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		for _, sample := range all[name].samples {
			f.Add(uint8(i), []byte(sample))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		family := all[names[int(which)%len(names)]]
		first, second := family.new(), family.new()
		if json.Unmarshal(data, first) != nil {
			return
		}
		once, err := json.Marshal(first)
		if err != nil {
			t.Fatalf("%q was decoded and cannot be encoded: %v", data, err)
		}
		if err := json.Unmarshal(once, second); err != nil {
			t.Fatalf("%q was encoded as %s, which cannot be decoded: %v", data, once, err)
		}
		if twice, err := json.Marshal(second); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q was encoded as\n%s\nthen as\n%s (%v)", data, once, twice, err)
		}
	})
}

func TestHandlers(t *testing.T) {
	near, far := acp.NewPipe()
	updates := make(chan string, 1)
	client := &v2.Client{SessionUpdate: func(_ context.Context, n *v2.UpdateSessionNotification) { updates <- n.Update.Kind() }}
	agent := &v2.Agent{Prompt: func(context.Context, *v2.PromptRequest) (*v2.PromptResponse, error) {
		return &v2.PromptResponse{MessageID: "m"}, nil
	}}
	toAgent := v2.AgentConn{Conn: acp.NewConn(near, client.Handler(), nil)}
	toClient := v2.ClientConn{Conn: acp.NewConn(far, agent.Handler(), nil)}
	ended := make(chan error, 2)
	go func() { ended <- toAgent.Run(context.Background()) }()
	go func() { ended <- toClient.Run(context.Background()) }()

	got, err := toAgent.Prompt(t.Context(), &v2.PromptRequest{SessionID: "s", Prompt: []v2.ContentBlock{{Text: &v2.TextContent{}}}})
	if err != nil || got.MessageID != "m" {
		t.Errorf("prompt: %+v, %v", got, err)
	}
	var fault *acp.Error
	if _, err := toAgent.ResumeSession(t.Context(), &v2.ResumeSessionRequest{}); !errors.As(err, &fault) || fault.Code != acp.CodeMethodNotFound {
		t.Errorf("resume: %v", err)
	}
	err = toClient.SessionUpdate(t.Context(), &v2.UpdateSessionNotification{
		SessionID: "s", Update: v2.SessionUpdate{StateUpdate: &v2.StateUpdate{Running: &v2.RunningStateUpdate{}}},
	})
	if err != nil || <-updates != v2.SessionUpdateKindStateUpdate {
		t.Errorf("update: %v", err)
	}
	_ = toAgent.Close()
	_ = toClient.Close()
	<-ended
	<-ended
}

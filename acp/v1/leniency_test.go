package v1_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

// TestLeniency holds Decode to what the parser of the official SDK does with
// the same input: it fails, or what is left of the input is want.
func TestLeniency(t *testing.T) {
	update := func(u string) string { return `{"sessionId":"s","update":` + u + `}` }
	session := func(servers string) string { return `{"cwd":"/w","mcpServers":[` + servers + `]}` }
	option := func(kind string) string {
		return `{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"o","name":"n","kind":"` + kind + `"}]}`
	}
	const fails = ""
	for _, tc := range []struct {
		name     string
		msg      v1.Message
		in, want string
	}{
		{"no protocol version", new(v1.InitializeRequest), `{}`, fails},
		{"protocol version as a string", new(v1.InitializeRequest), `{"protocolVersion":"1"}`, fails},
		{"protocol version below zero", new(v1.InitializeRequest), `{"protocolVersion":-1}`, fails},
		{"protocol version as a fraction", new(v1.InitializeRequest), `{"protocolVersion":1.5}`, fails},
		{"protocol version null", new(v1.InitializeRequest), `{"protocolVersion":null}`, fails},
		{"protocol version too large", new(v1.InitializeRequest), `{"protocolVersion":65536}`, fails},
		{"largest protocol version", new(v1.InitializeRequest), `{"protocolVersion":65535}`, `{"protocolVersion":65535}`},
		{"boolean for a capability object", new(v1.InitializeRequest), `{"protocolVersion":1,"clientCapabilities":{"elicitation":true,"terminal":true}}`, `{"protocolVersion":1,"clientCapabilities":{"terminal":true}}`},
		{"object for a capability boolean", new(v1.InitializeRequest), `{"protocolVersion":1,"clientCapabilities":{"terminal":{}}}`, `{"protocolVersion":1}`},
		{"client info without a version", new(v1.InitializeRequest), `{"protocolVersion":1,"clientInfo":{"name":"n"}}`, `{"protocolVersion":1}`},
		{"unknown capability", new(v1.InitializeResponse), `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"subagents":{}}}}`, `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"subagents":{}}}}`},
		{"removed auth method", new(v1.InitializeResponse), `{"protocolVersion":1,"authMethods":[{"type":"env_var","id":"i","name":"n","vars":[]},{"id":1}]}`, `{"protocolVersion":1,"authMethods":[{"id":"i","name":"n","type":"env_var","vars":[]}]}`},
		{"no cwd", new(v1.NewSessionRequest), `{"mcpServers":[]}`, fails},
		{"no mcpServers", new(v1.NewSessionRequest), `{"cwd":"/w"}`, fails},
		{"mcpServers null", new(v1.NewSessionRequest), `{"cwd":"/w","mcpServers":null}`, `{"cwd":"/w","mcpServers":[]}`},
		{"additionalDirectories null", new(v1.NewSessionRequest), `{"cwd":"/w","additionalDirectories":null,"mcpServers":[]}`, `{"cwd":"/w","mcpServers":[]}`},
		{"unknown member of the params", new(v1.NewSessionRequest), `{"cwd":"/w","mcpServers":[],"agentAlias":"a"}`, `{"cwd":"/w","mcpServers":[],"agentAlias":"a"}`},
		{"unknown member of the result", new(v1.NewSessionResponse), `{"sessionId":"s","workspaceDir":"/w"}`, `{"sessionId":"s","workspaceDir":"/w"}`},
		{"stdio server with env as an object", new(v1.NewSessionRequest), session(`{"name":"n","command":"c","args":[],"env":{}}`), fails},
		{"stdio server without args", new(v1.NewSessionRequest), session(`{"name":"n","command":"c","env":[]}`), fails},
		{"stdio server with args null", new(v1.NewSessionRequest), session(`{"name":"n","command":"c","args":null,"env":[]}`), session(`{"name":"n","command":"c","args":[],"env":[]}`)},
		{"stdio server with a type", new(v1.NewSessionRequest), session(`{"type":"stdio","name":"n","command":"c","args":[],"env":[]}`), session(`{"name":"n","command":"c","args":[],"env":[],"type":"stdio"}`)},
		{"http server without headers", new(v1.NewSessionRequest), session(`{"type":"http","name":"n","url":"u"}`), fails},
		{"server of an unknown type", new(v1.NewSessionRequest), session(`{"type":"ws","name":"n","url":"u"}`), fails},
		{"prompt as a string", new(v1.PromptRequest), `{"sessionId":"s","prompt":"text"}`, fails},
		{"prompt as one block", new(v1.PromptRequest), `{"sessionId":"s","prompt":{"type":"text","text":"t"}}`, fails},
		{"block without a type", new(v1.PromptRequest), `{"sessionId":"s","prompt":[{"text":"t"}]}`, fails},
		{"C7 block of an unknown type", new(v1.PromptRequest), `{"sessionId":"s","prompt":[{"type":"hologram"}]}`, fails},
		{"image without a mimeType", new(v1.PromptRequest), `{"sessionId":"s","prompt":[{"type":"image","data":""}]}`, fails},
		{"unknown role", new(v1.PromptRequest), `{"sessionId":"s","prompt":[{"type":"text","text":"t","annotations":{"audience":["robot","user"]}}]}`, `{"sessionId":"s","prompt":[{"type":"text","annotations":{"audience":["user"]},"text":"t"}]}`},
		{"unknown members of a turn's end", new(v1.PromptResponse), `{"stopReason":"end_turn","sessionId":"s","content":"c"}`, `{"stopReason":"end_turn","sessionId":"s","content":"c"}`},
		{"unknown stop reason", new(v1.PromptResponse), `{"stopReason":"paused"}`, fails},
		{"usage of the wrong type", new(v1.PromptResponse), `{"stopReason":"end_turn","usage":7}`, `{"stopReason":"end_turn"}`},
		{"null for a result", new(v1.LoadSessionResponse), `null`, `{}`},
		{"no sessions", new(v1.ListSessionsResponse), `{}`, fails},
		{"sessions of the wrong type", new(v1.ListSessionsResponse), `{"sessions":7}`, `{"sessions":[]}`},
		{"config options partly bad", new(v1.SetSessionConfigOptionResponse), `{"configOptions":[{"id":"i","name":"n","type":"slider"},{"id":"i","name":"n","type":"boolean","currentValue":true}]}`, `{"configOptions":[{"id":"i","name":"n","type":"boolean","currentValue":true}]}`},
		{"config value of an unknown type", new(v1.SetSessionConfigOptionRequest), `{"sessionId":"s","configId":"c","type":"id","value":"v"}`, `{"sessionId":"s","configId":"c","value":"v","type":"id"}`},
		{"known permission kind", new(v1.RequestPermissionRequest), option("allow_once"), option("allow_once")},
		{"unknown permission kind", new(v1.RequestPermissionRequest), option("reject_with_edit"), fails},
		{"unknown permission outcome", new(v1.RequestPermissionResponse), `{"outcome":{"outcome":"later"}}`, fails},
		{"unknown update", new(v1.SessionNotification), update(`{"sessionUpdate":"future_thing"}`), fails},
		{"tool call update with more members", new(v1.SessionNotification), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","name":"n","body":1}`), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","name":"n","body":1}`)},
		{"unknown tool status", new(v1.SessionNotification), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"cancelled"}`), update(`{"sessionUpdate":"tool_call_update","toolCallId":"c"}`)},
		{"bad content item", new(v1.SessionNotification), update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":[{"type":"diff"},{"type":"terminal","terminalId":"t"},7]}`), update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":[{"type":"terminal","terminalId":"t"}]}`)},
		{"content of the wrong type", new(v1.SessionNotification), update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","content":{"a":[1]},"locations":7}`), update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t"}`)},
		{"bad plan entry", new(v1.SessionNotification), update(`{"sessionUpdate":"plan","entries":[{"content":"c","priority":"urgent","status":"pending"},{"content":"c","priority":"low","status":"pending"}]}`), update(`{"sessionUpdate":"plan","entries":[{"content":"c","priority":"low","status":"pending"}]}`)},
		{"plan without entries", new(v1.SessionNotification), update(`{"sessionUpdate":"plan"}`), fails},
		{"usage as a float", new(v1.SessionNotification), update(`{"sessionUpdate":"usage_update","used":1.5,"size":2}`), fails},
		{"notice without a title", new(v1.SessionNotification), update(`{"sessionUpdate":"notice","severity":"info","title":""}`), fails},
		{"message id of the wrong type", new(v1.SessionNotification), update(`{"sessionUpdate":"agent_message_chunk","content":` + textBlock + `,"messageId":7}`), update(`{"sessionUpdate":"agent_message_chunk","content":` + textBlock + `}`)},
		{"_meta of the wrong type", new(v1.CancelNotification), `{"sessionId":"s","_meta":[1,{"a":2}]}`, `{"sessionId":"s"}`},
		{"elicitation without a mode", new(v1.CreateElicitationRequest), `{"message":"m","sessionId":"s","requestedSchema":{}}`, fails},
		{"elicitation without a scope", new(v1.CreateElicitationRequest), `{"message":"m","mode":"url","elicitationId":"e","url":"u"}`, fails},
		{"elicitation of an unknown mode", new(v1.CreateElicitationRequest), `{"message":"m","mode":"_voice","sessionId":"s","tone":1}`, `{"mode":"_voice","message":"m","sessionId":"s","tone":1}`},
		{"elicitation form without a schema", new(v1.CreateElicitationRequest), `{"message":"m","mode":"form","sessionId":"s"}`, fails},
		{"line too large", new(v1.ReadTextFileRequest), `{"sessionId":"s","path":"/a","line":4294967296}`, fails},
		{"exact case of names", new(v1.CancelNotification), `{"sessionID":"s"}`, fails},
		{"a name twice", new(v1.CancelNotification), `{"sessionId":"s","sessionId":"t"}`, fails},
		{"bad UTF-8", new(v1.CancelNotification), "{\"sessionId\":\"\xff\"}", fails},
		{"an array for params", new(v1.CancelNotification), `["s"]`, fails},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := v1.Decode([]byte(tc.in), tc.msg)
			if tc.want == fails {
				if err == nil {
					t.Fatalf("%s was accepted", tc.in)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.in, err)
			}
			out, err := json.Marshal(tc.msg)
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != tc.want {
				t.Errorf("%s\nleaves %s\nwant   %s", tc.in, out, tc.want)
			}
		})
	}
}

// Unmarshal keeps what Decode refuses: a host must live with agents that are
// newer or sloppier than it is.
func TestUnmarshalKeepsTheUnknown(t *testing.T) {
	for _, tc := range []struct {
		msg      v1.Message
		in, want string
	}{
		{new(v1.PromptResponse), `{"stopReason":"paused"}`, `{"stopReason":"paused"}`},
		{new(v1.SessionNotification), `{"sessionId":"s","update":{"sessionUpdate":"future_thing","x":1}}`, `{"sessionId":"s","update":{"sessionUpdate":"future_thing","x":1}}`},
		{new(v1.SessionNotification), `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"cancelled"}}`, `{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"cancelled"}}`},
		{new(v1.NewSessionRequest), `{"cwd":"/w"}`, `{"cwd":"/w","mcpServers":[]}`},
		{new(v1.NewSessionRequest), `{"cwd":"/w","mcpServers":[{"name":"n","command":"c"}]}`, `{"cwd":"/w","mcpServers":[{"name":"n","command":"c","args":[],"env":[]}]}`},
		{new(v1.SetSessionConfigOptionResponse), `{"configOptions":[{"id":"i","name":"n","type":"slider","max":9}]}`, `{"configOptions":[{"id":"i","name":"n","type":"slider","max":9}]}`},
	} {
		if err := json.Unmarshal([]byte(tc.in), tc.msg); err != nil {
			t.Errorf("%s: %v", tc.in, err)
			continue
		}
		if out, err := json.Marshal(tc.msg); err != nil || string(out) != tc.want {
			t.Errorf("%s came back as %s, %v; want %s", tc.in, out, err, tc.want)
		}
	}
}

func TestErrorsNameTheField(t *testing.T) {
	for _, tc := range []struct {
		msg      v1.Message
		in, want string
	}{
		{new(v1.InitializeRequest), ``, "protocolVersion is required"},
		{new(v1.InitializeRequest), `{"protocolVersion":1.5}`, "protocolVersion must be an integer from 0 to 65535"},
		{new(v1.PromptRequest), `{"sessionId":"s","prompt":[{"type":"text","text":"t"},{"type":"image","data":""}]}`, "prompt[1].mimeType is required"},
		{new(v1.PromptRequest), `{"sessionId":"s","prompt":[{"type":"hologram"}]}`, `prompt[0].type has the unknown value "hologram"`},
		{new(v1.PromptRequest), `{"sessionId":"s","prompt":[{}]}`, "prompt[0].type is required and must be a string"},
		{new(v1.PromptRequest), `{"sessionId":"s","prompt":"x"}`, "prompt must be an array"},
		{new(v1.PromptRequest), `[]`, "the message must be an object"},
		{new(v1.PromptRequest), `{`, "the message is not valid JSON"},
		{new(v1.CreateElicitationRequest), `{"message":"m","mode":"form","sessionId":"s","requestedSchema":{"properties":{"a":{"type":"string","minLength":-1}}}}`, "requestedSchema.properties.a.minLength must be an integer from 0 to 4294967295"},
		{new(v1.CreateElicitationRequest), `{"message":"m","mode":"url","sessionId":"s","elicitationId":"e"}`, "url is required"},
	} {
		if err := v1.Decode([]byte(tc.in), tc.msg); err == nil || err.Error() != tc.want {
			t.Errorf("%s: error %v, want %s", tc.in, err, tc.want)
		}
	}
}

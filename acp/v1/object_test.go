package v1_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/acp"
	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

func jsonValue(s string) jsontext.Value { return jsontext.Value(s) }

func marshal(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// M4: where the schema wants an array there is one, however it was built.
func TestZeroValuesAreComplete(t *testing.T) {
	for _, tc := range []struct {
		msg  any
		want string
	}{
		{&v1.NewSessionRequest{Cwd: "/w"}, `{"cwd":"/w","mcpServers":[]}`},
		{&v1.PromptRequest{}, `{"sessionId":"","prompt":[]}`},
		{&v1.ListSessionsResponse{}, `{"sessions":[]}`},
		{&v1.MCPServerStdio{Name: "n", Command: "c"}, `{"name":"n","command":"c","args":[],"env":[]}`},
		{&v1.SessionConfigSelectOptions{}, `[]`},
		{&v1.ToolCall{ToolCallID: "c", Title: "t"}, `{"toolCallId":"c","title":"t"}`},
		{&v1.ToolCall{ToolCallID: "c", Title: "t", Content: []v1.ToolCallContent{}}, `{"toolCallId":"c","title":"t","content":[]}`},
		{&v1.InitializeResponse{}, `{"protocolVersion":0}`},
		{&v1.AgentCapabilities{PromptCapabilities: v1.PromptCapabilities{Image: true}}, `{"promptCapabilities":{"image":true}}`},
		{&v1.AgentCapabilities{SessionCapabilities: v1.SessionCapabilities{List: &v1.SessionListCapabilities{}}}, `{"sessionCapabilities":{"list":{}}}`},
		{&v1.LogoutResponse{}, `{}`},
		{&v1.CreateElicitationResponse{Action: v1.ElicitationActionDecline}, `{"action":"decline"}`},
	} {
		if got := marshal(t, tc.msg); got != tc.want {
			t.Errorf("%T: %s, want %s", tc.msg, got, tc.want)
		}
	}
}

// Objects that carry the members of one of several variants beside their own.
func TestCompositesRoundTrip(t *testing.T) {
	for _, tc := range []struct {
		msg any
		in  string
	}{
		{new(v1.SessionConfigOption), `{"id":"i","name":"n","description":"d","category":"mode","type":"select","currentValue":"a","options":[{"value":"a","name":"A","x":1}],"_meta":{},"x":1}`},
		{new(v1.SessionConfigOption), `{"id":"i","name":"n","type":"select","currentValue":"a","options":[{"group":"g","name":"G","options":[]}]}`},
		{new(v1.SessionConfigOption), `{"id":"i","name":"n","type":"boolean","currentValue":false,"options":"not ours"}`},
		{new(v1.SessionConfigOption), `{"id":"i","name":"n","type":"slider","currentValue":3,"max":9}`},
		{new(v1.SetSessionConfigOptionRequest), `{"sessionId":"s","configId":"c","value":"v"}`},
		{new(v1.SetSessionConfigOptionRequest), `{"sessionId":"s","configId":"c","type":"boolean","value":true,"x":1}`},
		{new(v1.CreateElicitationRequest), `{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"z":{"type":"boolean"},"a":{"type":"string"}},"required":["z"]},"sessionId":"s","toolCallId":"c"}`},
		{new(v1.CreateElicitationRequest), `{"mode":"url","message":"m","requestId":"r","elicitationId":"e","url":""}`},
		{new(v1.CreateElicitationRequest), `{"mode":"url","message":"m","requestId":null,"elicitationId":"e","url":"u"}`},
		{new(v1.CreateElicitationResponse), `{"action":"accept","content":{"a":1,"b":[],"c":1.50}}`},
		{new(v1.CreateElicitationResponse), `{"action":"_later","x":1}`},
		{new(v1.CompactionCapabilities), `{"x":1}`},
	} {
		if err := json.Unmarshal([]byte(tc.in), tc.msg); err != nil {
			t.Errorf("%s: %v", tc.in, err)
			continue
		}
		if got := marshal(t, tc.msg); got != tc.in {
			t.Errorf("came back as\n%s\nwant\n%s", got, tc.in)
		}
	}
}

func TestPatchTellsNullFromAbsent(t *testing.T) {
	var u v1.SessionInfoUpdate
	if err := json.Unmarshal([]byte(`{"title":null}`), &u); err != nil {
		t.Fatal(err)
	}
	if got := u.Title.Apply("old"); got != "" {
		t.Errorf("null left %q", got)
	}
	if got := u.UpdatedAt.Apply("old"); got != "old" {
		t.Errorf("absent left %q", got)
	}
	u = v1.SessionInfoUpdate{Title: acp.Some("new"), UpdatedAt: acp.None[string]()}
	if got, want := marshal(t, &u), `{"title":"new","updatedAt":null}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A tool's output may hold anything. It is sent, with what is no text replaced.
func TestInvalidUTF8IsReplaced(t *testing.T) {
	block := v1.ContentBlock{Text: &v1.TextContent{Text: "a\xffb\x00"}}
	if got, want := marshal(t, &block), `{"type":"text","text":"a`+"\uFFFD"+`b\u0000"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestBadRawBytesAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		msg  any
	}{
		{"extra that is no object", &v1.LogoutResponse{Extra: jsonValue(`[1]`)}},
		{"extra that is no JSON", &v1.LogoutResponse{Extra: jsonValue(`{"a"}`)}},
		{"extra that repeats a member", &v1.CancelNotification{SessionID: "s", Extra: jsonValue(`{"sessionId":"t"}`)}},
		{"meta that is no JSON", &v1.LogoutResponse{Meta: jsonValue(`{`)}},
		{"variant that is no JSON", &v1.ContentBlock{Raw: jsonValue(`{`)}},
	} {
		if out, err := json.Marshal(tc.msg); err == nil {
			t.Errorf("%s: encoded as %s", tc.name, out)
		}
	}
}

func TestLegacyModels(t *testing.T) {
	want := &v1.SessionModelState{AvailableModels: []v1.ModelInfo{{ModelID: "m", Name: "M"}}, CurrentModelID: "m"}
	result := v1.NewSessionResponse{SessionID: "s", Extra: jsonValue(`{"x":1}`)}
	if err := v1.SetModels(&result.Extra, want); err != nil {
		t.Fatal(err)
	}
	const wire = `{"sessionId":"s","models":{"availableModels":[{"modelId":"m","name":"M"}],"currentModelId":"m"},"x":1}`
	if got := marshal(t, &result); got != wire {
		t.Errorf("%s, want %s", got, wire)
	}
	var back v1.NewSessionResponse
	if err := json.Unmarshal([]byte(wire), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, v1.Models(back.Extra)); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	if got := v1.Models(jsonValue(`{"models":7}`)); got != nil {
		t.Errorf("broken models read as %+v", got)
	}
}

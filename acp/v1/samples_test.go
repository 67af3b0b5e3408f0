package v1_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	v1 "github.com/grapnel-ai/grapnel/acp/v1"
)

// union is what every generated union has.
type union interface {
	json.MarshalerTo
	json.UnmarshalerFrom
	Kind() string
}

// family is one union with a sample of each variant, in the order of members in
// which it is encoded, so that a sample must come back byte for byte.
type family struct {
	new     func() union
	samples []string
}

const (
	textBlock = `{"type":"text","text":"hi"}`
	meta      = `"_meta":{"traceparent":"00-1","n":1e2}`
	extra     = `"future":{"a":[1,2.50]},"x":"é"`
)

// families has every union of the package.
func families() map[string]family {
	return map[string]family{
		"ContentBlock": {func() union { return new(v1.ContentBlock) }, []string{
			textBlock,
			`{"type":"text","annotations":{"audience":["user","assistant"],"lastModified":"2026-01-01T00:00:00Z","priority":0.5,` + meta + `,` + extra + `},"text":"a\nb",` + meta + `,` + extra + `}`,
			`{"type":"image","data":"AA==","mimeType":"image/png","uri":"file:///a.png"}`,
			`{"type":"audio","data":"AA==","mimeType":"audio/wav",` + meta + `}`,
			`{"type":"resource_link","description":"d","mimeType":"text/plain","name":"n","size":-1,"title":"t","uri":"file:///a"}`,
			`{"type":"resource","resource":{"mimeType":"text/plain","text":"","uri":"file:///a"}}`,
			`{"type":"resource","resource":{"blob":"AA==","uri":"file:///a"}}`,
			`{"x":1,"type":"hologram","depth":[3.0]}`,
		}},
		"EmbeddedResourceResource": {func() union { return new(v1.EmbeddedResourceResource) }, []string{
			`{"text":"t","uri":"u",` + extra + `}`,
			`{"blob":"b","uri":"u",` + meta + `}`,
		}},
		"ToolCallContent": {func() union { return new(v1.ToolCallContent) }, []string{
			`{"type":"content","content":` + textBlock + `}`,
			`{"type":"diff","path":"/a","oldText":"","newText":"b",` + extra + `}`,
			`{"type":"diff","path":"/a","newText":"b"}`,
			`{"type":"terminal","terminalId":"t1"}`,
			`{"type":"chart","points":[1,2]}`,
		}},
		"SessionUpdate": {func() union { return new(v1.SessionUpdate) }, []string{
			`{"sessionUpdate":"user_message_chunk","content":` + textBlock + `,"messageId":"m"}`,
			`{"sessionUpdate":"agent_message_chunk","content":` + textBlock + `,` + meta + `,` + extra + `}`,
			`{"sessionUpdate":"agent_thought_chunk","content":{"type":"hologram"}}`,
			`{"sessionUpdate":"tool_call","toolCallId":"c","title":"t","name":"shell","kind":"execute","status":"pending","content":[],"locations":[{"path":"/a","line":1}],"rawInput":{"b":1},"rawOutput":null}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","kind":"read","status":"failed","title":"t","name":"n","content":[{"type":"terminal","terminalId":"x"}],"locations":[],"rawInput":[],"rawOutput":"s"}`,
			`{"sessionUpdate":"plan","entries":[{"content":"c","priority":"high","status":"in_progress",` + extra + `}]}`,
			`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[]}}`,
			`{"sessionUpdate":"plan_removed","planId":"p"}`,
			`{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"n","description":"d","input":{"hint":"h"}}]}`,
			`{"sessionUpdate":"current_mode_update","currentModeId":"m"}`,
			`{"sessionUpdate":"config_option_update","configOptions":[]}`,
			`{"sessionUpdate":"session_info_update","title":null,"updatedAt":"2026-01-01T00:00:00Z"}`,
			`{"sessionUpdate":"usage_update","used":1,"size":18446744073709551615,"cost":{"amount":0.25,"currency":"USD"}}`,
			`{"sessionUpdate":"notice","severity":"dire","title":"t","description":"d"}`,
			`{"sessionUpdate":"compaction_update","compactionId":"c","status":"completed","summary":[` + textBlock + `],"error":null}`,
			`{"sessionUpdate":"compaction_summary_chunk","compactionId":"c","content":` + textBlock + `}`,
			`{"sessionUpdate":"subagent_update","sessionId":"s","title":null,"state":{"state":"running"},"cwd":"/a","additionalDirectories":null}`,
			`{"sessionUpdate":"session_message","messageId":"m","content":[]}`,
			`{"sessionUpdate":"session_message_chunk","messageId":"m","content":` + textBlock + `}`,
			`{"sessionUpdate":"future_thing","x":1,"y":{}}`,
		}},
		"PlanUpdateContent": {func() union { return new(v1.PlanUpdateContent) }, []string{
			`{"type":"items","planId":"p","entries":[]}`,
			`{"type":"file","planId":"p","uri":"file:///p"}`,
			`{"type":"markdown","planId":"p","content":"c"}`,
			`{"type":"tree","planId":"p"}`,
		}},
		"StateUpdate": {func() union { return new(v1.StateUpdate) }, []string{
			`{"state":"running",` + extra + `}`,
			`{"state":"idle","usage":{"totalTokens":3,"inputTokens":1,"outputTokens":2,"thoughtTokens":0},"stopReason":"error","error":{"code":-32603,"message":"m","data":[1]}}`,
			`{"state":"idle"}`,
			`{"state":"requires_action"}`,
			`{"state":"unknown",` + meta + `}`,
			`{"state":"dreaming","of":"sheep"}`,
		}},
		"AvailableCommandInput": {func() union { return new(v1.AvailableCommandInput) }, []string{
			`{"hint":"h",` + extra + `}`,
		}},
		"McpServer": {func() union { return new(v1.MCPServer) }, []string{
			`{"type":"http","name":"n","url":"u","headers":[{"name":"a","value":"b"}]}`,
			`{"type":"sse","name":"n","url":"u","headers":[]}`,
			`{"type":"acp","name":"n","serverId":"s"}`,
			`{"name":"n","command":"/c","args":["-v"],"env":[{"name":"A","value":"b"}]}`,
			`{"name":"n","command":"/c","args":[],"env":[],"type":"stdio"}`,
			`{"type":"carrier-pigeon","name":"n"}`,
		}},
		"AuthMethod": {func() union { return new(v1.AuthMethod) }, []string{
			`{"type":"terminal","id":"i","name":"n","description":"d","args":["login"],"env":{"A":"b","C":"d"}}`,
			`{"id":"i","name":"n"}`,
			`{"id":"i","name":"n","type":"env_var","vars":[{"name":"KEY"}]}`,
			`{"type":"retina"}`,
		}},
		"RequestPermissionOutcome": {func() union { return new(v1.RequestPermissionOutcome) }, []string{
			`{"outcome":"cancelled"}`,
			`{"outcome":"selected","optionId":"o",` + meta + `}`,
			`{"outcome":"deferred","until":1}`,
		}},
		"ElicitationPropertySchema": {func() union { return new(v1.ElicitationPropertySchema) }, []string{
			`{"type":"string","title":"t","description":"d","minLength":1,"maxLength":2,"pattern":"p","format":"date-time","default":"x","enum":["x"],"oneOf":[{"const":"x","title":"X"}]}`,
			`{"type":"number","minimum":-1.5,"maximum":2,"default":0}`,
			`{"type":"integer","minimum":-1,"maximum":2,"default":0}`,
			`{"type":"boolean","default":false}`,
			`{"type":"array","minItems":0,"maxItems":3,"items":{"type":"string","enum":["a"]},"default":[]}`,
			`{"type":"array","items":{"anyOf":[{"const":"a","title":"A","description":"d"}]}}`,
			`{"type":"colour","space":"oklch"}`,
		}},
		"MultiSelectItems": {func() union { return new(v1.MultiSelectItems) }, []string{
			`{"type":"string","enum":[]}`,
			`{"anyOf":[]}`,
			`{"type":"colour"}`,
		}},
		"MessageMcpResponse": {func() union { return new(v1.MessageMCPResponse) }, []string{
			`{"result":null}`,
			`{"error":{"code":-1,"message":"m"},` + meta + `}`,
		}},
	}
}

// variants returns the variants of u, those that are set and all there are.
func variants(u union) (set, all []string) {
	v := reflect.ValueOf(u).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		all = append(all, name)
		if !v.Field(i).IsZero() {
			set = append(set, name)
		}
	}
	return set, all
}

func TestUnionsRoundTrip(t *testing.T) {
	for name, f := range families() {
		t.Run(name, func(t *testing.T) {
			seen := map[string]bool{}
			for _, sample := range f.samples {
				u := f.new()
				if err := json.Unmarshal([]byte(sample), u); err != nil {
					t.Fatalf("%s: %v", sample, err)
				}
				set, _ := variants(u)
				if len(set) != 1 {
					t.Errorf("%s sets %v, want one variant", sample, set)
				}
				seen[set[0]] = true
				out, err := json.Marshal(u)
				if err != nil {
					t.Fatalf("%s: %v", sample, err)
				}
				if string(out) != sample {
					t.Errorf("came back as\n%s\nwant\n%s", out, sample)
				}
			}
			_, all := variants(f.new())
			for _, variant := range all {
				if !seen[variant] {
					t.Errorf("no sample of the variant %s", variant)
				}
			}
		})
	}
}

// What is kept raw is kept to the byte. Only json.Marshal's own formatting, which
// keeps a message on one line, touches it.
func TestRawBytesAreKept(t *testing.T) {
	const raw = "{ \"type\":\"\\u0068ologram\",\n \"depth\": [3.0, 1e2]}"
	var block v1.ContentBlock
	if err := json.Unmarshal([]byte(raw), &block); err != nil {
		t.Fatal(err)
	}
	if string(block.Raw) != raw {
		t.Errorf("kept %s", block.Raw)
	}
	out, err := json.Marshal(&block)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"hologram","depth":[3.0,1e2]}`; string(out) != want {
		t.Errorf("encoded as %s, want %s", out, want)
	}
}

func TestKind(t *testing.T) {
	for _, tc := range []struct {
		u        union
		in, want string
	}{
		{new(v1.ContentBlock), textBlock, v1.ContentBlockKindText},
		{new(v1.ContentBlock), `{"type":"hologram"}`, "hologram"},
		{new(v1.AuthMethod), `{"id":"i","name":"n"}`, v1.AuthMethodKindAgent},
		{new(v1.SessionUpdate), `{"sessionUpdate":"future\u005fthing"}`, "future_thing"},
		{new(v1.EmbeddedResourceResource), `{"blob":"","uri":""}`, v1.EmbeddedResourceResourceKindBlob},
	} {
		if err := json.Unmarshal([]byte(tc.in), tc.u); err != nil {
			t.Fatal(err)
		}
		if got := tc.u.Kind(); got != tc.want {
			t.Errorf("kind of %s = %q, want %q", tc.in, got, tc.want)
		}
	}
	if got := new(v1.ContentBlock).Kind(); got != "" {
		t.Errorf("kind of nothing = %q", got)
	}
}

func TestUnionWithoutVariant(t *testing.T) {
	for name, f := range families() {
		if out, err := json.Marshal(f.new()); err == nil {
			t.Errorf("%s without a variant was encoded as %s", name, out)
		}
	}
}

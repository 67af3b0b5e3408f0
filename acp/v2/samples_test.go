package v2_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"

	v2 "github.com/grapnel-ai/grapnel/acp/v2"
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
	extra     = `"_meta":{"n":1e2},"future":{"a":[1,2.50]}`
)

// families has every union of the package.
func families() map[string]family {
	return map[string]family{
		"ContentBlock": {func() union { return new(v2.ContentBlock) }, []string{
			textBlock,
			`{"type":"image","data":"AA==","mimeType":"image/png",` + extra + `}`,
			`{"type":"audio","data":"AA==","mimeType":"audio/wav"}`,
			`{"type":"resource_link","name":"n","uri":"file:///a","icons":[{"src":"x:y","theme":"sepia"}],"size":1}`,
			`{"type":"resource","resource":{"text":"t","uri":"u:"}}`,
			`{"type":"hologram","depth":[3.0]}`,
		}},
		"EmbeddedResourceResource": {func() union { return new(v2.EmbeddedResourceResource) }, []string{
			`{"text":"t","uri":"u",` + extra + `}`,
			`{"blob":"b","uri":"u"}`,
		}},
		"ToolCallContent": {func() union { return new(v2.ToolCallContent) }, []string{
			`{"type":"content","content":` + textBlock + `}`,
			`{"type":"diff","changes":[{"operation":"move","fileType":"text","path":"/b","oldPath":"/a"},{"operation":"add","path":""},{"operation":"_chmod","mode":7}],"patch":{"format":"git_patch","text":"t"}}`,
			`{"type":"terminal","terminalId":"t1"}`,
			`{"type":"chart","points":[1,2]}`,
		}},
		"SessionUpdate": {func() union { return new(v2.SessionUpdate) }, []string{
			`{"sessionUpdate":"user_message_chunk","messageId":"m","content":` + textBlock + `}`,
			`{"sessionUpdate":"user_message","messageId":"m","content":null}`,
			`{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"hologram"},` + extra + `}`,
			`{"sessionUpdate":"agent_message","messageId":"m"}`,
			`{"sessionUpdate":"agent_thought_chunk","messageId":"m","content":` + textBlock + `}`,
			`{"sessionUpdate":"agent_thought","messageId":"m","content":[` + textBlock + `]}`,
			`{"sessionUpdate":"state_update","state":"idle","stopReason":"error","error":{"code":-32603,"message":"m"},"future":1}`,
			`{"sessionUpdate":"state_update","state":"dreaming","of":"sheep"}`,
			`{"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"terminal","terminalId":"t"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"c","name":null,"title":"t","kind":"juggle","status":"paused","content":[],"locations":null,"rawInput":null,"capabilities":{"cancel":{}}}`,
			`{"sessionUpdate":"terminal_update","terminalId":"t","command":null,"output":{"data":"AA=="},"exitStatus":{"exitCode":-1},"size":{"cols":80,"rows":24}}`,
			`{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"AA=="}`,
			`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[]}}`,
			`{"sessionUpdate":"plan_removed","planId":"p"}`,
			`{"sessionUpdate":"available_commands_update","availableCommands":[{"type":"command","name":"n","description":"d","input":{"type":"text","hint":"h"}},{"type":"macro","name":"n","description":"d"}]}`,
			`{"sessionUpdate":"config_option_update","configOptions":[]}`,
			`{"sessionUpdate":"session_info_update","title":null}`,
			`{"sessionUpdate":"usage_update","used":1,"size":2}`,
			`{"sessionUpdate":"notice","severity":"dire","title":"t"}`,
			`{"sessionUpdate":"compaction_update","compactionId":"c","status":"paused","error":null}`,
			`{"sessionUpdate":"compaction_summary_chunk","compactionId":"c","content":` + textBlock + `}`,
			`{"sessionUpdate":"subagent_update","sessionId":"s","state":{"state":"running","background":[]}}`,
			`{"sessionUpdate":"session_message","messageId":"m"}`,
			`{"sessionUpdate":"session_message_chunk","messageId":"m","content":` + textBlock + `}`,
			`{"sessionUpdate":"future_thing","x":1}`,
		}},
		"PlanUpdateContent": {func() union { return new(v2.PlanUpdateContent) }, []string{
			`{"type":"items","planId":"p","entries":[{"content":"c","priority":"urgent","status":"cancelled"}]}`,
			`{"type":"file","planId":"p","uri":"file:///p"}`,
			`{"type":"markdown","planId":"p","content":"c"}`,
			`{"type":"tree","planId":"p"}`,
		}},
		"StateUpdate": {func() union { return new(v2.StateUpdate) }, []string{
			`{"state":"running","background":[{"type":"terminal","terminalId":"t"}]}`,
			`{"state":"idle","stopReason":"tired"}`,
			`{"state":"requires_action"}`,
			`{"state":"unknown",` + extra + `}`,
			`{"state":"dreaming"}`,
		}},
		"BackgroundWork": {func() union { return new(v2.BackgroundWork) }, []string{
			`{"type":"terminal","terminalId":"t"}`,
			`{"type":"tool_call","toolCallId":"c"}`,
			`{"type":"subagent","sessionId":"s"}`,
			`{"type":"cron","at":"noon"}`,
		}},
		"AvailableCommand": {func() union { return new(v2.AvailableCommand) }, []string{
			`{"type":"command","name":"n","description":"d"}`,
			`{"type":"macro","name":"n","description":"d"}`,
		}},
		"AvailableCommandInput": {func() union { return new(v2.AvailableCommandInput) }, []string{
			`{"type":"text","hint":"h"}`,
			`{"type":"form"}`,
		}},
		"McpServer": {func() union { return new(v2.MCPServer) }, []string{
			`{"type":"http","name":"n","url":"u:","headers":[]}`,
			`{"type":"acp","name":"n","serverId":"s"}`,
			`{"type":"stdio","name":"n","command":"/c"}`,
			`{"type":"carrier-pigeon"}`,
		}},
		"AuthMethod": {func() union { return new(v2.AuthMethod) }, []string{
			`{"type":"agent","methodId":"i","name":"n"}`,
			`{"type":"terminal","methodId":"i","name":"n","env":[{"name":"A","value":"b"}]}`,
			`{"type":"retina","methodId":"i","name":"n"}`,
		}},
		"ReplayFrom": {func() union { return new(v2.ReplayFrom) }, []string{
			`{"type":"start"}`,
			`{"type":"cursor","at":3}`,
		}},
		"RequestPermissionSubject": {func() union { return new(v2.RequestPermissionSubject) }, []string{
			`{"type":"tool_call","toolCall":{"toolCallId":"c"}}`,
			`{"type":"command","command":"c","cwd":"/w"}`,
			`{"type":"purchase","price":1.50}`,
		}},
		"RequestPermissionOutcome": {func() union { return new(v2.RequestPermissionOutcome) }, []string{
			`{"outcome":"cancelled"}`,
			`{"outcome":"selected","optionId":"o"}`,
			`{"outcome":"deferred","until":1}`,
		}},
		"ElicitationPropertySchema": {func() union { return new(v2.ElicitationPropertySchema) }, []string{
			`{"type":"string","minLength":1}`,
			`{"type":"number","minimum":-1.5}`,
			`{"type":"integer","minimum":-1}`,
			`{"type":"boolean","default":false}`,
			`{"type":"array","items":{"type":"string","enum":["a"]}}`,
			`{"type":"colour","space":"oklch"}`,
		}},
		"MultiSelectItems": {func() union { return new(v2.MultiSelectItems) }, []string{
			`{"type":"string","enum":["a"]}`,
			`{"anyOf":[{"const":"a","title":"A"}]}`,
			`{"type":"colour"}`,
		}},
		"MessageMcpResponse": {func() union { return new(v2.MessageMCPResponse) }, []string{
			`{"result":{"a":1.0}}`,
			`{"error":{"code":-1,"message":"m"}}`,
		}},
	}
}

// variants returns the variants of u: those that are set and all there are.
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
				if out, err := json.Marshal(u); err != nil || string(out) != sample {
					t.Errorf("came back as\n%s (%v)\nwant\n%s", out, err, sample)
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

package fakellm_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
)

// heard is what an official client made of an answer.
type heard struct{ Text, Tool, Input, Stop string }

// ask sends a prompt with a shell on offer through an official client.
type ask func(t *testing.T, url, prompt string) heard

// clients are the official ones, which decode every field and so judge the
// wire forms of the fake.
var clients = map[string]ask{"messages": askMessages, "chat": askChat, "responses": askResponses}

func serve(t *testing.T) (*fakellm.Server, string) {
	t.Helper()
	s := &fakellm.Server{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, srv.URL
}

func askMessages(t *testing.T, url, prompt string) heard {
	c := anthropic.NewClient(anthropicoption.WithoutEnvironmentDefaults(), anthropicoption.WithBaseURL(url), anthropicoption.WithAPIKey("k"))
	stream := c.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(prompt))},
		Tools:    []anthropic.ToolUnionParam{anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{Properties: map[string]any{"command": map[string]any{"type": "string"}}}, "shell")},
	})
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	h := heard{Stop: string(m.StopReason)}
	for _, b := range m.Content {
		h.Text += b.Text
		if b.Type == "tool_use" {
			h.Tool, h.Input = b.Name, string(b.Input)
		}
	}
	return h
}

func askChat(t *testing.T, url, prompt string) heard {
	c := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("k"))
	stream := c.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model:    "m",
		Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(prompt)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "shell", Parameters: map[string]any{"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}}},
		})},
	})
	acc := openai.ChatCompletionAccumulator{}
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatal("the accumulator did not take a chunk")
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	ch := acc.Choices[0]
	h := heard{Text: ch.Message.Content, Stop: ch.FinishReason}
	for _, tc := range ch.Message.ToolCalls {
		h.Tool, h.Input = tc.Function.Name, tc.Function.Arguments
	}
	return h
}

func askResponses(t *testing.T, url, prompt string) heard {
	s := responses.NewResponseService(option.WithBaseURL(url+"/v1"), option.WithAPIKey("k"))
	stream := s.NewStreaming(t.Context(), responses.ResponseNewParams{
		Model: "m",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(prompt)},
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("shell", map[string]any{"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}}}, false)},
	})
	var last responses.Response
	for stream.Next() {
		switch ev := stream.Current(); ev.Type {
		case "response.completed", "response.incomplete":
			last = ev.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	h := heard{Text: last.OutputText(), Stop: string(last.Status)}
	for _, item := range last.Output {
		if item.Type == "function_call" {
			h.Tool, h.Input = item.Name, item.Arguments.OfString
		}
	}
	return h
}

// stops are the words of each protocol for the same thing.
var stops = map[string]map[string]string{
	"messages":  {"end": "end_turn", "tools": "tool_use", "length": "max_tokens"},
	"chat":      {"end": "stop", "tools": "tool_calls", "length": "length"},
	"responses": {"end": "completed", "tools": "completed", "length": "incomplete"},
}

func TestOfficialClients(t *testing.T) {
	tests := []struct {
		prompt string
		want   heard
	}{
		{"hello", heard{Text: "Hello from the fake model.", Stop: "end"}},
		{"D:THINK hm ; D:SPLITEMOJI", heard{Text: "漢字🎉é", Stop: "end"}},
		{"D:CHUNKS 3,5", heard{Text: "0001 0002 0003 ", Stop: "end"}},
		{"D:SAY now ; D:TOOL shell 'ls; pwd'", heard{Text: "now", Tool: "shell", Input: `{"command":"ls; pwd"}`, Stop: "tools"}},
		{"D:MAXTOKENS", heard{Text: "This is cut", Stop: "length"}},
		{"D:EMPTY", heard{Stop: "end"}},
	}
	for name, ask := range clients {
		t.Run(name, func(t *testing.T) {
			_, url := serve(t)
			for _, tt := range tests {
				tt.want.Stop = stops[name][tt.want.Stop]
				if diff := cmp.Diff(tt.want, ask(t, url, tt.prompt)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.prompt, diff)
				}
			}
		})
	}
}

// post sends a raw request and returns the answer.
func post(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func TestWithoutStreaming(t *testing.T) {
	_, url := serve(t)
	tests := []struct{ path, body, want string }{
		{"/v1/messages", `{"messages":[{"role":"user","content":"D:SAY ok"}]}`, `"content":[{"text":"ok","type":"text"}]`},
		{"/v1/chat/completions", `{"messages":[{"role":"user","content":"D:SAY ok"}]}`, `"content":"ok"`},
		{"/v1/responses", `{"input":"D:SAY ok"}`, `"text":"ok"`},
		{"/v1/messages/count_tokens", `{}`, `"input_tokens"`},
		{"/v1/models", ``, `"fake-model"`},
	}
	for _, tt := range tests {
		resp, got := post(t, url+tt.path, tt.body)
		if resp.StatusCode != http.StatusOK || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %d %s", tt.path, resp.StatusCode, got)
		}
	}
}

// TestStepsFollowToolResults plays a script through a conversation that grows,
// with a reminder that an agent adds in the user's name.
func TestStepsFollowToolResults(t *testing.T) {
	_, url := serve(t)
	tools := `"tools":[{"type":"function","function":{"name":"shell","parameters":{"properties":{"command":{}}}}}]`
	messages := []string{`{"role":"user","content":"D:TOOL shell a\nD:TOOL shell b\nD:SAY end"}`, `{"role":"user","content":"<system-reminder>be good</system-reminder>"}`}
	for _, want := range []string{`{\"command\":\"a\"}`, `{\"command\":\"b\"}`, `"content":"end"`, `"content":"end"`} {
		_, got := post(t, url+"/v1/chat/completions", `{`+tools+`,"messages":[`+strings.Join(messages, ",")+`]}`)
		if !strings.Contains(got, want) {
			t.Errorf("after %d messages: %s, want %s", len(messages), got, want)
		}
		if !strings.Contains(want, "end") {
			messages = append(messages, `{"role":"assistant","content":null,"tool_calls":[{"id":"x"}]}`, `{"role":"tool","tool_call_id":"x","content":"r"}`)
		}
	}
}

func TestFailuresAreCounted(t *testing.T) {
	_, url := serve(t)
	body := `{"messages":[{"role":"user","content":"D:HTTP 429 2 3 ; D:SAY ok"}]}`
	for i, want := range []int{429, 429, 200, 200} {
		resp, got := post(t, url+"/v1/messages", body)
		if resp.StatusCode != want || want == 429 && (resp.Header.Get("Retry-After") != "3" || !strings.Contains(got, "rate_limit_error")) {
			t.Errorf("request %d: %d %s", i, resp.StatusCode, got)
		}
	}
}

func TestRequestsAreLogged(t *testing.T) {
	var log bytes.Buffer
	s := &fakellm.Server{Log: &log}
	srv := httptest.NewServer(s)
	post(t, srv.URL+"/v1/responses", `{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"héllo"}]}]}`)
	post(t, srv.URL+"/v1/chat/completions", `{broken`)
	post(t, srv.URL+"/elsewhere", ``)
	srv.Close() // waits for the handlers
	reqs := s.Requests()
	if len(reqs) != 3 || reqs[0].Prompt != "héllo" || reqs[0].Bytes != 6 || reqs[0].Model != "m" || reqs[0].Header.Get("Content-Type") == "" {
		t.Errorf("requests = %+v", reqs)
	}
	var first fakellm.Request
	if err := json.Unmarshal([]byte(strings.SplitN(log.String(), "\n", 2)[0]), &first); err != nil || first.Path != "/v1/responses" {
		t.Errorf("log = %s, %v", &log, err)
	}
}

package openaichat_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/openaichat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers requests with canned answers, in order, and keeps the bodies
// of the requests.
type server struct {
	answers []answer
	bodies  []string
}

type answer struct {
	status int
	kind   string
	body   string
}

// events is a stream of data lines.
func events(lines ...string) answer {
	return answer{kind: "text/event-stream", body: "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.bodies = append(s.bodies, string(b))
	a := s.answers[min(len(s.bodies), len(s.answers))-1]
	w.Header().Set("Content-Type", a.kind)
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = io.WriteString(w, a.body)
}

func connect(t testing.TB, s *server) *openaichat.Provider {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	client := endpoint.NewClient()
	t.Cleanup(client.CloseIdleConnections)
	p, err := openaichat.New(endpoint.Config{Name: "local", BaseURL: srv.URL, Model: "m", Client: client})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func quiet(model.Event) error { return nil }

var prompt = &model.Request{Messages: []model.Message{model.UserText("hi")}}

func toolCall(id, name, input string) model.Part {
	return model.Part{ToolCall: &model.ToolCall{ID: id, Name: name, Input: jsontext.Value(input)}}
}

// TestTolerance reads what servers other than OpenAI's send.
func TestTolerance(t *testing.T) {
	tests := []struct {
		name string
		in   answer
		want []model.Part
		stop model.StopReason
	}{
		{
			"no usage, no finish reason, only [DONE]",
			events(`{"choices":[{"delta":{"content":"ok"}}]}`, `[DONE]`),
			[]model.Part{model.Text("ok")},
			model.StopEndTurn,
		},
		{
			"finish reason and no [DONE]",
			events(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`),
			[]model.Part{model.Text("ok")},
			model.StopEndTurn,
		},
		{
			"a whole answer instead of a stream",
			answer{kind: "application/json; charset=utf-8", body: `{"choices":[{"message":{"role":"assistant","content":"ok","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`},
			[]model.Part{model.Text("ok"), toolCall("1", "f", `{}`)},
			model.StopToolUse,
		},
		{
			"reasoning in the other field, nulls everywhere",
			events(`{"choices":[{"delta":{"content":null,"reasoning":"hm","tool_calls":null},"finish_reason":null}],"usage":null}`, `{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`),
			[]model.Part{{Thinking: &model.Thinking{Text: "hm"}}, model.Text("ok")},
			model.StopEndTurn,
		},
		{
			"content as a list of thinking and text",
			events(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}`, `{"choices":[{"delta":{"content":[{"type":"text","text":"ok"}]},"finish_reason":"stop"}]}`),
			[]model.Part{{Thinking: &model.Thinking{Text: "hm"}}, model.Text("ok")},
			model.StopEndTurn,
		},
		{
			"interleaved parallel calls by index",
			events(
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"y\":"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"2}"}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`),
			[]model.Part{toolCall("a", "f", `{"x":1}`), toolCall("b", "g", `{"y":2}`)},
			model.StopToolUse,
		},
		{
			"whole calls that all have index 0",
			events(
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}}]},"finish_reason":"stop"}]}`),
			[]model.Part{toolCall("a", "f", `{"x":1}`), toolCall("b", "f", `{"x":2}`)},
			model.StopToolUse,
		},
		{
			"arguments as an object, no index",
			events(`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":[1]}}}]},"finish_reason":"stop"}]}`),
			[]model.Part{toolCall("a", "f", `{"x":[1]}`)},
			model.StopToolUse,
		},
		{
			"the name repeated in every delta",
			events(
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]},"finish_reason":"tool_calls"}]}`),
			[]model.Part{toolCall("a", "f", `{"x":1}`)},
			model.StopToolUse,
		},
		{
			"refusal",
			events(`{"choices":[{"delta":{"refusal":"no"},"finish_reason":"stop"}]}`, `[DONE]`),
			[]model.Part{model.Text("no")},
			model.StopRefusal,
		},
		{
			"cut at the limit",
			events(`{"choices":[{"delta":{"content":"o"},"finish_reason":"length"}]}`, `[DONE]`),
			[]model.Part{model.Text("o")},
			model.StopMaxTokens,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := connect(t, &server{answers: []answer{tt.in}})
			resp, err := p.Stream(t.Context(), prompt, quiet)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, resp.Message.Parts, cmpopts.IgnoreFields(model.Part{}, "Opaque")); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if resp.Stop != tt.stop {
				t.Errorf("stop = %s, want %s", resp.Stop, tt.stop)
			}
		})
	}
}

func TestMissingCallIDsAreMadeUp(t *testing.T) {
	p := connect(t, &server{answers: []answer{events(
		`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}]}`)}})
	resp, err := p.Stream(t.Context(), prompt, quiet)
	if err != nil {
		t.Fatal(err)
	}
	calls := resp.Message.ToolCalls()
	if len(calls) != 2 || calls[0].ID == "" || calls[0].ID == calls[1].ID {
		t.Errorf("calls = %+v", calls)
	}
}

func TestUsage(t *testing.T) {
	p := connect(t, &server{answers: []answer{events(
		`{"model":"m-1","choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":5}}}`,
		`[DONE]`)}})
	resp, err := p.Stream(t.Context(), prompt, quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Usage{Input: 40, CacheRead: 60, Output: 20, Thought: 5}
	if resp.Usage != want || resp.Model != "m-1" {
		t.Errorf("usage = %+v of %s, want %+v", resp.Usage, resp.Model, want)
	}
}

func TestErrorsInsideTheStream(t *testing.T) {
	tests := []struct {
		in   answer
		want model.ErrorKind
	}{
		{events(`{"error":{"message":"busy","type":"overloaded"}}`), model.ErrOverloaded},
		{events(`{"choices":[{"delta":{"content":"a"}}]}`, `{"error":"model not loaded"}`), model.ErrUnknown},
		{answer{kind: "application/json", body: `{"error":{"message":"no","code":"rate_limit_exceeded"}}`}, model.ErrRateLimit},
		{events(`{"choices":[{"delta":{"content":"a"}}]}`), model.ErrTruncated},
		{events(`{"choices":[{"delta"`), model.ErrTruncated},
		{answer{kind: "text/html", body: "<html>login</html>"}, model.ErrTruncated},
	}
	for _, tt := range tests {
		p := connect(t, &server{answers: []answer{tt.in}})
		if _, err := p.Stream(t.Context(), prompt, quiet); model.KindOf(err) != tt.want {
			t.Errorf("%s: error = %v, want kind %s", tt.in.body, err, tt.want)
		}
	}
}

// TestRefusedFields leaves out, from then on, what a server does not take.
func TestRefusedFields(t *testing.T) {
	refuse := func(field string) answer {
		return answer{status: 422, kind: "application/json", body: fmt.Sprintf(`{"detail":[{"loc":["body",%q],"msg":"Extra inputs are not permitted"}]}`, field)}
	}
	ok := events(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`)
	s := &server{answers: []answer{refuse("stream_options"), refuse("reasoning_effort"), ok}}
	p := connect(t, s)
	req := &model.Request{Messages: prompt.Messages, Thinking: model.LevelHigh}
	for range 2 {
		if _, err := p.Stream(t.Context(), req, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.bodies) != 4 || !strings.Contains(s.bodies[0], `"reasoning_effort":"high"`) {
		t.Fatalf("requests = %q", s.bodies)
	}
	for _, b := range s.bodies[2:] {
		if strings.Contains(b, "stream_options") || strings.Contains(b, "reasoning_effort") {
			t.Errorf("a refused field was sent again: %s", b)
		}
	}
}

func TestOtherRefusalsStand(t *testing.T) {
	s := &server{answers: []answer{{status: 400, kind: "application/json", body: `{"error":{"message":"unknown model"}}`}}}
	_, err := connect(t, s).Stream(t.Context(), prompt, quiet)
	failure, ok := errors.AsType[*model.Error](err)
	if !ok || failure.Kind != model.ErrBadRequest || failure.Message != "unknown model" || failure.Model != "m" || len(s.bodies) != 1 {
		t.Errorf("error = %+v after %d requests", failure, len(s.bodies))
	}
}

// TestKeptData sends back to a server what only it understands: signatures of
// thoughts and records of reasoning.
func TestKeptData(t *testing.T) {
	s := &server{answers: []answer{events(
		`{"choices":[{"delta":{"reasoning_content":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"y"}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"sig"}}}]},"finish_reason":"tool_calls"}]}`)}}
	p := connect(t, s)
	resp, err := p.Stream(t.Context(), prompt, quiet)
	if err != nil {
		t.Fatal(err)
	}
	history := []model.Message{
		model.UserText("hi"), resp.Message,
		{Role: model.RoleUser, Parts: []model.Part{{ToolResult: &model.ToolResult{CallID: "a", Parts: []model.Part{model.Text("r")}}}}},
	}
	if _, err := p.Stream(t.Context(), &model.Request{Messages: history}, quiet); err != nil {
		t.Fatal(err)
	}
	wants := []string{`"reasoning_details":[{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.encrypted","data":"y"}]`, `"extra_content":{"google":{"thought_signature":"sig"}}`}
	for _, want := range append(wants, `"reasoning_content":"hm"`) {
		if !strings.Contains(s.bodies[1], want) {
			t.Errorf("within the turn the request lacks %s:\n%s", want, s.bodies[1])
		}
	}
	if _, err := p.Stream(t.Context(), &model.Request{Messages: append(history, model.UserText("next"))}, quiet); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.bodies[2], "reasoning_content") || !strings.Contains(s.bodies[2], wants[0]) {
		t.Errorf("in the next turn the request is\n%s", s.bodies[2])
	}
	other := &server{answers: s.answers}
	if _, err := connect(t, other).Stream(t.Context(), &model.Request{Messages: history}, quiet); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(other.bodies[0], "sig") || strings.Contains(other.bodies[0], "encrypted") || strings.Contains(other.bodies[0], "reasoning_content") {
		t.Errorf("another server got what is not its own:\n%s", other.bodies[0])
	}
}

func TestRequestShape(t *testing.T) {
	s := &server{answers: []answer{events(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`)}}
	_, err := connect(t, s).Stream(t.Context(), &model.Request{
		System: []string{"a", "b"}, MaxTokens: 7, NoToolCalls: true, CacheKey: "k",
		Tools: []model.ToolSpec{{Name: "f", Schema: jsontext.Value(`{"type":"object"}`)}},
		Messages: []model.Message{
			{Role: model.RoleUser, Parts: []model.Part{model.Text("x"), {Audio: &model.Media{MimeType: "audio/mpeg", Data: []byte("m")}}}},
			{Role: model.RoleAssistant},
		},
	}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","messages":[{"role":"system","content":"a\n\nb"},{"role":"user","content":[{"type":"text","text":"x"},{"type":"input_audio","input_audio":{"data":"bQ==","format":"mp3"}}]}],` +
		`"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"none","stream":true,"stream_options":{"include_usage":true},"max_tokens":7}`
	if diff := cmp.Diff(want, s.bodies[0]); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestInfo(t *testing.T) {
	local := connect(t, &server{})
	if info := local.Info("gpt-4o"); info.Price != nil || info.Thinking != nil || !info.Images {
		t.Errorf("a local server's gpt-4o: %+v", info)
	}
	if info := local.Info("openai/gpt-oss-20b"); len(info.Thinking) != 3 {
		t.Errorf("gpt-oss: %+v", info)
	}
	router, err := openaichat.New(endpoint.Config{BaseURL: "https://openrouter.ai/api/v1", Model: "anthropic/claude-sonnet-4.6"})
	if err != nil {
		t.Fatal(err)
	}
	if info := router.Info(""); info.Price == nil || info.Price.Input != 3_000_000 {
		t.Errorf("OpenRouter: %+v", info)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"), false)
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":-1,\"function\":{\"arguments\":{}}}]}}]}\n\n"), false)
	f.Add([]byte(`{"choices":[{"message":{"content":[{"text":"\ud83c"}]}}]}`), true)
	f.Fuzz(func(t *testing.T, stream []byte, whole bool) {
		m := &inMemory{"text/event-stream", string(stream)}
		if whole {
			m.kind = "application/json"
		}
		p, err := openaichat.New(endpoint.Config{Name: "p", BaseURL: "http://fake", Model: "m", Client: &http.Client{Transport: m}})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := p.Stream(t.Context(), prompt, quiet)
		if err != nil {
			return
		}
		if resp.Stop == model.StopEndTurn && resp.Message.Text() == "" && len(resp.Message.ToolCalls()) == 0 {
			t.Error("an empty answer passed for a good one")
		}
		if _, err := json.Marshal(resp.Message); err != nil {
			t.Errorf("the message cannot be stored: %v", err)
		}
	})
}

// inMemory answers requests with a body, without a network.
type inMemory struct{ kind, body string }

func (m *inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {m.kind}},
		Body: io.NopCloser(strings.NewReader(m.body)), Request: r,
	}, nil
}

func BenchmarkChunk(b *testing.B) {
	line := `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":"Hello there, friend"},"finish_reason":null}]}`
	benchmark(b, line, []string{line, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]"})
}

// benchmark reports the time of one chunk within a long answer.
func benchmark(b *testing.B, line string, lines []string) {
	const chunks = 1000
	all := append([]string(nil), lines...)
	for range chunks - 1 {
		all = append([]string{line}, all...)
	}
	p := connect(b, &server{answers: []answer{events(all...)}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Stream(b.Context(), prompt, quiet); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}

package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers with the stream, but refuses with its body as long as that
// contains refuse.
type server struct {
	stream string
	refuse string
	answer string
	bodies []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.bodies = append(s.bodies, string(b))
	if s.refuse != "" && strings.Contains(string(b), s.refuse) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, s.answer)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, s.stream)
}

func events(lines ...string) string {
	return "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"
}

const (
	created   = `{"type":"response.created","response":{"id":"resp_1","model":"gpt-x","status":"in_progress","usage":null,"error":null,"incomplete_details":null}}`
	added     = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","content":[]}}`
	delta     = `{"type":"response.output_text.delta","sequence_number":12,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hello there, friend","logprobs":[]}`
	done      = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"Hello there, friend"}]}}`
	completed = `{"type":"response.completed","response":{"model":"gpt-x","usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":10},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5}}}}`
)

func connect(t testing.TB, s *server, id string) *openai.Provider {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	client := endpoint.NewClient()
	t.Cleanup(client.CloseIdleConnections)
	p, err := openai.New(endpoint.Config{Name: "gpt", BaseURL: srv.URL, Model: id, Client: client})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func quiet(model.Event) error { return nil }

var prompt = &model.Request{Messages: []model.Message{model.UserText("hi")}}

func TestUsageAndPhase(t *testing.T) {
	s := &server{stream: events(created, added, delta, done, completed)}
	p := connect(t, s, "gpt-5.4")
	resp, err := p.Stream(t.Context(), prompt, quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Usage{Input: 30, CacheRead: 60, CacheWrite: 10, Output: 20, Thought: 5}
	if resp.Usage != want || resp.Model != "gpt-x" {
		t.Errorf("usage = %+v of %s, want %+v", resp.Usage, resp.Model, want)
	}
	history := []model.Message{model.UserText("hi"), resp.Message, model.UserText("more")}
	if _, err := p.Stream(t.Context(), &model.Request{Messages: history}, quiet); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.bodies[1], `"phase":"final_answer"`) {
		t.Errorf("the phase did not come back: %s", s.bodies[1])
	}
}

func TestRequestShape(t *testing.T) {
	s := &server{stream: events(created, added, delta, done, completed)}
	req := &model.Request{
		System: []string{"a", "b"}, MaxTokens: 9, CacheKey: "k", NoToolCalls: true, Thinking: model.LevelLow,
		Tools: []model.ToolSpec{{Name: "f", Description: "does f", Schema: jsontext.Value(`{"type":"object","properties":{}}`)}},
		Messages: []model.Message{
			model.UserText("x"),
			{Role: model.RoleAssistant, Parts: []model.Part{
				model.Text("calling"), {ToolCall: &model.ToolCall{ID: "c", Name: "f", Input: jsontext.Value(`{"a":1}`)}},
			}},
			{Role: model.RoleUser, Parts: []model.Part{{ToolResult: &model.ToolResult{CallID: "c", Parts: []model.Part{model.Text("r")}}}, model.Text("and?")}},
		},
	}
	if _, err := connect(t, s, "gpt-5.4").Stream(t.Context(), req, quiet); err != nil {
		t.Fatal(err)
	}
	var body jsontext.Value = []byte(s.bodies[0])
	if err := body.Canonicalize(); err != nil {
		t.Fatal(err)
	}
	want := `{"include":["reasoning.encrypted_content"],"input":[` +
		`{"content":[{"text":"x","type":"input_text"}],"role":"user"},` +
		`{"content":"calling","role":"assistant"},` +
		`{"arguments":"{\"a\":1}","call_id":"c","name":"f","type":"function_call"},` +
		`{"call_id":"c","output":"r","type":"function_call_output"},` +
		`{"content":[{"text":"and?","type":"input_text"}],"role":"user"}],` +
		`"instructions":"a\n\nb","max_output_tokens":9,"model":"gpt-5.4","prompt_cache_key":"k",` +
		`"reasoning":{"effort":"low","summary":"auto"},"store":false,"stream":true,"tool_choice":"none",` +
		`"tools":[{"description":"does f","name":"f","parameters":{"properties":{},"type":"object"},"strict":false,"type":"function"}]}`
	if diff := cmp.Diff(want, string(body)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestReasoningLevels(t *testing.T) {
	tests := []struct {
		id    string
		level model.Level
		want  string
	}{
		{"gpt-5.4", model.LevelDefault, `{"summary":"auto"}`},
		{"gpt-5.4", model.LevelOff, `{"effort":"none","summary":"auto"}`},
		{"gpt-5", model.LevelOff, `{"effort":"minimal","summary":"auto"}`},
		{"o3", model.LevelHigh, `{"effort":"high","summary":"auto"}`},
		{"gpt-4.1", model.LevelDefault, ``},
		{"gpt-5-chat-latest", model.LevelOff, ``},
	}
	for _, tt := range tests {
		s := &server{stream: events(created, added, delta, done, completed)}
		if _, err := connect(t, s, tt.id).Stream(t.Context(), &model.Request{Messages: prompt.Messages, Thinking: tt.level}, quiet); err != nil {
			t.Fatal(err)
		}
		var body map[string]jsontext.Value
		if err := json.Unmarshal([]byte(s.bodies[0]), &body); err != nil {
			t.Fatal(err)
		}
		got := body["reasoning"]
		if got != nil {
			_ = got.Canonicalize()
		}
		if string(got) != tt.want {
			t.Errorf("%s at %q: reasoning %s, want %s", tt.id, tt.level, got, tt.want)
		}
	}
}

// TestSummaryRefused goes on without summaries where they are not allowed.
func TestSummaryRefused(t *testing.T) {
	s := &server{
		stream: events(created, added, delta, done, completed), refuse: `"summary"`,
		answer: `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","type":"invalid_request_error","param":"reasoning.summary","code":"unsupported_value"}}`,
	}
	p := connect(t, s, "gpt-5.4")
	for range 2 {
		if _, err := p.Stream(t.Context(), prompt, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.bodies) != 3 {
		t.Errorf("%d requests, want 3: the refusal is remembered", len(s.bodies))
	}
}

// TestReasoningComesBack plays encrypted reasoning back as it came, unless the
// answer it led to is missing.
func TestReasoningComesBack(t *testing.T) {
	reasoning := `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}],"encrypted_content":"gAAA<&>=="}`
	s := &server{stream: events(created,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
		`{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":0}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"one"}`,
		`{"type":"response.reasoning_summary_part.added","output_index":0,"summary_index":1}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":1,"delta":"two"}`,
		`{"type":"response.output_item.done","output_index":0,"item":`+reasoning+`}`,
		strings.ReplaceAll(added, `"output_index":0`, `"output_index":1`),
		strings.ReplaceAll(delta, `"output_index":0`, `"output_index":1`),
		strings.ReplaceAll(done, `"output_index":0`, `"output_index":1`),
		completed)}
	p := connect(t, s, "gpt-5.4")
	resp, err := p.Stream(t.Context(), prompt, quiet)
	if err != nil {
		t.Fatal(err)
	}
	parts := resp.Message.Parts
	if len(parts) != 2 || parts[0].Thinking == nil || parts[0].Thinking.Text != "one\n\ntwo" || string(parts[0].Opaque.Data) != reasoning {
		t.Fatalf("parts = %+v", parts)
	}
	for n, want := range map[int]bool{2: true, 1: false} {
		history := []model.Message{model.UserText("hi"), {Role: model.RoleAssistant, Parts: parts[:n]}, model.UserText("more")}
		if _, err := p.Stream(t.Context(), &model.Request{Messages: history}, quiet); err != nil {
			t.Fatal(err)
		}
		body := s.bodies[len(s.bodies)-1]
		if got := strings.Contains(body, `"rs_1"`) && strings.Contains(body, "gAAA"); got != want {
			t.Errorf("with %d parts, reasoning in the request: %v, want %v:\n%s", n, got, want, body)
		}
	}
}

func TestFailuresInsideTheStream(t *testing.T) {
	tests := []struct {
		event string
		want  model.ErrorKind
	}{
		{`{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow down"}}}`, model.ErrRateLimit},
		{`{"type":"response.failed","response":{"error":{"code":"server_error","message":"oops"}}}`, model.ErrServer},
		{`{"type":"error","code":"context_length_exceeded","message":"too long","param":null}`, model.ErrContextLength},
		{`{"type":"error","error":{"type":"server_error","message":"oops"}}`, model.ErrServer},
		{`{"type":"something.new","delta":5}`, model.ErrTruncated},
	}
	for _, tt := range tests {
		s := &server{stream: events(created, added, delta, tt.event)}
		resp, err := connect(t, s, "gpt-5.4").Stream(t.Context(), prompt, quiet)
		if model.KindOf(err) != tt.want || resp.Message.Text() != "Hello there, friend" {
			t.Errorf("%s: %+v, %v, want kind %s", tt.event, resp, err, tt.want)
		}
	}
}

// TestWholeItems reads an answer whose server sends items and no deltas.
func TestWholeItems(t *testing.T) {
	s := &server{stream: events(created, done,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"}}`,
		completed)}
	resp, err := connect(t, s, "gpt-5.4").Stream(t.Context(), prompt, quiet)
	if err != nil || resp.Message.Text() != "Hello there, friend" || resp.Stop != model.StopToolUse {
		t.Fatalf("response %+v, %v", resp, err)
	}
	if c := resp.Message.ToolCalls()[0]; c.ID != "c" || string(c.Input) != `{"a":1}` {
		t.Errorf("call = %+v", c)
	}
}

func TestInfo(t *testing.T) {
	p := connect(t, &server{}, "gpt-5.4-mini")
	if info := p.Info(""); info.ContextWindow != 1_050_000 || info.Price.Input != 750_000 || len(info.Thinking) != 4 || !info.Images {
		t.Errorf("gpt-5.4-mini: %+v", info)
	}
	if info := p.Info("gpt-4.1"); info.Thinking != nil {
		t.Errorf("gpt-4.1: %+v", info)
	}
	for id, images := range map[string]bool{"o3": true, "o3-mini": false, "gpt-5.4": true, "unheard-of": false} {
		if info := p.Info(id); info.Images != images || info.Audio {
			t.Errorf("%s: images %v, audio %v", id, info.Images, info.Audio)
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(events(created, added, delta, done, completed)))
	f.Add([]byte(events(`{"type":"response.output_item.done","output_index":-3,"item":{"type":"reasoning"}}`, completed)))
	f.Fuzz(func(t *testing.T, stream []byte) {
		m := &inMemory{"text/event-stream", string(stream)}
		p, err := openai.New(endpoint.Config{Name: "p", BaseURL: "http://fake", Model: "m", Client: &http.Client{Transport: m}})
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
	const chunks = 1000
	lines := []string{created, added}
	for range chunks {
		lines = append(lines, delta)
	}
	p := connect(b, &server{stream: events(append(lines, done, completed)...)}, "m")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Stream(b.Context(), prompt, quiet); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}

package anthropic_test

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
	"github.com/grapnel-ai/grapnel/internal/model/anthropic"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers every request with the same stream and keeps the last body.
type server struct {
	stream string
	body   string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	s.body = string(b)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, s.stream)
}

// events writes events whose names are their types.
func events(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		_, rest, _ := strings.Cut(l, `"type":"`)
		name, _, _ := strings.Cut(rest, `"`)
		b.WriteString("event: " + name + "\ndata: " + l + "\n\n")
	}
	return b.String()
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":5,"cache_read_input_tokens":70,"cache_creation_input_tokens":20,"output_tokens":1}}}`
	text  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	delta = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello there, friend"}}`
	end   = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9,"output_tokens_details":{"thinking_tokens":4}}}`
	stop  = `{"type":"message_stop"}`
)

func connect(t testing.TB, s *server, id string) *anthropic.Provider {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	client := endpoint.NewClient()
	t.Cleanup(client.CloseIdleConnections)
	p, err := anthropic.New(endpoint.Config{Name: "claude", BaseURL: srv.URL + "/v1/", Model: id, Client: client, Headers: map[string]string{"X-Extra": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func quiet(model.Event) error { return nil }

// sent is the body that a request becomes.
func sent(t *testing.T, id string, req *model.Request) map[string]jsontext.Value {
	t.Helper()
	s := &server{stream: events(start, text, delta, end, stop)}
	if _, err := connect(t, s, id).Stream(t.Context(), req, quiet); err != nil {
		t.Fatal(err)
	}
	var body map[string]jsontext.Value
	if err := json.Unmarshal([]byte(s.body), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestUsage(t *testing.T) {
	s := &server{stream: events(start, `{"type":"ping"}`, text, delta, end, stop)}
	resp, err := connect(t, s, "claude-x").Stream(t.Context(), &model.Request{Messages: []model.Message{model.UserText("x")}}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	want := model.Usage{Input: 5, CacheRead: 70, CacheWrite: 20, Output: 9, Thought: 4}
	if resp.Usage != want || resp.Usage.Context() != 104 || resp.Model != "claude-x" {
		t.Errorf("usage = %+v of %s, want %+v", resp.Usage, resp.Model, want)
	}
}

func TestThinkingLevels(t *testing.T) {
	adaptive := `{"display":"summarized","type":"adaptive"}`
	tests := []struct {
		id       string
		level    model.Level
		thinking string
		effort   string
	}{
		{"claude-sonnet-4-6", model.LevelDefault, ``, ``},
		{"claude-sonnet-4-6", model.LevelOff, ``, ``},
		{"claude-sonnet-4-6", model.LevelMedium, adaptive, `{"effort":"medium"}`},
		{"claude-opus-5-5", model.LevelDefault, adaptive, ``},
		{"claude-opus-5-5", model.LevelOff, adaptive, `{"effort":"low"}`},
		{"claude-fable-5", model.LevelHigh, adaptive, `{"effort":"high"}`},
		{"claude-haiku-4-5-20251001", model.LevelDefault, ``, ``},
		{"claude-haiku-4-5-20251001", model.LevelHigh, `{"budget_tokens":24576,"type":"enabled"}`, ``},
		{"claude-3-7-sonnet-latest", model.LevelLow, `{"budget_tokens":2048,"type":"enabled"}`, ``},
		{"glm-4.6", model.LevelHigh, `{"budget_tokens":7168,"type":"enabled"}`, ``},
		{"glm-4.6", model.LevelOff, ``, ``},
	}
	for _, tt := range tests {
		body := sent(t, tt.id, &model.Request{Thinking: tt.level, Messages: []model.Message{model.UserText("x")}})
		if got := canonical(body["thinking"]); got != tt.thinking {
			t.Errorf("%s at %q: thinking %s, want %s", tt.id, tt.level, got, tt.thinking)
		}
		if got := canonical(body["output_config"]); got != tt.effort {
			t.Errorf("%s at %q: output_config %s, want %s", tt.id, tt.level, got, tt.effort)
		}
	}
}

func canonical(v jsontext.Value) string {
	if v == nil {
		return ""
	}
	_ = v.Canonicalize()
	return string(v)
}

func TestMaxTokens(t *testing.T) {
	tests := []struct {
		id    string
		asked int
		want  string
	}{
		{"claude-sonnet-4-6", 0, "32000"},
		{"claude-sonnet-4-6", 1_000_000, "64000"},
		{"claude-opus-5", 100_000, "100000"},
		{"glm-4.6", 0, "8192"},
		{"glm-4.6", 50_000, "50000"},
	}
	for _, tt := range tests {
		body := sent(t, tt.id, &model.Request{MaxTokens: tt.asked, Messages: []model.Message{model.UserText("x")}})
		if got := string(body["max_tokens"]); got != tt.want {
			t.Errorf("%s, %d asked: max_tokens %s, want %s", tt.id, tt.asked, got, tt.want)
		}
	}
}

// TestCachePoints marks the stable part of the system prompt and the last two
// user messages.
func TestCachePoints(t *testing.T) {
	body := sent(t, "claude-sonnet-4-6", &model.Request{
		System: []string{"rules", "", "today"},
		Messages: []model.Message{
			model.UserText("one"),
			{Role: model.RoleAssistant, Parts: []model.Part{model.Text("1")}},
			model.UserText("two"),
			{Role: model.RoleAssistant, Parts: []model.Part{model.Text("2")}},
			model.UserText("three"),
		},
	})
	mark := `{"cache_control":{"type":"ephemeral"},`
	if got, want := canonical(body["system"]), `[`+mark+`"text":"rules","type":"text"},{"text":"today","type":"text"}]`; got != want {
		t.Errorf("system = %s", got)
	}
	messages := canonical(body["messages"])
	for _, want := range []string{mark + `"text":"two"`, mark + `"text":"three"`} {
		if !strings.Contains(messages, want) {
			t.Errorf("messages lack %s: %s", want, messages)
		}
	}
	if n := strings.Count(messages, "cache_control"); n != 2 {
		t.Errorf("%d marks in the messages, want 2", n)
	}
}

// TestConversation checks what the API insists on: roles that alternate, tool
// results first, no empty text, no thinking without a signature or of another
// model.
func TestConversation(t *testing.T) {
	signed := model.Opaque{Wire: "elsewhere", Data: jsontext.Value(`{"model":"claude-sonnet-4-6"}`)}
	body := sent(t, "claude-sonnet-4-6", &model.Request{Messages: []model.Message{
		model.UserText("a"), model.UserText(" \n"), model.UserText("b"),
		{Role: model.RoleAssistant, Parts: []model.Part{
			{Thinking: &model.Thinking{Text: "hm", Signature: "s"}, Opaque: &signed},
			{Thinking: &model.Thinking{Text: "unsigned"}},
			{ToolCall: &model.ToolCall{ID: "1", Name: "f", Input: jsontext.Value(`{"x":1}`)}},
		}},
		model.UserText("wait"),
		{Role: model.RoleUser, Parts: []model.Part{{ToolResult: &model.ToolResult{CallID: "1", IsError: true}}}},
	}})
	got := strings.ReplaceAll(canonical(body["messages"]), `"cache_control":{"type":"ephemeral"},`, "")
	want := `[{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}],"role":"user"},` +
		`{"content":[{"id":"1","input":{"x":1},"name":"f","type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"is_error":true,"tool_use_id":"1","type":"tool_result"},{"text":"wait","type":"text"}],"role":"user"}]`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// TestThinkingComesBack plays signed and redacted thinking back to its model,
// and to no other.
func TestThinkingComesBack(t *testing.T) {
	s := &server{stream: events(start,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"h<m>"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB/+=="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwK/+=="}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"ok"}}`,
		end, stop)}
	p := connect(t, s, "claude-sonnet-4-6")
	first, err := p.Stream(t.Context(), &model.Request{Messages: []model.Message{model.UserText("x")}}, quiet)
	if err != nil {
		t.Fatal(err)
	}
	history := []model.Message{model.UserText("x"), first.Message, model.UserText("y")}
	for id, want := range map[string]bool{"claude-sonnet-4-6": true, "claude-opus-5-5": false} {
		if _, err := p.Stream(t.Context(), &model.Request{Model: id, Messages: history}, quiet); err != nil {
			t.Fatal(err)
		}
		for _, s1 := range []string{`"signature":"EqQB/+=="`, `"data":"EmwK/+=="`} {
			if got := strings.Contains(s.body, s1); got != want {
				t.Errorf("%s in a request to %s: %v, want %v", s1, id, got, want)
			}
		}
	}
}

func TestErrorInsideTheStream(t *testing.T) {
	s := &server{stream: events(start, text, delta, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}
	resp, err := connect(t, s, "m").Stream(t.Context(), &model.Request{Messages: []model.Message{model.UserText("x")}}, quiet)
	if model.KindOf(err) != model.ErrOverloaded || resp.Message.Text() != "Hello there, friend" {
		t.Errorf("response %+v, error %v", resp, err)
	}
}

func TestInfo(t *testing.T) {
	p := connect(t, &server{}, "claude-opus-5")
	if info := p.Info(""); info.ContextWindow != 1_000_000 || info.MaxOutput != 128_000 || info.Price.Output != 25_000_000 || len(info.Thinking) != 4 {
		t.Errorf("claude-opus-5: %+v", info)
	}
	if info := p.Info("claude-haiku-4-5"); info.ContextWindow != 200_000 || info.MaxOutput != 64_000 {
		t.Errorf("claude-haiku-4-5: %+v", info)
	}
	if info := p.Info("kimi-k2"); info.ContextWindow != 0 || info.Price != nil {
		t.Errorf("kimi-k2: %+v", info)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(events(start, text, delta, end, stop)))
	f.Add([]byte("data: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":1}}\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		m := &inMemory{"text/event-stream", string(stream)}
		p, err := anthropic.New(endpoint.Config{Name: "p", BaseURL: "http://fake", Model: "m", Client: &http.Client{Transport: m}})
		if err != nil {
			t.Fatal(err)
		}
		resp, err := p.Stream(t.Context(), &model.Request{Messages: []model.Message{model.UserText("x")}}, quiet)
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
	lines := []string{start, text}
	for range chunks {
		lines = append(lines, delta)
	}
	p := connect(b, &server{stream: events(append(lines, end, stop)...)}, "m")
	req := &model.Request{Messages: []model.Message{model.UserText("x")}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Stream(b.Context(), req, quiet); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/chunks, "ns/chunk")
}

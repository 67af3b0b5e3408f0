package provider_test

import (
	"context"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
	"github.com/grapnel-ai/grapnel/internal/model/provider"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-secret-0123456789"

var shell = model.ToolSpec{
	Name: "shell", Description: "runs a command",
	Schema: jsontext.Value(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
}

// bench is a provider in front of a fake server.
type bench struct {
	t     *testing.T
	kind  provider.Kind
	fake  *fakellm.Server
	p     model.Provider
	delay []time.Duration // what retries waited
}

// each runs a test on every kind of provider that speaks HTTP.
func each(t *testing.T, test func(*bench)) {
	for _, kind := range []provider.Kind{provider.Anthropic, provider.OpenAI, provider.OpenAIChat} {
		t.Run(string(kind), func(t *testing.T) { test(newBench(t, kind)) })
	}
}

func newBench(t *testing.T, kind provider.Kind) *bench {
	b := &bench{t: t, kind: kind, fake: &fakellm.Server{}}
	srv := httptest.NewServer(b.fake)
	t.Cleanup(srv.Close)
	b.p = b.connect(srv.URL)
	return b
}

func (b *bench) connect(url string) model.Provider {
	b.t.Helper()
	client := endpoint.NewClient()
	b.t.Cleanup(client.CloseIdleConnections)
	p, err := provider.New(provider.Config{
		Name: "test", Kind: b.kind, BaseURL: url, Model: "fake-model", Client: client,
		APIKey: func() (string, error) { return testKey, nil },
		Retry: model.RetryPolicy{Sleep: func(ctx context.Context, d time.Duration) error {
			b.delay = append(b.delay, d)
			return ctx.Err()
		}},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// ask sends a prompt with the shell on offer.
func (b *bench) ask(prompt string) (*model.Response, []model.Event, error) {
	return b.stream(b.t.Context(), &model.Request{
		System:   []string{"You are a test.", "Today is a day."},
		Messages: []model.Message{model.UserText(prompt)},
		Tools:    []model.ToolSpec{shell},
	})
}

func (b *bench) stream(ctx context.Context, req *model.Request) (*model.Response, []model.Event, error) {
	var events []model.Event
	resp, err := b.p.Stream(ctx, req, func(ev model.Event) error {
		events = append(events, ev)
		return nil
	})
	return resp, events, err
}

// said joins the text of events of a kind.
func said(events []model.Event, kind model.EventKind) string {
	var s strings.Builder
	for _, ev := range events {
		if ev.Kind == kind {
			s.WriteString(ev.Text)
		}
	}
	return s.String()
}

func TestText(t *testing.T) {
	each(t, func(b *bench) {
		resp, events, err := b.ask("D:SAY Good morning to you all.")
		if err != nil {
			t.Fatal(err)
		}
		if got := said(events, model.TextDelta); got != "Good morning to you all." || len(events) < 2 {
			t.Errorf("streamed %q in %d events", got, len(events))
		}
		want := &model.Response{
			Message: model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text("Good morning to you all.")}},
			Stop:    model.StopEndTurn, Model: "fake-model",
		}
		if diff := cmp.Diff(want, resp, cmpopts.IgnoreFields(model.Response{}, "Usage")); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
		if resp.Usage.Input == 0 || resp.Usage.Output == 0 {
			t.Errorf("usage = %+v, want both counts", resp.Usage)
		}
	})
}

func TestRequest(t *testing.T) {
	each(t, func(b *bench) {
		if _, _, err := b.ask("D:SAY ok\n" + strings.Repeat("é", 70_000)); err != nil {
			t.Fatal(err)
		}
		req := b.fake.Requests()[0]
		if req.Bytes != len("D:SAY ok\n")+140_000 {
			t.Errorf("the server saw %d bytes of prompt", req.Bytes)
		}
		if !req.Stream || req.Model != "fake-model" || len(req.Tools) != 1 {
			t.Errorf("request = stream %v, model %q, tools %v", req.Stream, req.Model, req.Tools)
		}
		key := req.Header.Get("X-Api-Key") + strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		if key != testKey {
			t.Errorf("key sent = %q", key)
		}
		for _, want := range []string{"You are a test.", "Today is a day.", `"required":["command"]`} {
			if !strings.Contains(string(req.Body), want) {
				t.Errorf("the body lacks %q", want)
			}
		}
	})
}

// TestToolLoop plays a whole turn: thinking, a call, its result, the answer.
func TestToolLoop(t *testing.T) {
	each(t, func(b *bench) {
		req := &model.Request{
			Messages: []model.Message{model.UserText("D:THINK hm, well ; D:SAY I look. ; D:TOOL shell 'ls; pwd' ; D:SAY All fine.")},
			Tools:    []model.ToolSpec{shell},
		}
		resp, events, err := b.stream(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := said(events, model.ThinkingDelta); got != "hm, well" {
			t.Errorf("thinking = %q", got)
		}
		calls := resp.Message.ToolCalls()
		if resp.Stop != model.StopToolUse || len(calls) != 1 || string(calls[0].Input) != `{"command":"ls; pwd"}` {
			t.Fatalf("stop %s, calls %+v", resp.Stop, calls)
		}
		if got := said(events, model.ToolCallDelta); got != string(calls[0].Input) {
			t.Errorf("input streamed as %q", got)
		}
		req.Messages = append(req.Messages, roundTrip(t, resp.Message), model.Message{Role: model.RoleUser, Parts: []model.Part{
			{ToolResult: &model.ToolResult{CallID: calls[0].ID, Parts: []model.Part{model.Text("file-a")}}},
		}})
		resp, _, err = b.stream(t.Context(), req)
		if err != nil || resp.Message.Text() != "All fine." || resp.Stop != model.StopEndTurn {
			t.Fatalf("answer = %+v, %v", resp, err)
		}
		body := string(b.fake.Requests()[1].Body)
		for _, want := range append(thinkingOnWire(b.kind), "file-a", calls[0].ID) {
			if !strings.Contains(body, want) {
				t.Errorf("second request lacks %s in\n%s", want, body)
			}
		}
	})
}

// thinkingOnWire is how thinking must come back to the server it came from.
func thinkingOnWire(k provider.Kind) []string {
	switch k {
	case provider.Anthropic:
		return []string{`"thinking":"hm, well"`, `"signature":"c2lnbmVkIGJ5IHRoZSBmYWtl"`}
	case provider.OpenAI:
		return []string{`"encrypted_content":"ZW5jcnlwdGVkIGJ5IHRoZSBmYWtl"`, `"id":"rs_0"`}
	default:
		return []string{`"reasoning_content":"hm, well"`}
	}
}

// roundTrip stores a message and reads it back.
func roundTrip(t *testing.T, m model.Message) model.Message {
	t.Helper()
	got, err := storeAndLoad(m)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Errorf("a stored message changed:\n%s", diff)
	}
	return got
}

func TestParallelCalls(t *testing.T) {
	each(t, func(b *bench) {
		resp, _, err := b.ask("D:PAR 4 ls -l")
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, c := range resp.Message.ToolCalls() {
			ids[c.ID] = true
			if c.Name != "shell" || string(c.Input) != `{"command":"ls -l"}` {
				t.Errorf("call = %+v", c)
			}
		}
		if len(ids) != 4 {
			t.Errorf("%d different ids, want 4", len(ids))
		}
	})
}

// TestReusedIDs sends a history in which an id stands for two calls.
func TestReusedIDs(t *testing.T) {
	each(t, func(b *bench) {
		call := func(cmd string) model.Message {
			return model.Message{Role: model.RoleAssistant, Parts: []model.Part{{ToolCall: &model.ToolCall{ID: "functions.shell:0", Name: "shell", Input: jsontext.Value(`{"command":"` + cmd + `"}`)}}}}
		}
		result := func(text string) model.Message {
			return model.Message{Role: model.RoleUser, Parts: []model.Part{{ToolResult: &model.ToolResult{CallID: "functions.shell:0", Parts: []model.Part{model.Text(text)}}}}}
		}
		_, _, err := b.stream(t.Context(), &model.Request{Tools: []model.ToolSpec{shell}, Messages: []model.Message{
			model.UserText("D:SAY x"), call("a"), result("ra"), call("b"), result("rb"), model.UserText("D:SAY ok"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		body := string(b.fake.Requests()[0].Body)
		if strings.Count(body, `"functions_shell_0"`) != 2 || strings.Count(body, `"functions_shell_0-2"`) != 2 {
			t.Errorf("ids are not unique and paired in\n%s", body)
		}
	})
}

func TestBrokenToolInput(t *testing.T) {
	each(t, func(b *bench) {
		resp, _, err := b.ask("D:BADJSON")
		if err != nil {
			t.Fatal(err)
		}
		calls := resp.Message.ToolCalls()
		if len(calls) != 1 || string(calls[0].Input) != "{}" || !strings.HasPrefix(calls[0].Malformed, `{"command":"echo`) {
			t.Errorf("calls = %+v", calls)
		}
	})
}

func TestImages(t *testing.T) {
	each(t, func(b *bench) {
		png := &model.Media{MimeType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
		_, _, err := b.stream(t.Context(), &model.Request{Tools: []model.ToolSpec{shell}, Messages: []model.Message{
			{Role: model.RoleUser, Parts: []model.Part{model.Text("D:SAY x"), {Image: png}}},
			{Role: model.RoleAssistant, Parts: []model.Part{{ToolCall: &model.ToolCall{ID: "c", Name: "shell", Input: jsontext.Value(`{}`)}}}},
			{Role: model.RoleUser, Parts: []model.Part{{ToolResult: &model.ToolResult{CallID: "c", Parts: []model.Part{model.Text("see"), {Image: png}}}}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		body := string(b.fake.Requests()[0].Body)
		if n := strings.Count(body, "iVBORw0KGgo="); n != 2 {
			t.Errorf("%d images sent, want 2, in\n%s", n, body)
		}
	})
}

func TestF8SplitText(t *testing.T) {
	each(t, func(b *bench) {
		for prompt, want := range map[string]string{"D:SPLITEMOJI": "漢字🎉é", "D:SPLITPAIR": "🎉", "D:CHUNKS 3,4": "001 002 003 "} {
			resp, events, err := b.ask(prompt)
			if err != nil || resp.Message.Text() != want || said(events, model.TextDelta) != want {
				t.Errorf("%s: %q, %v, want %q", prompt, said(events, model.TextDelta), err, want)
			}
		}
	})
}

func TestStopReasons(t *testing.T) {
	each(t, func(b *bench) {
		for prompt, want := range map[string]model.StopReason{
			"D:REFUSE": model.StopRefusal, "D:MAXTOKENS": model.StopMaxTokens, "D:LOOP": model.StopToolUse,
		} {
			resp, _, err := b.ask(prompt)
			if err != nil || resp.Stop != want {
				t.Errorf("%s: %+v, %v, want %s", prompt, resp, err, want)
			}
		}
	})
}

func TestNoToolCalls(t *testing.T) {
	each(t, func(b *bench) {
		resp, _, err := b.stream(t.Context(), &model.Request{
			Messages: []model.Message{model.UserText("D:LOOP")}, Tools: []model.ToolSpec{shell}, NoToolCalls: true,
		})
		if err != nil || resp.Stop != model.StopEndTurn || resp.Message.Text() == "" {
			t.Errorf("response = %+v, %v", resp, err)
		}
	})
}

// TestX17Failures is the table of what can go wrong and what it is called.
func TestX17Failures(t *testing.T) {
	tests := []struct {
		prompt   string
		kind     model.ErrorKind
		requests int
	}{
		{"D:HTTP 400", model.ErrBadRequest, 1},
		{"D:HTTP 401", model.ErrAuth, 1},
		{"D:HTTP 403", model.ErrAuth, 1},
		{"D:HTTP 404", model.ErrBadRequest, 1},
		{"D:HTTP 413", model.ErrContextLength, 1},
		{"D:HTTP 429", model.ErrRateLimit, 4},
		{"D:HTTP 429 0 3600", model.ErrRateLimit, 1},
		{"D:HTTP 500", model.ErrServer, 4},
		{"D:HTTP 503", model.ErrOverloaded, 4},
		{"D:HTTP 529", model.ErrOverloaded, 4},
		{"D:EMPTY", model.ErrEmpty, 4},
		{"D:THINK only thoughts", model.ErrEmpty, 1},
		{"D:TRUNCATE", model.ErrTruncated, 1},
		{"D:TRUNCATE clean", model.ErrTruncated, 1},
		{"D:SAY half an ans ; D:TRUNCATE", model.ErrTruncated, 1},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			each(t, func(b *bench) {
				_, events, err := b.ask(tt.prompt)
				failure, ok := errors.AsType[*model.Error](err)
				if !ok || failure.Kind != tt.kind {
					t.Fatalf("error = %v, want kind %s", err, tt.kind)
				}
				if n := len(b.fake.Requests()); n != tt.requests {
					t.Errorf("%d requests, want %d", n, tt.requests)
				}
				if text := said(events, model.TextDelta); text != "" && failure.Partial.Message.Text() != text {
					t.Errorf("partial = %+v, want %q", failure.Partial, text)
				}
				if s := err.Error(); !strings.Contains(s, "test") || strings.Contains(s, testKey) || strings.Contains(s, "\n") {
					t.Errorf("error text = %q", s)
				}
			})
		})
	}
}

func TestRetries(t *testing.T) {
	each(t, func(b *bench) {
		resp, events, err := b.ask("D:HTTP 429 2 7 ; D:SAY here")
		if err != nil || resp.Message.Text() != "here" {
			t.Fatalf("response = %+v, %v", resp, err)
		}
		if diff := cmp.Diff([]time.Duration{7 * time.Second, 7 * time.Second}, b.delay); diff != "" {
			t.Errorf("waits: %s", diff)
		}
		if events[0].Kind != model.Retrying || events[0].Retry.Attempt != 2 || events[1].Retry.Attempt != 3 {
			t.Errorf("events = %+v", events)
		}
	})
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://user:pass@" + l.Addr().String()
	l.Close()
	each(t, func(b *bench) {
		b.p = b.connect(url)
		_, _, err := b.ask("hello")
		if model.KindOf(err) != model.ErrNetwork || len(b.delay) != 3 {
			t.Fatalf("error = %v after %d retries", err, len(b.delay))
		}
		if strings.Contains(err.Error(), "pass") {
			t.Errorf("the error shows credentials: %v", err)
		}
	})
}

// TestX1CancelWhileStalled cancels before and in the middle of an answer.
func TestX1CancelWhileStalled(t *testing.T) {
	for _, prompt := range []string{"D:STALL", "D:SAY so far ; D:STALL"} {
		t.Run(prompt, func(t *testing.T) {
			each(t, func(b *bench) {
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					waitFor(b.fake, 1)
					cancel()
				}()
				began := time.Now()
				_, _, err := b.stream(ctx, &model.Request{Messages: []model.Message{model.UserText(prompt)}})
				if !errors.Is(err, context.Canceled) || model.KindOf(err) != model.ErrCanceled {
					t.Errorf("error = %v, want context.Canceled", err)
				}
				if d := time.Since(began); d > 2*time.Second {
					t.Errorf("cancel took %s", d)
				}
			})
		})
	}
}

// waitFor waits until the server has got n requests.
func waitFor(s *fakellm.Server, n int) {
	for len(s.Requests()) < n {
		time.Sleep(time.Millisecond)
	}
}

func TestEmitErrorEndsTheStep(t *testing.T) {
	each(t, func(b *bench) {
		stop := errors.New("enough")
		_, err := b.p.Stream(t.Context(), &model.Request{Messages: []model.Message{model.UserText("D:SAY hello ; D:STALL")}}, func(model.Event) error { return stop })
		if !errors.Is(err, stop) {
			t.Errorf("error = %v, want %v", err, stop)
		}
	})
}

package model_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model"
)

// fake is a provider made of functions.
type fake struct {
	name   string
	stream func(context.Context, *model.Request, func(model.Event) error) (*model.Response, error)
	calls  int
}

func (f *fake) Name() string           { return f.name }
func (f *fake) Info(string) model.Info { return model.Info{ContextWindow: len(f.name)} }

func (f *fake) Stream(ctx context.Context, req *model.Request, emit func(model.Event) error) (*model.Response, error) {
	f.calls++
	return f.stream(ctx, req, emit)
}

// failing fails with e the first n times and answers then.
func failing(name string, n int, e model.Error) *fake {
	f := &fake{name: name}
	f.stream = func(context.Context, *model.Request, func(model.Event) error) (*model.Response, error) {
		if f.calls <= n {
			failure := e
			return nil, &failure
		}
		return &model.Response{Model: name}, nil
	}
	return f
}

func quiet(model.Event) error { return nil }

func TestRetryWaits(t *testing.T) {
	tests := []struct {
		name     string
		failures int
		err      model.Error
		calls    int
		waited   time.Duration
		ok       bool
	}{
		{"no failure", 0, model.Error{}, 1, 0, true},
		{"doubling", 3, model.Error{Kind: model.ErrServer}, 4, 3500 * time.Millisecond, true},
		{"for good", 9, model.Error{Kind: model.ErrOverloaded}, 4, 3500 * time.Millisecond, false},
		{"as asked", 1, model.Error{Kind: model.ErrRateLimit, RetryAfter: 20 * time.Second}, 2, 20 * time.Second, true},
		{"asked too much", 1, model.Error{Kind: model.ErrRateLimit, RetryAfter: time.Hour}, 1, 0, false},
		{"final", 1, model.Error{Kind: model.ErrRateLimit, Final: true}, 1, 0, false},
		{"pointless", 1, model.Error{Kind: model.ErrAuth}, 1, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := failing("p", tt.failures, tt.err)
				p := model.WithRetry(f, model.RetryPolicy{Random: func() float64 { return 0 }})
				began := time.Now()
				_, err := p.Stream(t.Context(), &model.Request{}, quiet)
				if (err == nil) != tt.ok || f.calls != tt.calls || time.Since(began) != tt.waited {
					t.Errorf("error %v, %d calls, waited %s", err, f.calls, time.Since(began))
				}
			})
		})
	}
}

func TestRetryJitterAndLimit(t *testing.T) {
	var waits []time.Duration
	p := model.WithRetry(failing("p", 9, model.Error{Kind: model.ErrServer}), model.RetryPolicy{
		Attempts: 5, Base: time.Second, Max: 3 * time.Second, Random: func() float64 { return 0.5 },
		Sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
	})
	if _, err := p.Stream(t.Context(), &model.Request{}, quiet); err == nil {
		t.Error("no error")
	}
	want := []time.Duration{1250 * time.Millisecond, 2500 * time.Millisecond, 3750 * time.Millisecond, 3750 * time.Millisecond}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestRetryEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p := model.WithRetry(failing("p", 9, model.Error{Kind: model.ErrRateLimit, RetryAfter: time.Minute}), model.RetryPolicy{})
		began := time.Now()
		_, err := p.Stream(ctx, &model.Request{}, quiet)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("error %v after %s", err, time.Since(began))
		}
	})
}

// speaker says something and then fails.
func speaker(name string, kind model.ErrorKind) *fake {
	return &fake{name: name, stream: func(_ context.Context, _ *model.Request, emit func(model.Event) error) (*model.Response, error) {
		if err := emit(model.Event{Kind: model.TextDelta, Text: "half"}); err != nil {
			return nil, err
		}
		return nil, &model.Error{Kind: kind, Provider: name}
	}}
}

func TestNothingIsSaidTwice(t *testing.T) {
	f := speaker("a", model.ErrTruncated)
	other := failing("b", 0, model.Error{})
	p := model.WithFallback(model.WithRetry(f, model.RetryPolicy{}), other)
	_, err := p.Stream(t.Context(), &model.Request{}, quiet)
	if model.KindOf(err) != model.ErrTruncated || f.calls != 1 || other.calls != 0 {
		t.Errorf("error %v, %d and %d calls", err, f.calls, other.calls)
	}
}

func TestFallback(t *testing.T) {
	first := failing("first", 9, model.Error{Kind: model.ErrOverloaded, Provider: "first"})
	second := failing("second", 9, model.Error{Kind: model.ErrAuth, Provider: "second"})
	third := &fake{name: "third", stream: func(_ context.Context, req *model.Request, _ func(model.Event) error) (*model.Response, error) {
		return &model.Response{Model: "third/" + req.Model}, nil
	}}
	var asked []string
	p := model.WithFallback(first, second, third)
	resp, err := p.Stream(t.Context(), &model.Request{Model: "of-first"}, func(ev model.Event) error {
		asked = append(asked, ev.Retry.Provider)
		return nil
	})
	if err != nil || resp.Model != "third/" {
		t.Errorf("response %+v, %v", resp, err)
	}
	if diff := cmp.Diff([]string{"second", "third"}, asked); diff != "" {
		t.Error(diff)
	}
	if p.Name() != "first" || p.Info("").ContextWindow != len("first") {
		t.Error("the fallback does not stand for its first provider")
	}
}

func TestFallbackReportsTheFirstFailure(t *testing.T) {
	for _, kind := range []model.ErrorKind{model.ErrServer, model.ErrBadRequest, model.ErrContextLength} {
		p := model.WithFallback(failing("a", 9, model.Error{Kind: kind}), failing("b", 9, model.Error{Kind: model.ErrAuth}))
		if _, err := p.Stream(t.Context(), &model.Request{}, quiet); model.KindOf(err) != kind {
			t.Errorf("error %v, want kind %s", err, kind)
		}
	}
}

func TestRepairDropsRefusedThinking(t *testing.T) {
	history := []model.Message{
		model.UserText("a"),
		{Role: model.RoleAssistant, Parts: []model.Part{{Thinking: &model.Thinking{Text: "hm"}}, model.Text("b")}},
	}
	tests := []struct {
		message  string
		messages []model.Message
		calls    int
		level    model.Level
	}{
		{"The encrypted content gAAA could not be verified.", history, 2, model.LevelHigh},
		{"messages.1.content.0: Expected `thinking` but found `text`", history[:1], 2, model.LevelOff},
		{"Invalid `signature` in `thinking` block", history, 2, model.LevelHigh},
		{"The encrypted content gAAA could not be verified.", history[:1], 1, model.LevelHigh},
		{"the image is too large", history, 1, model.LevelHigh},
	}
	for _, tt := range tests {
		var last *model.Request
		f := &fake{name: "p"}
		f.stream = func(_ context.Context, req *model.Request, _ func(model.Event) error) (*model.Response, error) {
			last = req
			return nil, &model.Error{Kind: model.ErrBadRequest, Message: tt.message}
		}
		_, _ = model.WithRepair(f).Stream(t.Context(), &model.Request{Messages: tt.messages, Thinking: model.LevelHigh}, quiet)
		if f.calls != tt.calls || last.Thinking != tt.level {
			t.Errorf("%s: %d calls, level %q", tt.message, f.calls, last.Thinking)
		}
		if f.calls == 2 && len(last.Messages) == 2 && len(last.Messages[1].Parts) != 1 {
			t.Errorf("%s: sent again with %+v", tt.message, last.Messages[1].Parts)
		}
	}
	if len(history[1].Parts) != 2 {
		t.Error("the caller's messages were changed")
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct {
		err  model.Error
		want string
	}{
		{
			model.Error{Kind: model.ErrAuth, Provider: "work", Status: 401, Message: "invalid x-api-key."},
			"provider work rejected the credentials (HTTP 401): invalid x-api-key; check providers.work.api_key or run grapnel setup",
		},
		{
			model.Error{Kind: model.ErrAuth, Provider: "work", Message: "no API key is configured"},
			"provider work has no usable credentials: no API key is configured; check providers.work.api_key or run grapnel setup",
		},
		{
			model.Error{Kind: model.ErrRateLimit, Provider: "work", Status: 429, RetryAfter: 90 * time.Second},
			"provider work refused the request because of its rate or usage limit (HTTP 429); try again in 1m30s",
		},
		{model.Error{Kind: model.ErrEmpty, Provider: "work", Model: "m"}, "model m of provider work gave an empty answer; try again"},
		{
			model.Error{Kind: model.ErrBadRequest, Provider: "work", Status: 404, Message: "model: m"},
			"provider work did not accept the request (HTTP 404): model: m; check providers.work.model and providers.work.base_url",
		},
		{
			model.Error{Kind: model.ErrBadRequest, Provider: "work", Status: 400, Message: "no such field"},
			"provider work did not accept the request (HTTP 400): no such field; choose another model, or start a new session",
		},
		{model.Error{Kind: model.ErrUnknown, Provider: "work"}, "provider work failed in an unexpected way"},
	}
	for _, tt := range tests {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("text = %q, want %q", got, tt.want)
		}
	}
}

func TestMessageRoundTrip(t *testing.T) {
	m := model.Message{Role: model.RoleAssistant, Parts: []model.Part{
		{Thinking: &model.Thinking{Text: "hm", Signature: "c2ln"}, Opaque: &model.Opaque{Wire: "anthropic", Data: jsontext.Value(`{"a":[1,2]}`)}},
		{Thinking: &model.Thinking{Redacted: true}, Opaque: &model.Opaque{Wire: "anthropic", Data: jsontext.Value(`"zz=="`)}},
		model.Text("a\u2028b"),
		{Image: &model.Media{MimeType: "image/png", Data: []byte{0, 255}}},
		{ToolCall: &model.ToolCall{ID: "1", Name: "shell", Input: jsontext.Value(`{"command":"ls"}`), Malformed: "{"}},
		{ToolResult: &model.ToolResult{CallID: "1", Parts: []model.Part{model.Text("ok")}, IsError: true}},
	}}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var got model.Message
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, got); diff != "" {
		t.Errorf("a stored message changed (-before +after):\n%s", diff)
	}
	if got.Text() != "a\u2028b" || len(got.ToolCalls()) != 1 {
		t.Errorf("text %q, %d calls", got.Text(), len(got.ToolCalls()))
	}
}

package demo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/demo"
)

// play runs a whole turn as an agent does: result gives the outcome of each
// call.
func play(t *testing.T, prompt string, result func(*model.ToolCall) *model.ToolResult) (calls, said []string) {
	t.Helper()
	p := demo.New("demo")
	req := &model.Request{Messages: []model.Message{model.UserText("say before"), {Role: model.RoleAssistant, Parts: []model.Part{model.Text("before")}}, model.UserText(prompt)}}
	for _, name := range []string{"list_dir", "file_read", "shell"} {
		req.Tools = append(req.Tools, model.ToolSpec{Name: name})
	}
	for range 20 {
		var streamed strings.Builder
		resp, err := p.Stream(t.Context(), req, func(ev model.Event) error {
			if ev.Kind == model.TextDelta {
				streamed.WriteString(ev.Text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if streamed.String() != resp.Message.Text() {
			t.Errorf("streamed %q, answered %q", streamed.String(), resp.Message.Text())
		}
		said = append(said, resp.Message.Text())
		if resp.Stop == model.StopEndTurn {
			return calls, said
		}
		results := model.Message{Role: model.RoleUser}
		for _, c := range resp.Message.ToolCalls() {
			calls = append(calls, c.Name+" "+string(c.Input))
			r := result(c)
			r.CallID = c.ID
			results.Parts = append(results.Parts, model.Part{ToolResult: r})
		}
		req.Messages = append(req.Messages, resp.Message, results)
	}
	t.Fatal("the demo never ends")
	return nil, nil
}

func fine(*model.ToolCall) *model.ToolResult {
	return &model.ToolResult{Parts: []model.Part{model.Text("one\ntwo")}}
}

func TestTurn(t *testing.T) {
	calls, said := play(t, "say Hello.\nlist\nthink\nread a.go, then run ls\nsing", fine)
	want := []string{`list_dir {"path":"."}`, `file_read {"path":"a.go"}`, `shell {"command":"ls"}`}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Hello.\n\nI list the files here.", "I read a.go.", "I run a command."}, said[:3]); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	for _, want := range []string{"    one\n    two", `"sing"`, "demo", "grapnel setup"} {
		if !strings.Contains(said[3], want) {
			t.Errorf("the closing text lacks %q: %s", want, said[3])
		}
	}
}

func TestAFailureEndsTheTurn(t *testing.T) {
	calls, said := play(t, "run rm x\nlist", func(*model.ToolCall) *model.ToolResult {
		return &model.ToolResult{IsError: true, Parts: []model.Part{model.Text("a person said no")}}
	})
	if len(calls) != 1 || !strings.Contains(said[1], "a person said no") {
		t.Errorf("calls %q, said %q", calls, said)
	}
}

func TestUnknownTextGetsHelp(t *testing.T) {
	calls, said := play(t, "Write me a compiler, will you?", fine)
	if len(calls) != 0 || !strings.Contains(said[0], "not a language model") || !strings.Contains(said[0], "- read FILE") {
		t.Errorf("calls %q, said %q", calls, said)
	}
}

func TestMissingTool(t *testing.T) {
	calls, said := play(t, "git status\nlist", fine)
	if len(calls) != 1 || !strings.Contains(said[0], "do not have it") {
		t.Errorf("calls %q, said %q", calls, said)
	}
}

func TestWaitAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began, dots := time.Now(), 0
		resp, err := demo.New("d").Stream(ctx, &model.Request{Messages: []model.Message{model.UserText("wait 10")}}, func(ev model.Event) error {
			dots += strings.Count(ev.Text, ".")
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || model.KindOf(err) != model.ErrCanceled || time.Since(began) != 2*time.Second {
			t.Errorf("error %v after %s", err, time.Since(began))
		}
		if dots < 19 || resp == nil || !strings.HasPrefix(resp.Message.Text(), "I wait..") {
			t.Errorf("%d signs of life, partial %+v", dots, resp)
		}
	})
}

func TestSameEveryTime(t *testing.T) {
	run := func() []model.Event {
		var events []model.Event
		req := &model.Request{Messages: []model.Message{model.UserText("think, then read x")}, Tools: []model.ToolSpec{{Name: "file_read"}}}
		if _, err := demo.New("d").Stream(t.Context(), req, func(ev model.Event) error { events = append(events, ev); return nil }); err != nil {
			t.Fatal(err)
		}
		return events
	}
	first := run()
	if diff := cmp.Diff(first, run()); diff != "" || !slices.ContainsFunc(first, func(ev model.Event) bool { return ev.Kind == model.ToolCallStart }) {
		t.Errorf("two runs differ: %s", diff)
	}
}

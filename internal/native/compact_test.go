package native_test

import (
	"context"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// speechless gives blank summaries, as models do that have used up their
// output on thinking.
type speechless struct {
	model.Provider
	blank string
	err   error
}

func (p speechless) Stream(ctx context.Context, req *model.Request, emit func(model.Event) error) (*model.Response, error) {
	if !req.NoToolCalls {
		return p.Provider.Stream(ctx, req, emit)
	}
	m := model.Message{Role: model.RoleAssistant, Parts: []model.Part{model.Text(p.blank)}}
	return &model.Response{Message: m, Stop: model.StopEndTurn}, p.err
}

// TestBlankSummaryKeepsTheConversation: a summary that says nothing must not
// take the place of everything that was said.
func TestBlankSummaryKeepsTheConversation(t *testing.T) {
	for name, p := range map[string]speechless{
		"blank": {blank: " \n\t"},
		"empty": {err: &model.Error{Kind: model.ErrEmpty, Provider: "fake"}},
	} {
		w := newWorld(t)
		whole := w.agent.Info
		c := w.open()
		for range 4 {
			c.Say("D:SAY remember this")
		}
		connect := w.agent.Provider
		w.agent.Provider = func(ctx context.Context) (model.Provider, error) {
			inner, err := connect(ctx)
			p.Provider = inner
			return p, err
		}
		w.agent.Info = func(string) model.Info { return model.Info{ContextWindow: 100} }
		id := c.Info().ID
		w.restart()
		c = w.load(id)
		end := c.Say("D:SAY after")
		if end.Error == nil || !strings.Contains(end.Error.Message, "the model gave no summary") {
			t.Errorf("%s: ended with %+v", name, end)
		}
		w.agent.Provider, w.agent.Info = connect, whole
		w.restart()
		c = w.load(id)
		if end := c.Say("D:SAY at last"); end.Stop != session.EndTurn {
			t.Errorf("%s: afterwards: %+v", name, end)
		}
		said := 0
		for _, m := range w.messages() {
			said += strings.Count(m.text(), "D:SAY")
		}
		if said != 6 {
			t.Errorf("%s: the model sees %d of 6 prompts", name, said)
		}
	}
}

// narrow takes few messages at once.
type narrow struct {
	model.Provider
	most int
}

func (p narrow) Stream(ctx context.Context, req *model.Request, emit func(model.Event) error) (*model.Response, error) {
	if len(req.Messages) > p.most {
		return nil, &model.Error{Kind: model.ErrContextLength, Provider: "fake", Message: "too long"}
	}
	return p.Provider.Stream(ctx, req, emit)
}

// TestConversationTooLongToBeSummedUp: a session goes on whose conversation is
// longer than the model takes even for a summary, such as after another model
// was chosen.
func TestConversationTooLongToBeSummedUp(t *testing.T) {
	w := newWorld(t)
	c := w.open()
	for range 15 {
		c.Say("D:SAY remember this")
	}
	connect := w.agent.Provider
	w.agent.Provider = func(ctx context.Context) (model.Provider, error) {
		inner, err := connect(ctx)
		return narrow{inner, 10}, err
	}
	id := c.Info().ID
	w.restart()
	c = w.load(id)
	if end := c.Say("D:SAY after"); end.Stop != session.EndTurn {
		t.Fatalf("ended with %+v", end)
	}
	if m := w.messages(); len(m) > 10 || !strings.Contains(m[0].text(), "Summary of the conversation so far") {
		t.Errorf("the model gets %d messages, the first %.80q", len(m), m[0].text())
	}
}

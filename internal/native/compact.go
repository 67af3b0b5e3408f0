package native

import (
	"context"
	"errors"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	// compactAt is the share of the window, in percent, at which the
	// conversation is compacted: what is left must hold one answer and the
	// results of its tools.
	compactAt = 80
	// keepMessages is how many of the newest messages stay as they are.
	keepMessages = 6
)

// compactionAsk is what the model is asked for.
const compactionAsk = "The conversation is about to be shortened. Write a summary for yourself that lets you go on without the rest: the user's goals and wishes in their own words where they matter, decisions, files read and changed with their paths, commands run and what came of them, what is open. Only the summary."

// errNoSummary keeps the history: nothing would be left of it.
var errNoSummary = errors.New("the conversation nears the model's window and has to be shortened, but the model gave no summary; send the prompt again, or choose another model")

// compactIfNear compacts when the last step filled most of the window.
func (t *turn) compactIfNear(ctx context.Context) error {
	window := t.agent.Info(t.choice.Model).ContextWindow
	if window <= 0 || t.past.window*100 < uint64(window)*compactAt {
		return nil
	}
	return t.compact(ctx)
}

// compact replaces the older part of the conversation by a summary, never
// between a tool call and its result. Where there is nothing to leave out, it
// does nothing.
func (t *turn) compact(ctx context.Context) error {
	cut := cutPoint(t.past.messages)
	if cut == 0 {
		return nil
	}
	id := session.NewID("k")
	if err := t.showCompaction(ctx, id, "in_progress", "", ""); err != nil {
		return err
	}
	summary, err := t.summarise(ctx, t.past.messages[:cut])
	if err != nil {
		_ = t.showCompaction(detached(ctx), id, "failed", "", err.Error()) // the cause is what counts
		return err
	}
	if err := t.keep(ctx, record{Compact: shortened(summary, t.past.messages[cut:])}); err != nil {
		return err
	}
	return t.showCompaction(ctx, id, "completed", summary, "")
}

// cutPoint returns how many messages from the start may go: the newest stay,
// and what stays does not begin with the results of calls that went.
func cutPoint(messages []model.Message) int {
	for cut := len(messages) - keepMessages; cut > 0; cut-- {
		if m := messages[cut]; m.Role == model.RoleAssistant || len(m.Parts) > 0 && m.Parts[0].ToolResult == nil {
			return cut
		}
	}
	return 0
}

// shortened is the conversation after compaction; roles still alternate.
func shortened(summary string, kept []model.Message) []model.Message {
	list := []model.Message{model.UserText("Summary of the conversation so far:\n\n" + summary)}
	if kept[0].Role == model.RoleUser {
		list = append(list, model.Message{
			Role: model.RoleAssistant, Parts: []model.Part{model.Text("Understood. I go on from there.")},
		})
	}
	return append(list, kept...)
}

// summarise has the model sum messages up. Of what is too long even for that,
// the older part is left out: a session that could never be shortened again
// would be lost.
func (t *turn) summarise(ctx context.Context, messages []model.Message) (string, error) {
	for {
		summary, err := t.summaryOf(ctx, messages)
		newer := newerHalf(messages)
		if model.KindOf(err) != model.ErrContextLength || newer == nil {
			return summary, err
		}
		messages = newer
	}
}

// cutWords stand where the older part of a conversation was left out.
const cutWords = "[The conversation before this is left out: it is too long.]"

// newerHalf is about the newer half of a conversation, nil when it cannot be
// halved. It does not begin with the results of calls that are left out.
func newerHalf(messages []model.Message) []model.Message {
	for i := max(2, len(messages)/2); i < len(messages); i++ {
		if messages[i].Role == model.RoleAssistant {
			return append([]model.Message{model.UserText(cutWords)}, messages[i:]...)
		}
	}
	return nil
}

func (t *turn) summaryOf(ctx context.Context, messages []model.Message) (string, error) {
	req := t.request(stepOptions{noTools: true})
	messages, _ = model.Fit(messages, t.agent.Info(t.choice.Model))
	req.Messages = append(messages[:len(messages):len(messages)], model.UserText(compactionAsk))
	resp, err := t.provider.Stream(ctx, req, func(model.Event) error { return nil })
	if model.KindOf(err) == model.ErrEmpty {
		return "", errNoSummary
	}
	if err != nil {
		return "", err
	}
	if summary := strings.TrimSpace(resp.Message.Text()); summary != "" {
		return summary, nil
	}
	return "", errNoSummary
}

func (t *turn) showCompaction(ctx context.Context, id, status, summary, failure string) error {
	u := struct {
		Kind    session.Kind `json:"sessionUpdate"`
		ID      string       `json:"compactionId"`
		Status  string       `json:"status"`
		Summary []textBlock  `json:"summary,omitzero"`
		Error   string       `json:"error,omitzero"`
	}{Kind: session.KindCompaction, ID: id, Status: status, Error: failure}
	if summary != "" {
		u.Summary = []textBlock{{"text", summary}}
	}
	return t.emit(ctx, session.KindCompaction, session.History, u)
}

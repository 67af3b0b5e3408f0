package native

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// redactingSink keeps secrets out of what people see of the agent: tool calls,
// requests, notices, plans, titles. The model's own words pass as they are: they
// come in pieces, and the model has seen no secret that the user did not type.
type redactingSink struct {
	session.Sink
	redact *secret.Redactor
}

// Emit implements session.Sink.
func (s redactingSink) Emit(ctx context.Context, drafts ...session.Draft) error {
	for i, d := range drafts {
		switch {
		case d.Retention == session.Private, d.Kind == session.KindAgentMessage, d.Kind == session.KindAgentThought:
		default:
			drafts[i].Body = s.redact.ReplaceJSON(d.Body)
		}
	}
	return s.Sink.Emit(ctx, drafts...)
}

// Ask implements session.Sink.
func (s redactingSink) Ask(ctx context.Context, kind session.Kind, body jsontext.Value) (session.Verdict, error) {
	return s.Sink.Ask(ctx, kind, s.redact.ReplaceJSON(body))
}

// Change implements session.Sink.
func (s redactingSink) Change(ctx context.Context, c session.InfoChange) error {
	if c.Title != nil {
		title := s.redact.Replace(*c.Title)
		c.Title = &title
	}
	return s.Sink.Change(ctx, c)
}

// cleanParts takes secrets out of the text of parts on their way to the model.
func (h *handle) cleanParts(parts []model.Part) []model.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].Text = h.clean(parts[i].Text)
	}
	return parts
}

// clean takes secrets out of text on its way to the model, and notes that there
// were some.
func (h *handle) clean(text string) string {
	clean := h.redact.Replace(text)
	if clean != text {
		h.hid.Store(true)
	}
	return clean
}

// wouldLose refuses an edit that writes the marker of a secret where the secret
// is: a model that was shown a file without it would write the file without it.
func (r *running) wouldLose() *refusal {
	if !r.hid.Load() || r.call.Kind != tool.KindEdit || !strings.Contains(string(r.wish.Input), secret.Redacted) {
		return nil
	}
	return &refusal{
		shown:  "not run: the new text holds " + secret.Redacted + ", which stands for a secret that was kept from the model",
		advice: "Edit only the lines that have no secret, with file_edit, or ask the user to make this change.",
	}
}

// cleanError takes secrets out of what a prompt is answered with: a provider's
// error may quote the key it refused.
func (h *handle) cleanError(err error) error {
	f, ok := errors.AsType[*session.FailureError](err)
	if !ok {
		return err
	}
	clean := f.Failure
	clean.Message, clean.Data = h.redact.Replace(clean.Message), h.redact.ReplaceJSON(clean.Data)
	return &session.FailureError{Failure: clean}
}

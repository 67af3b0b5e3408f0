package model

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// WithRepair returns a provider that sends a request again without what p
// refused of the history, since every further request with it would fail and a
// session that could go on would be lost. That is the model's earlier thinking:
// providers sign or encrypt it and bind it to a model, an account and a
// conversation, any of which may have changed. And it is images and sounds
// where a model turns out to take none, or not one of these.
func WithRepair(p Provider) Provider { return &repairing{p} }

type repairing struct{ Provider }

// Stream implements Provider.
func (r *repairing) Stream(ctx context.Context, req *Request, emit func(Event) error) (*Response, error) {
	told := false
	resp, err := r.Provider.Stream(ctx, req, func(ev Event) error {
		told = true
		return emit(ev)
	})
	failure, ok := errors.AsType[*Error](err)
	if !ok || told {
		return resp, err
	}
	repaired, ok := repair(req, failure)
	if !ok {
		return resp, err
	}
	ev := Event{Kind: Retrying, Retry: &Retry{Attempt: 2, Max: 2, Reason: failure.Error()}}
	if err := emit(ev); err != nil {
		return resp, err
	}
	return r.Provider.Stream(ctx, repaired, emit)
}

// repair returns the request without what the failure is about.
func repair(req *Request, failure *Error) (*Request, bool) {
	repaired := *req
	had := false
	switch {
	case failure.Kind == ErrBadRequest && aboutThinking(failure.Message):
		repaired.Messages, had = withoutThinking(req.Messages)
		if wantsThinking(failure.Message) {
			repaired.Thinking, had = LevelOff, true
		}
	case (failure.Kind == ErrBadRequest || failure.Kind == ErrServer) && aboutMedia(failure.Message):
		repaired.Messages, had = Fit(req.Messages, Info{})
	}
	return &repaired, had
}

// aboutMedia recognises that a server cannot do with images or sounds, or with
// one of those it got.
func aboutMedia(message string) bool {
	s := strings.ToLower(message)
	for _, word := range []string{"image", "vision", "multimodal", "multi-modal", "audio"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// aboutThinking recognises the refusals; providers have no common code.
func aboutThinking(message string) bool {
	s := strings.ToLower(message)
	for _, word := range []string{"encrypted content", "encrypted_content", "thinking", "reasoning_content", "reasoning item", "'reasoning'"} {
		if strings.Contains(s, word) {
			return true
		}
	}
	return false
}

// wantsThinking recognises that a model wants to find thinking in the history
// for as long as it is to think itself.
func wantsThinking(message string) bool {
	return strings.Contains(strings.ToLower(message), "expected `thinking`")
}

// withoutThinking returns the messages with no thinking in them, and whether
// they had any.
func withoutThinking(messages []Message) (out []Message, had bool) {
	out = slices.Clone(messages)
	for i := range out {
		parts := slices.DeleteFunc(slices.Clone(out[i].Parts), func(p Part) bool { return p.Thinking != nil })
		had = had || len(parts) < len(out[i].Parts)
		out[i].Parts = parts
	}
	return out, had
}

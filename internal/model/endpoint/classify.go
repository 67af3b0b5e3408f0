package endpoint

import (
	"net/http"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/model"
)

// classify sorts a failure by status, or by the provider's type and code when
// the failure came inside a stream.
func classify(status int, d Detail) model.ErrorKind {
	if isContextLength(status, d) {
		return model.ErrContextLength
	}
	switch status {
	case 0:
		return classifyType(d)
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.ErrAuth
	case http.StatusTooManyRequests, http.StatusPaymentRequired:
		return model.ErrRateLimit
	case http.StatusServiceUnavailable, 529: // 529: Anthropic's "overloaded"
		return model.ErrOverloaded
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return model.ErrServer
	}
	switch {
	case d.Type == "overloaded_error":
		return model.ErrOverloaded
	case status >= 500:
		return model.ErrServer
	case status >= 300:
		return model.ErrBadRequest
	default:
		return classifyType(d)
	}
}

// typeKinds maps words in a provider's type or code to kinds, first match wins.
var typeKinds = [...]struct {
	word string
	kind model.ErrorKind
}{
	{"overloaded", model.ErrOverloaded},
	{"rate_limit", model.ErrRateLimit},
	{"quota", model.ErrRateLimit},
	{"billing", model.ErrRateLimit},
	{"authentication", model.ErrAuth},
	{"permission", model.ErrAuth},
	{"invalid_api_key", model.ErrAuth},
	{"context_length", model.ErrContextLength},
	{"server", model.ErrServer},
	{"api_error", model.ErrServer},
	{"timeout", model.ErrServer},
	{"unavailable", model.ErrOverloaded},
	{"invalid", model.ErrBadRequest},
	{"not_found", model.ErrBadRequest},
}

func classifyType(d Detail) model.ErrorKind {
	s := strings.ToLower(d.Type + " " + d.Code)
	for _, tk := range typeKinds {
		if strings.Contains(s, tk.word) {
			return tk.kind
		}
	}
	return model.ErrUnknown
}

// contextWords are how providers and local servers say that a conversation is
// too long; there is no common code.
var contextWords = [...]string{
	"context length", "context_length", "context window", "context size", "maximum context",
	"prompt is too long", "input is too long", "too many tokens", "maximum prompt length",
	"exceeds the maximum number of tokens", "reduce the length of the messages",
}

func isContextLength(status int, d Detail) bool {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return true
	case 0, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return false
	}
	s := strings.ToLower(d.Code + " " + d.Message)
	for _, w := range contextWords {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// Package price knows what models cost, from the public price lists of their
// makers. A model that is not in the table has no price rather than a guess.
package price

import (
	"strings"

	"github.com/grapnel-ai/grapnel/internal/model"
)

// entry is the price of every model whose id begins with prefix, followed by
// nothing or a date.
type entry struct {
	prefix string
	price  model.Price
}

// table holds US dollars per million tokens at the standard tier, for prompts
// of usual length. Anthropic's cache writes are those of the five-minute
// cache.
var table = [...]entry{
	{"claude-fable-5-1", model.Price{Input: 10, Output: 50, CacheRead: 0.25, CacheWrite: 12.50}},
	{"claude-fable-5", model.Price{Input: 10, Output: 50, CacheRead: 1, CacheWrite: 12.50}},
	{"claude-opus-5-5", model.Price{Input: 4, Output: 20, CacheRead: 0.20, CacheWrite: 5}},
	{"claude-opus-5", model.Price{Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25}},
	{"claude-opus-4-8", model.Price{Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25}},
	{"claude-opus-4-7", model.Price{Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25}},
	{"claude-opus-4-6", model.Price{Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25}},
	{"claude-opus-4-5", model.Price{Input: 5, Output: 25, CacheRead: 0.50, CacheWrite: 6.25}},
	{"claude-sonnet-5-5", model.Price{Input: 2, Output: 10, CacheRead: 0.20, CacheWrite: 2.50}},
	{"claude-sonnet-5", model.Price{Input: 2, Output: 10, CacheRead: 0.20, CacheWrite: 2.50}},
	{"claude-sonnet-4-6", model.Price{Input: 3, Output: 15, CacheRead: 0.30, CacheWrite: 3.75}},
	{"claude-sonnet-4-5", model.Price{Input: 3, Output: 15, CacheRead: 0.30, CacheWrite: 3.75}},
	{"claude-haiku-4-5", model.Price{Input: 1, Output: 5, CacheRead: 0.10, CacheWrite: 1.25}},
	{"gpt-5.5", model.Price{Input: 5, Output: 30, CacheRead: 0.50}},
	{"gpt-5.4", model.Price{Input: 2.50, Output: 15, CacheRead: 0.25}},
	{"gpt-5.4-mini", model.Price{Input: 0.75, Output: 4.50, CacheRead: 0.075}},
	{"gpt-5.4-nano", model.Price{Input: 0.20, Output: 1.25, CacheRead: 0.02}},
	{"gpt-5.2", model.Price{Input: 1.75, Output: 14, CacheRead: 0.175}},
	{"gpt-5.1", model.Price{Input: 1.25, Output: 10, CacheRead: 0.125}},
	{"gpt-5", model.Price{Input: 1.25, Output: 10, CacheRead: 0.125}},
	{"gpt-5-mini", model.Price{Input: 0.25, Output: 2, CacheRead: 0.025}},
	{"gpt-5-nano", model.Price{Input: 0.05, Output: 0.40, CacheRead: 0.005}},
	{"gpt-4.1", model.Price{Input: 2, Output: 8, CacheRead: 0.50}},
	{"gpt-4.1-mini", model.Price{Input: 0.40, Output: 1.60, CacheRead: 0.10}},
	{"gpt-4o", model.Price{Input: 2.50, Output: 10, CacheRead: 1.25}},
	{"gpt-4o-mini", model.Price{Input: 0.15, Output: 0.60, CacheRead: 0.075}},
}

// Lookup returns the price of a model, or nil when it is not known.
func Lookup(id string) *model.Price {
	id = strings.ToLower(id)
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	if strings.HasPrefix(id, "claude-") {
		id = strings.ReplaceAll(id, ".", "-")
	}
	for _, e := range table {
		if rest, ok := strings.CutPrefix(id, e.prefix); ok && isDate(rest) {
			price := e.price
			return &price
		}
	}
	return nil
}

// isDate reports whether s is empty or the date with which makers mark one
// edition of a model, such as -20251001 or -2025-08-07.
func isDate(s string) bool {
	if s == "" {
		return true
	}
	digits := strings.ReplaceAll(s, "-", "")
	return s[0] == '-' && len(digits) == len("20060102") && strings.Trim(digits, "0123456789") == ""
}

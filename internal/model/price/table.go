package price

import "strings"

// entry is the price of every model whose id begins with prefix, followed by
// nothing or a date.
type entry struct {
	prefix                               string
	input, output, cacheRead, cacheWrite float64
}

func (e *entry) price() *Price {
	return &Price{
		Input: rateOf(e.input), Output: rateOf(e.output),
		CacheRead: rateOf(e.cacheRead), CacheWrite: rateOf(e.cacheWrite),
	}
}

// table holds US dollars per million tokens at the standard tier, for prompts
// of usual length. Anthropic's cache writes are those of the five-minute
// cache.
var table = [...]entry{
	{"claude-fable-5-1", 10, 50, 0.25, 12.50},
	{"claude-fable-5", 10, 50, 1, 12.50},
	{"claude-opus-5-5", 4, 20, 0.20, 5},
	{"claude-opus-5", 5, 25, 0.50, 6.25},
	{"claude-opus-4-8", 5, 25, 0.50, 6.25},
	{"claude-opus-4-7", 5, 25, 0.50, 6.25},
	{"claude-opus-4-6", 5, 25, 0.50, 6.25},
	{"claude-opus-4-5", 5, 25, 0.50, 6.25},
	{"claude-sonnet-5-5", 2, 10, 0.20, 2.50},
	{"claude-sonnet-5", 2, 10, 0.20, 2.50},
	{"claude-sonnet-4-6", 3, 15, 0.30, 3.75},
	{"claude-sonnet-4-5", 3, 15, 0.30, 3.75},
	{"claude-haiku-4-5", 1, 5, 0.10, 1.25},
	{"gpt-5.5", 5, 30, 0.50, 0},
	{"gpt-5.4", 2.50, 15, 0.25, 0},
	{"gpt-5.4-mini", 0.75, 4.50, 0.075, 0},
	{"gpt-5.4-nano", 0.20, 1.25, 0.02, 0},
	{"gpt-5.2", 1.75, 14, 0.175, 0},
	{"gpt-5.1", 1.25, 10, 0.125, 0},
	{"gpt-5", 1.25, 10, 0.125, 0},
	{"gpt-5-mini", 0.25, 2, 0.025, 0},
	{"gpt-5-nano", 0.05, 0.40, 0.005, 0},
	{"gpt-4.1", 2, 8, 0.50, 0},
	{"gpt-4.1-mini", 0.40, 1.60, 0.10, 0},
	{"gpt-4o", 2.50, 10, 1.25, 0},
	{"gpt-4o-mini", 0.15, 0.60, 0.075, 0},
}

// Lookup returns the list price of a model, or nil when it is not known.
func Lookup(id string) *Price {
	id = strings.ToLower(id)
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	if strings.HasPrefix(id, "claude-") {
		id = strings.ReplaceAll(id, ".", "-")
	}
	for i := range table {
		if rest, ok := strings.CutPrefix(id, table[i].prefix); ok && isDate(rest) {
			return table[i].price()
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

package picture

import (
	"regexp"
	"strings"
)

// Settle returns what the demo wrote without what differs from run to run: ids,
// paths, times, the version, empty lines, and the words that were on their way
// when a turn was cancelled.
func Settle(text string) string {
	for _, r := range []struct{ pattern, with string }{
		{`\bs_[a-z2-7]{26}\b`, "SESSION"},
		{`\S*grapnel-demo-\d+`, "DIR"},
		{`grapnel \S+ answered in \d+ ms`, "grapnel VERSION answered in TIME"},
		{`Done in [\d.]+ s`, "Done in TIME"},
		{`(?s)you press stop\n.*?\n( *turn over)`, "you press stop\n$1"},
		{`[ ]+\n`, "\n"},
		{`\n{2,}`, "\n"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	return strings.Trim(text, "\n")
}

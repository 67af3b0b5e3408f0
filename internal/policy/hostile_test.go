package policy

import (
	"strings"
	"testing"
)

// TestHostileTextIsJudged: text made to exhaust the parser or the judge is
// refused or asked about. A judge whose work is not bounded does not come to an
// end here.
func TestHostileTextIsJudged(t *testing.T) {
	pieces := []string{
		"(", "((", "$(", "{ ", "`", "${x:-", "$((", "[[ ( ", "if ", "if : ; then ", "a=(", "<(", "\"$(", "case a in a) ",
		"( # )\n", "$(: ')' ; ", "cd a;", "rm x;", "env ", "nice -n 1 ", "sh -c '", "eval ", "xargs ", "x[", "<<A\n", "\\", "{a,",
	}
	p := newPolicy(supervised())
	for _, piece := range pieces {
		for _, end := range []string{"", "ls" + strings.Repeat(")", 50_000/len(piece))} {
			text := strings.Repeat(piece, 60_000/len(piece)) + end
			if d := p.Decide(shell(text), nil, ModeAsk); d.Verdict == Allow {
				t.Errorf("%q repeated: %s", piece, d.Explain())
			}
		}
	}
}

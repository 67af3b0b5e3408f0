package tool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPreface(t *testing.T) {
	first := Content{Text: "first"}
	for _, c := range []struct {
		what string
		res  Result
		want []Content
	}{
		{"nothing is shown", Result{}, []Content{first}},
		{"the text is shown", Result{Text: "a"}, []Content{first, {Text: "a"}}},
		{"the content is shown", Result{Text: "a", Content: []Content{{Text: "b"}, {TerminalID: "t"}}}, []Content{first, {Text: "b"}, {TerminalID: "t"}}},
		{"the text is for the model alone", Result{Text: "a", Content: []Content{}}, []Content{first}},
	} {
		got := c.res.Preface("first")
		if diff := cmp.Diff(c.want, got.Content); diff != "" || got.Text != c.res.Text {
			t.Errorf("%s: the text is %q, the content (-want +got):\n%s", c.what, got.Text, diff)
		}
	}
}

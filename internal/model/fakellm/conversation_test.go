package fakellm

import "testing"

// A prompt whose turn failed stands beside the next one in one message; only
// the next one is to be followed.
func TestDirections(t *testing.T) {
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{"D:SAY one"}, "D:SAY one"},
		{[]string{"D:HTTP 401", "D:SAY two"}, "D:SAY two"},
		{[]string{"D:SAY three", "[Document: a.txt] /a.txt"}, "D:SAY three"},
		{[]string{"please RUN_SHELL{ls}", "now"}, "please RUN_SHELL{ls}"},
		{[]string{"hello", "there"}, "hello\nthere"},
		{nil, ""},
	} {
		var parts content
		for _, text := range c.parts {
			parts = append(parts, part{Type: "text", Text: text})
		}
		if got := parts.directions(); got != c.want {
			t.Errorf("%q: got %q, want %q", c.parts, got, c.want)
		}
	}
}

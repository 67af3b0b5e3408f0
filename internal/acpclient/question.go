package acpclient

import (
	"fmt"
	"slices"

	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/readproof"
)

const (
	// maxInput is how much of a tool's input is shown, in bytes.
	maxInput = 2000
	// maxOptions is how many options have a key.
	maxOptions = 9
)

// question is a choice that a person makes.
type question struct {
	title   string
	details []string
	options []option
}

// option is one answer. It is chosen by its number, or by its letter, 0 for
// none.
type option struct {
	name   string
	letter byte
}

// permissionQuestion asks what to do about a tool call. All of the text is the
// agent's, so that nothing in it is hidden.
func permissionQuestion(req *v1.RequestPermissionRequest, facts readproof.Call, heading string, unproven error) question {
	q := question{title: "Allow this? " + printable.Visible(heading)}
	if len(facts.Names) > 0 {
		q.details = append(q.details, "tool: "+printable.Line(facts.Names[len(facts.Names)-1]))
	}
	for _, raw := range slices.Backward(facts.Inputs) {
		if len(raw) > 0 {
			q.details = append(q.details, "input: "+printable.Visible(printable.Clip(string(raw), maxInput)))
			break
		}
	}
	q.details = append(q.details, "asked because "+printable.Line(unproven.Error()))
	letters := map[v1.PermissionOptionKind]byte{v1.PermissionOptionKindAllowOnce: 'y', v1.PermissionOptionKindRejectOnce: 'n'}
	for i, o := range req.Options {
		if i == maxOptions {
			break
		}
		letter := letters[o.Kind]
		delete(letters, o.Kind)
		q.options = append(q.options, option{name: fmt.Sprintf("%s (%s)", printable.Line(o.Name), kindText(o.Kind)), letter: letter})
	}
	return q
}

// kindText says what an option does, whatever its name says.
func kindText(k v1.PermissionOptionKind) string {
	switch k {
	case v1.PermissionOptionKindAllowOnce:
		return "allow once"
	case v1.PermissionOptionKindAllowAlways:
		return "allow always"
	case v1.PermissionOptionKindRejectOnce:
		return "deny once"
	case v1.PermissionOptionKindRejectAlways:
		return "deny always"
	}
	return printable.Line(string(k))
}

// keyed returns the index of the option that a key chooses, -1 for none.
func (q question) keyed(key byte) int {
	if n := int(key) - '1'; n >= 0 && n < len(q.options) {
		return n
	}
	return slices.IndexFunc(q.options, func(o option) bool { return o.letter != 0 && o.letter == key })
}

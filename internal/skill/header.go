package skill

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/grapnel-ai/grapnel/internal/command"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// header is the part of a SKILL.md between its two lines of three hyphens, as
// the Agent Skills convention has it. Members it does not name are left alone,
// allowed-tools among them: a skill permits nothing.
type header struct {
	Name          string    `yaml:"name"`
	Description   string    `yaml:"description"`
	UserInvocable *bool     `yaml:"user-invocable"`
	UserOnly      bool      `yaml:"disable-model-invocation"`
	Hint          yaml.Node `yaml:"argument-hint"` // as it is written: aliases in it would grow without end
}

// defaultHint is shown for a skill that does not say what may follow its name.
const defaultHint = "anything to add"

// parse reads a SKILL.md. folder is the name of the folder it is in, which is
// the skill's unless the header gives another.
func parse(data []byte, folder string) (s Skill, body string, err error) {
	head, body, err := split(data)
	if err != nil {
		return s, "", err
	}
	var h header
	if err := unmarshal(head, &h); err != nil {
		return s, "", err
	}
	s = Skill{
		Name: strings.TrimSpace(h.Name), Description: printable.Short(printable.Line(h.Description), maxDescription),
		Hint: printable.Short(printable.Line(hint(h.Hint)), maxDescription), Model: !h.UserOnly, User: true,
	}
	if s.Name == "" {
		s.Name = folder
	}
	if s.Hint == "" {
		s.Hint = defaultHint
	}
	if h.UserInvocable != nil {
		s.User = *h.UserInvocable
	}
	switch {
	case !command.ValidName(s.Name):
		return s, "", fmt.Errorf("the name %q is not 1 to 64 lower-case letters, digits and hyphens; change it in the header", printable.Short(printable.Line(s.Name), 80))
	case s.Description == "":
		return s, "", errors.New("the header has no description; add a line \"description: …\" that says when to use the skill")
	}
	return s, body, nil
}

// fence begins and ends a header.
const fence = "---"

// split takes a SKILL.md apart. A byte order mark and CRLF are taken as usual.
func split(data []byte) (head, body string, err error) {
	if !utf8.Valid(data) {
		return "", "", errors.New("it is not UTF-8 text; save it as UTF-8")
	}
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	text = strings.ReplaceAll(text, "\r\n", "\n")
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != fence {
		return "", "", errors.New("it does not begin with a header; the first line has to be ---")
	}
	for at := 0; at < len(rest) && at <= maxHeader; {
		line, _, more := strings.Cut(rest[at:], "\n")
		next := at + len(line)
		if more {
			next++
		}
		if strings.TrimRight(line, " \t") == fence {
			return rest[:at], strings.TrimSpace(rest[next:]), nil
		}
		at = next
	}
	return "", "", fmt.Errorf("the header has no end; close it with a line --- within %d KiB", maxHeader>>10)
}

// unmarshal decodes a header. Lines of its errors count from the file's first.
func unmarshal(head string, h *header) error {
	err := yaml.Unmarshal([]byte("\n"+head), h)
	if err == nil {
		return nil
	}
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	reason = strings.TrimPrefix(reason, "unmarshal errors:\n")
	return fmt.Errorf("the header is not the YAML it should be: %s; quote text that holds a colon", printable.Short(printable.Line(reason), 300))
}

// hint is argument-hint, which people write as text or, meaning text, as a list
// in brackets. Anything else in it says nothing.
func hint(n yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return plainText(&n)
	case yaml.SequenceNode:
		var words []string
		for _, w := range n.Content {
			if text := plainText(w); text != "" {
				words = append(words, "["+text+"]")
			}
		}
		return strings.Join(words, " ")
	}
	return ""
}

// plainText is the text of a scalar, "" of everything else.
func plainText(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

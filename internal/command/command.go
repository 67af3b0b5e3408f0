// Package command holds the slash commands of a session: what a person can type
// after a slash instead of a prompt, where each comes from, and which of them a
// prompt means. Whoever owns the commands says what running one is.
package command

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Source says where a command comes from.
type Source string

// The sources.
const (
	BuiltIn Source = "built-in"
	Skill   Source = "skill"
)

// Command is one slash command. Run is the owner's own: a function, as a rule.
type Command[Run any] struct {
	Name        string // without the slash; see ValidName
	Description string // one line, for people
	Hint        string // what may follow the name; "" when nothing does
	Source      Source
	Run         Run
}

// Set is the commands of one session. It never changes after New and may be
// shared between goroutines.
type Set[Run any] struct {
	list   []Command[Run]
	byName map[string]int
}

// New returns a set of commands in the order given. Of two with one name the
// earlier stays, and what is no ValidName is left out: what comes first cannot
// be taken over by what comes later.
func New[Run any](commands ...Command[Run]) *Set[Run] {
	s := &Set[Run]{byName: make(map[string]int, len(commands))}
	for _, c := range commands {
		if _, taken := s.byName[c.Name]; taken || !ValidName(c.Name) {
			continue
		}
		s.byName[c.Name] = len(s.list)
		s.list = append(s.list, c)
	}
	return s
}

// List returns the commands in order. The caller must not change it.
func (s *Set[Run]) List() []Command[Run] { return s.list }

// Has reports whether there is a command of that name.
func (s *Set[Run]) Has(name string) bool {
	_, ok := s.byName[name]
	return ok
}

// Find returns the command that a prompt's text means, and what follows its
// name. A text that begins with a slash and no command's name, such as a path,
// means none; neither does one that gives arguments to a command without any.
func (s *Set[Run]) Find(text string) (c Command[Run], args string, ok bool) {
	word, slash := strings.CutPrefix(strings.TrimSpace(text), "/")
	if !slash {
		return c, "", false
	}
	if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
		word, args = word[:i], strings.TrimSpace(word[i:])
	}
	i, ok := s.byName[word]
	if !ok || args != "" && s.list[i].Hint == "" {
		return c, "", false
	}
	return s.list[i], args, true
}

// available is ACP AvailableCommand (v1).
type available struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Input       *input `json:"input,omitzero"`
}

// input is ACP UnstructuredCommandInput.
type input struct {
	Hint string `json:"hint"`
}

// Available returns the commands as the array that a client is shown (ACP v1
// AvailableCommandsUpdate). Text that is not UTF-8 is mended.
func (s *Set[Run]) Available() jsontext.Value {
	list := make([]available, 0, len(s.list))
	for _, c := range s.list {
		a := available{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			a.Input = &input{c.Hint}
		}
		list = append(list, a)
	}
	b, err := json.Marshal(list, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return jsontext.Value("[]") // plain strings always encode
	}
	return b
}

// maxName bounds a command's name, in bytes.
const maxName = 64

// ValidName reports whether a name can be typed as a command: 1 to 64 lower-case
// letters, digits, hyphens and underscores, beginning with a letter or a digit.
func ValidName(name string) bool {
	if name == "" || len(name) > maxName || name[0] == '-' || name[0] == '_' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

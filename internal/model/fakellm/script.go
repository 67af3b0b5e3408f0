package fakellm

import (
	"strconv"
	"strings"
)

// action is one thing the script makes the model do.
type action struct {
	verb string // the directive without "D:", such as "SAY"
	arg  string // what follows it
}

// ends reports whether the action ends a model step, since the model then
// waits for tool results.
func (a action) ends() bool {
	switch a.verb {
	case "TOOL", "PAR", "BADJSON", "LOOP":
		return true
	default:
		return false
	}
}

// script is what one user message asks for, step by step.
type script [][]action

// parseScript reads the directives and markers of a user message. A message
// with none gives an empty script.
func parseScript(text string) script {
	var s script
	var step []action
	as := actions(text)
	if len(as) == 1 && as[0].verb == "REUSEID" {
		as = []action{as[0], {"TOOL", "shell echo reused"}}
	}
	for _, a := range as {
		step = append(step, a)
		if a.ends() {
			s = append(s, step)
			step = nil
		}
	}
	if len(step) > 0 {
		s = append(s, step)
	}
	return s
}

// step returns the actions of step n. Past the end the model says that it is
// done; a script that loops never ends.
func (s script) step(n int) []action {
	if len(s) == 0 {
		return []action{{"SAY", "Hello from the fake model."}}
	}
	if n < len(s) {
		return s[n]
	}
	last := s[len(s)-1]
	if last[len(last)-1].verb == "LOOP" {
		return last
	}
	return []action{{"SAY", "done"}}
}

func actions(text string) []action {
	var as []action
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "D:") {
			as = append(as, directives(line)...)
			continue
		}
		as = append(as, markers(line)...)
	}
	return as
}

// directives reads a line such as "D:SAY a ; D:TOOL shell ls".
func directives(line string) []action {
	var as []action
	for _, d := range strings.Split(line[len("D:"):], " ; D:") {
		verb, arg, _ := strings.Cut(d, " ")
		as = append(as, action{strings.TrimSpace(verb), strings.TrimSpace(arg)})
	}
	return as
}

// markers reads words like RUN_SHELL{ls} anywhere in a line. Braces inside
// nest.
func markers(line string) []action {
	var as []action
	for {
		open := strings.IndexByte(line, '{')
		if open < 0 {
			return as
		}
		length := closing(line[open:])
		if length < 0 {
			return as
		}
		name := line[strings.LastIndexFunc(line[:open], notMarker)+1 : open]
		as = append(as, fromMarker(name, line[open+1:open+length])...)
		line = line[open+length+1:]
	}
}

func notMarker(r rune) bool { return (r < 'A' || r > 'Z') && r != '_' }

// closing returns the index of the brace that closes the one at the start.
func closing(s string) int {
	depth := 0
	for i, r := range s {
		switch r {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func fromMarker(name, arg string) []action {
	switch name {
	case "RUN_SHELL":
		return []action{{"TOOL", "shell " + arg}}
	case "READ_FILE":
		return []action{{"TOOL", "read " + arg}}
	case "WRITE_FILE":
		path, content, _ := strings.Cut(arg, "|")
		return []action{{"TOOL", "write " + path + " " + content}}
	case "CALL_TOOL":
		tool, input, _ := strings.Cut(arg, "|")
		return []action{{"TOOL", tool + " " + input}}
	case "SLOW":
		return []action{{"SLOW", arg}}
	case "THINK":
		if arg == "" {
			arg = "Let me think about it."
		}
		return []action{{"THINK", arg}, {"SAY", "Thought done."}}
	case "FAIL":
		return []action{{"HTTP", arg}}
	default:
		return nil
	}
}

// numbers reads integers separated by commas or spaces; what is missing or no
// number is 0.
func numbers(s string, n int) []int {
	got := make([]int, n)
	for i, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		if i < n {
			got[i], _ = strconv.Atoi(f)
		}
	}
	return got
}

// unquote removes quotes around a whole argument, so that a command can be
// given as 'echo x'.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		if inner := s[1 : len(s)-1]; strings.IndexByte(inner, s[0]) < 0 {
			return inner
		}
	}
	return s
}

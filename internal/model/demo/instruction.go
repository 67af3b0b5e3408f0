package demo

import (
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/model"
)

// step is one thing that an instruction asks for: a tool call, or else
// thinking, words or a wait.
type step struct {
	tool  string
	input model.RawJSON
	say   string // announces the call, or is the answer itself
	think string
	wait  time.Duration
}

// Bounds of what a prompt can make the demo do.
const (
	maxSteps = 50
	maxWait  = time.Minute
)

// parse reads the instructions of a prompt: one per line, or several joined
// by ";" or "then". unknown lists what is none.
func parse(prompt string) (steps []step, unknown []string) {
	for line := range strings.Lines(prompt) {
		for _, clause := range clauses(strings.TrimSpace(line)) {
			if len(steps) == maxSteps {
				return steps, unknown
			}
			if s, ok := parseClause(clause); ok {
				steps = append(steps, s)
			} else {
				unknown = append(unknown, clause)
			}
		}
	}
	return steps, unknown
}

// clauses cuts a line at ", then", " then " and ";". A command line is cut at
// ", then" only, since the shell has uses for the other two.
func clauses(line string) []string {
	var out []string
	for line != "" {
		marks := []string{", then ", " and then ", " then ", "; "}
		if isCommand(line) {
			marks = marks[:1]
		}
		clause, rest := line, ""
		for _, m := range marks {
			if i := strings.Index(clause, m); i >= 0 {
				clause, rest = line[:i], line[i+len(m):]
			}
		}
		if c := trimFiller(clause); c != "" {
			out = append(out, c)
		}
		line = strings.TrimSpace(rest)
	}
	return out
}

func isCommand(clause string) bool {
	word, _ := firstWord(trimFiller(clause))
	return verbOf(word) == "run"
}

// trimFiller removes bullets, numbers and politeness in front of a verb.
func trimFiller(s string) string {
	for {
		s = strings.TrimLeft(s, " \t-*•")
		word, rest := firstWord(s)
		if word == "" || !isFiller(word) {
			return strings.TrimSpace(s)
		}
		s = rest
	}
}

func isFiller(word string) bool {
	switch strings.ToLower(strings.TrimRight(word, ",:!")) {
	case "please", "now", "first", "next", "finally", "also", "then", "and", "can", "could", "you", "hi", "hello":
		return true
	}
	number := strings.TrimRight(word, ".)")
	return number != word && strings.Trim(number, "0123456789") == ""
}

func firstWord(s string) (word, rest string) {
	i := strings.IndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// verbOf maps the words people use to one verb each; "" means no verb.
func verbOf(word string) string {
	switch strings.ToLower(strings.TrimRight(word, ":")) {
	case "list", "ls", "dir":
		return "list"
	case "read", "show", "open", "cat":
		return "read"
	case "search", "grep":
		return "search"
	case "find", "glob":
		return "find"
	case "run", "execute", "$", "shell":
		return "run"
	case "git":
		return "git"
	case "write", "create":
		return "write"
	case "edit", "change":
		return "edit"
	case "replace":
		return "replace"
	case "ask":
		return "ask"
	case "think":
		return "think"
	case "plan", "todo":
		return "plan"
	case "wait", "slow", "sleep":
		return "wait"
	case "say", "echo":
		return "say"
	default:
		return ""
	}
}

func parseClause(clause string) (step, bool) {
	word, arg := firstWord(clause)
	switch verbOf(word) {
	case "list":
		return list(arg), true
	case "read":
		return read(arg)
	case "search":
		return search(arg)
	case "find":
		return find(arg)
	case "run":
		return run(arg)
	case "git":
		return call("I ask git.", "git", object{"args": strings.Fields(arg)}), arg != ""
	case "write":
		return write(arg)
	case "edit":
		return edit(arg)
	case "replace":
		return replace(arg)
	case "ask":
		return ask(arg)
	case "think":
		return step{think: "Thinking " + orElse(arg, "about it") + ", as a demo does: not really."}, true
	case "plan":
		return plan(arg)
	case "wait":
		return wait(arg), true
	case "say":
		return step{say: unquote(arg)}, arg != ""
	default:
		return step{}, false
	}
}

// object is the input of a tool.
type object = map[string]any

// call makes a tool call. The input holds only text, numbers and lists, so it
// always marshals once its text is valid.
func call(say, tool string, input object) step {
	b, err := json.Marshal(input, json.Deterministic(true))
	if err != nil {
		return step{say: "I cannot pass that on: " + err.Error()}
	}
	return step{say: say, tool: tool, input: b}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// unquote removes quotes or backticks around a whole text.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && strings.IndexByte("\"'`", s[0]) >= 0 && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// cutWord cuts s around a word that stands alone, in any case.
func cutWord(s, word string) (before, after string, ok bool) {
	i := strings.Index(strings.ToLower(s), " "+word+" ")
	if i < 0 || len(strings.ToLower(s)) != len(s) {
		return s, "", false
	}
	return strings.TrimSpace(s[:i]), strings.TrimSpace(s[i+len(word)+2:]), true
}

package main

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]bool{
	"acp": true, "api": true, "fs": true, "http": true, "id": true, "llm": true, "mcp": true,
	"mime": true, "sse": true, "uri": true, "url": true,
}

// renames gives short names to types that the schema leaves without one.
var renames = map[string]string{
	"CreateElicitationRequestMode":    "ElicitationMode",
	"CreateElicitationResponseAction": "ElicitationAction",
	"DiffChangeOperation":             "DiffOperation",
	"IdleStateUpdateStopReason":       "IdleStopReason",
}

// variantNames gives short names to variants whose label repeats their union's.
var variantNames = map[string]string{"TextResourceContents": "Text", "BlobResourceContents": "Blob"}

func variantName(label string) string {
	if short, ok := variantNames[label]; ok {
		return short
	}
	return goName(label)
}

// patches lists the objects in which absent, null and a value differ.
var patches = map[string]map[string]bool{
	"v1": {"SessionInfoUpdate": true, "CompactionUpdate": true, "SubagentUpdate": true, "SessionMessage": true},
	"v2": {
		"SessionInfoUpdate": true, "CompactionUpdate": true, "SubagentUpdate": true, "SessionMessage": true,
		"ToolCallUpdate": true, "TerminalUpdate": true, "UserMessage": true, "AgentMessage": true, "AgentThought": true,
	},
}

// goName turns a name of the schema (camelCase, snake_case, dashes or spaces)
// into an exported Go name.
func goName(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		if initialisms[strings.ToLower(word)] {
			b.WriteString(strings.ToUpper(word))
			continue
		}
		r := []rune(word)
		r[0] = unicode.ToUpper(r[0])
		b.WriteString(string(r))
	}
	if short, ok := renames[b.String()]; ok {
		return short
	}
	return b.String()
}

func words(name string) []string {
	var out []string
	start := 0
	runes := []rune(name)
	flush := func(end int) {
		if end > start {
			out = append(out, string(runes[start:end]))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case unicode.IsUpper(r) && i > start && !unicode.IsUpper(runes[i-1]):
			flush(i)
			start = i
		}
	}
	flush(len(runes))
	return out
}

// list writes items as a sentence does.
func list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

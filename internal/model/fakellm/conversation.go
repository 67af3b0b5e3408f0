package fakellm

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// body is a request of any of the three protocols.
type body struct {
	Model      string         `json:"model"`
	Stream     bool           `json:"stream"`
	Messages   []item         `json:"messages"` // Messages, Chat Completions
	Input      jsontext.Value `json:"input"`    // Responses: text or items
	System     jsontext.Value `json:"system"`
	Tools      []tool         `json:"tools"`
	ToolChoice jsontext.Value `json:"tool_choice"`
	Thinking   jsontext.Value `json:"thinking"`
	Options    struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`

	size int // of the whole request, in bytes; see measure
}

// Images and sounds travel as text, but what they cost is no matter of length.
const (
	longestWord = 4 << 10 // a longer run of base64 characters is a file
	fileCost    = 6 << 10
)

// measure returns how much there is to read in a request, in bytes.
func measure(raw []byte) int {
	size, run := 0, 0
	end := func() {
		if run > longestWord {
			run = fileCost
		}
		size, run = size+run, 0
	}
	for _, c := range raw {
		run++
		if !isBase64(c) {
			end()
		}
	}
	end()
	return size
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '='
}

// item is a message or another entry of a conversation.
type item struct {
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	Content   content        `json:"content"`
	ToolCalls []struct{}     `json:"tool_calls"`
	Output    jsontext.Value `json:"output"`
}

// content is a text or a list of parts.
type content []part

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// UnmarshalJSONFrom reads either form.
func (c *content) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch v.Kind() {
	case '"':
		var s string
		err = json.Unmarshal(v, &s)
		*c = content{{Type: "text", Text: s}}
	case '[':
		err = json.Unmarshal(v, (*[]part)(c))
	}
	return err
}

func (c content) text() string {
	var texts []string
	for _, p := range c {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (c content) has(kind string) bool {
	for _, p := range c {
		if p.Type == kind {
			return true
		}
	}
	return false
}

// items returns the conversation, whichever protocol it came in.
func (b *body) items() []item {
	switch b.Input.Kind() {
	case '"':
		var c content
		if json.Unmarshal(b.Input, &c) == nil {
			return []item{{Role: "user", Content: c}}
		}
	case '[':
		var items []item
		if json.Unmarshal(b.Input, &items) == nil {
			return items
		}
	}
	return b.Messages
}

// prompt returns what a user wrote last and how many steps with tool calls the
// model has taken since.
func (b *body) prompt() (last content, steps int) {
	calling := false
	for _, it := range b.items() {
		isCall := it.Type == "function_call" || len(it.ToolCalls) > 0 || it.Content.has("tool_use")
		switch {
		case isCall && !calling:
			steps++
		case it.Role == "user" && isPrompt(it.Content.text()):
			last, steps = it.Content, 0
		}
		// Items of one Responses step follow each other; messages stand alone.
		calling = isCall && it.Type == "function_call"
	}
	return last, steps
}

// directions are what the script is read from. Agents merge a prompt whose turn
// failed with the next one; then the last part that asks for something counts.
func (c content) directions() string {
	for i := len(c) - 1; i >= 0; i-- {
		if len(actions(c[i].Text)) > 0 {
			return c[i].Text
		}
	}
	return c.text()
}

// isPrompt leaves out what agents say to the model in the user's name.
func isPrompt(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.HasPrefix(s, "<system")
}

// mayCall reports whether the model may use tools at all.
func (b *body) mayCall() bool {
	return len(b.Tools) > 0 && !strings.Contains(string(b.ToolChoice), `"none"`)
}

package fakellm

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// tool is a declared tool in any of the three protocols.
type tool struct {
	ToolName    string `json:"name"`
	InputSchema schema `json:"input_schema"` // Messages
	Parameters  schema `json:"parameters"`   // Responses
	Function    struct {
		Name       string `json:"name"`
		Parameters schema `json:"parameters"`
	} `json:"function"` // Chat Completions
}

type schema struct {
	Properties map[string]property `json:"properties"`
	Required   []string            `json:"required"`
}

type property struct {
	Type jsontext.Value   `json:"type"`
	Enum []jsontext.Value `json:"enum"`
}

func (t tool) name() string {
	if t.Function.Name != "" {
		return t.Function.Name
	}
	return t.ToolName
}

func (t tool) schema() schema {
	for _, s := range []schema{t.InputSchema, t.Parameters, t.Function.Parameters} {
		if s.Properties != nil {
			return s
		}
	}
	return schema{}
}

// The names under which agents offer the usual tools, and their inputs. The
// first that fits is used, so that a script runs on any agent.
var (
	toolNames = map[string][]string{
		"shell": {"shell", "bash", "exec", "exec_command", "run_shell_command", "execute_command", "run_command", "terminal", "local_shell", "shell_command"},
		"read":  {"file_read", "read", "read_file", "view", "readfile", "view_file"},
		"write": {"file_write", "write", "write_file", "create", "write_to_file", "create_file"},
		"edit":  {"file_edit", "edit", "edit_file", "str_replace", "replace"},
	}
	inputNames = map[string][]string{
		"command": {"command", "cmd", "commands"},
		"path":    {"path", "file_path", "absolute_path", "filename", "file", "target_file"},
		"content": {"content", "contents", "file_text", "text"},
		"old":     {"old_text", "old_string", "old_str"},
		"new":     {"new_text", "new_string", "new_str"},
	}
)

// call is a tool call the model makes.
type call struct{ id, name, input string }

// toolCall works out what "D:TOOL arg" calls, given the tools on offer.
func (b *body) toolCall(arg string) (name, input string) {
	verb, rest, _ := strings.Cut(arg, " ")
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, "{") || (rest == "" && toolNames[verb] == nil) {
		return verb, orEmpty(rest)
	}
	want := map[string]string{}
	switch verb {
	case "shell":
		want["command"] = unquote(rest)
	case "read":
		want["path"] = unquote(rest)
	case "write":
		path, text, _ := strings.Cut(rest, " ")
		if text == "" {
			text = "written by the fake model\n"
		}
		want["path"], want["content"] = path, text
	case "edit":
		fields := strings.SplitN(rest, "|", 3)
		for i, k := range []string{"path", "old", "new"} {
			if i < len(fields) {
				want[k] = fields[i]
			}
		}
	}
	t := b.offered(verb)
	return t.name(), t.schema().fill(want)
}

// offered returns the declared tool for a verb, or one of that very name when
// none was declared, so that the agent meets a tool it does not know.
func (b *body) offered(verb string) tool {
	for _, name := range append(toolNames[verb], verb) {
		for _, t := range b.Tools {
			if strings.EqualFold(t.name(), name) {
				return t
			}
		}
	}
	return tool{ToolName: verb}
}

// fill makes an input that has what is wanted and whatever else is required.
func (s schema) fill(want map[string]string) string {
	in := map[string]jsontext.Value{}
	for key, value := range want {
		name := key
		if i := slices.IndexFunc(inputNames[key], func(n string) bool { _, ok := s.Properties[n]; return ok }); i >= 0 {
			name = inputNames[key][i]
		} else if len(inputNames[key]) > 0 {
			name = inputNames[key][0]
		}
		in[name] = s.Properties[name].value(key, value)
	}
	for _, name := range s.Required {
		if _, ok := in[name]; !ok {
			in[name] = s.Properties[name].filler()
		}
	}
	out, err := json.Marshal(in, json.Deterministic(true))
	if err != nil {
		return "{}"
	}
	return string(out)
}

func (p property) value(key, v string) jsontext.Value {
	quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(v, "\ufffd"))
	if strings.Contains(string(p.Type), "array") {
		if key == "command" {
			return jsontext.Value(`["bash","-lc",` + string(quoted) + `]`)
		}
		return jsontext.Value("[" + string(quoted) + "]")
	}
	return quoted
}

func (p property) filler() jsontext.Value {
	if len(p.Enum) > 0 {
		return p.Enum[0]
	}
	for kind, v := range map[string]string{"boolean": "false", "integer": "1", "number": "1", "array": "[]", "object": "{}"} {
		if strings.Contains(string(p.Type), kind) {
			return jsontext.Value(v)
		}
	}
	return jsontext.Value(`"fake"`)
}

func orEmpty(s string) string {
	if s == "" {
		return "{}"
	}
	return s
}

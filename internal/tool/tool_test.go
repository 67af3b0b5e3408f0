package tool

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEnv makes a working directory with files in it, a workspace beside it, and
// an Env of both.
func newEnv(t *testing.T, files map[string]string) *Env {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd, workspace := filepath.Join(base, "w"), filepath.Join(base, "agent")
	for _, dir := range []string{cwd, workspace} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	roots, err := fsroot.Open([]fsroot.Root{
		{Path: cwd, Writable: true, Name: fsroot.NameCwd},
		{Path: workspace, Writable: true, Name: fsroot.NameWorkspace},
	}, fsroot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = roots.Close() })
	for name, text := range files {
		writeFile(t, filepath.Join(cwd, name), text)
	}
	return &Env{Roots: roots, Cwd: cwd, Reads: NewReads()}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readBack(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// prepare prepares a call that the test closes.
func prepare(t *testing.T, env *Env, tool Tool, input string) *Call {
	t.Helper()
	call, err := tool.Prepare(t.Context(), env, jsontext.Value(input))
	if err != nil {
		t.Fatalf("%s %s: %v", tool.Spec().Name, input, err)
	}
	if call.Close != nil {
		t.Cleanup(call.Close)
	}
	return call
}

// run prepares and runs a call that must not fail.
func run(t *testing.T, env *Env, tool Tool, input string) Result {
	t.Helper()
	res := prepare(t, env, tool, input).Run(t.Context(), &recorder{})
	if res.IsError {
		t.Fatalf("%s %s: %s", tool.Spec().Name, input, res.Text)
	}
	return res
}

// refuses checks that a call cannot be prepared, or fails, for a reason.
func refuses(t *testing.T, env *Env, tool Tool, input, want string) {
	t.Helper()
	call, err := tool.Prepare(t.Context(), env, jsontext.Value(input))
	var got string
	if err != nil {
		got = err.Error()
	} else {
		if call.Close != nil {
			defer call.Close()
		}
		res := call.Run(t.Context(), &recorder{})
		if got = res.Text; !res.IsError {
			t.Errorf("%s %s worked: %s", tool.Spec().Name, input, got)
		}
	}
	if !strings.Contains(got, want) {
		t.Errorf("%s %s: %q, want %q in it", tool.Spec().Name, input, got, want)
	}
}

func TestSet(t *testing.T) {
	set := NewSet(Default()...)
	names := []string{}
	for _, s := range set.Specs() {
		names = append(names, s.Name)
	}
	const want = "ask_user, content_search, deliver_file, escalate_to_human, file_edit, file_read, file_write, git, glob_search, list_dir, read_skill, shell, spawn_subagent, todo"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("names = %s", got)
	}
	got, err := set.Lookup("shell")
	if err != nil || got.Spec().Name != "shell" {
		t.Errorf("Lookup(shell) = %v, %v", got, err)
	}
	if _, err := set.Lookup("bash"); err == nil || !strings.Contains(err.Error(), `"bash"`) || !strings.Contains(err.Error(), want) {
		t.Errorf("Lookup(bash): %v", err)
	}
	if _, err := NewSet().Lookup("x"); err == nil {
		t.Error("an empty set has x")
	}
}

// A schema says exactly what the decoder takes, or models are sent in circles.
func TestSchemasMatchTheArguments(t *testing.T) {
	args := map[string]any{
		"file_read": fileReadArgs{}, "file_write": fileWriteArgs{}, "file_edit": fileEditArgs{}, "list_dir": listDirArgs{},
		"deliver_file": deliverFileArgs{}, "glob_search": globSearchArgs{}, "content_search": contentSearchArgs{}, "shell": shellArgs{}, "git": gitArgs{},
		"todo": todoArgs{}, "ask_user": askUserArgs{}, "escalate_to_human": escalateArgs{}, "read_skill": readSkillArgs{}, "spawn_subagent": spawnSubagentArgs{},
		"web_fetch": webFetchArgs{},
	}
	for _, tool := range append(Default(), WebFetch(nil)) {
		spec := tool.Spec()
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(spec.Schema)))
		if err != nil {
			t.Errorf("%s: %v", spec.Name, err)
			continue
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("tool.json", doc); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		if _, err := c.Compile("tool.json"); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		properties, _ := doc.(map[string]any)["properties"].(map[string]any)
		fields := fieldNames(reflect.TypeOf(args[spec.Name]))
		if len(fields) != len(properties) {
			t.Errorf("%s: the decoder takes %v, the schema %v", spec.Name, fields, properties)
		}
		for _, f := range fields {
			if _, ok := properties[f]; !ok {
				t.Errorf("%s: the schema lacks %s", spec.Name, f)
			}
		}
	}
}

// Every tool answers broken input with a sentence, and no tool takes a word of
// the model for an approval.
func TestBrokenInput(t *testing.T) {
	env := newEnv(t, nil)
	for _, tool := range Default() {
		refuses(t, env, tool, `{`, "not valid JSON")
		refuses(t, env, tool, `[]`, "must be a JSON object")
		refuses(t, env, tool, `{"no_such":1}`, `there is no argument "no_such"`)
	}
	refuses(t, env, shell{}, `{"approved":true}`, `"command" is missing`)
}

// T4: every call says what it is, truly, and where.
func TestT4KindTitleLocations(t *testing.T) {
	env := newEnv(t, map[string]string{"a.txt": "x\n"})
	for _, tc := range []struct {
		tool  Tool
		input string
		kind  string
	}{
		{fileRead{}, `{"path":"a.txt"}`, KindRead},
		{fileWrite{}, `{"path":"b.txt","content":"x"}`, KindEdit},
		{fileEdit{}, `{"path":"a.txt","old_text":"x","new_text":"y"}`, KindEdit},
		{listDir{}, ``, KindRead},
		{deliverFile{}, `{"path":"a.txt"}`, KindRead},
		{globSearch{}, `{"pattern":"*.txt"}`, KindSearch},
		{contentSearch{}, `{"pattern":"x"}`, KindSearch},
		{shell{}, `{"command":"true"}`, KindExecute},
		{git{}, `{"args":["status"]}`, KindExecute},
		{todo{}, `{"entries":[]}`, KindThink},
		{askUser{}, `{"question":"?"}`, KindOther},
		{escalate{}, `{"reason":"!"}`, KindOther},
	} {
		call := prepare(t, env, tc.tool, tc.input)
		spec := tc.tool.Spec()
		if call.Kind != tc.kind || spec.Kind != tc.kind || call.Title == "" {
			t.Errorf("%s: kind %s, title %q", spec.Name, call.Kind, call.Title)
		}
		if s := call.Subject; s.Tool != spec.Name || s.Kind != tc.kind || s.Acts != spec.Acts {
			t.Errorf("%s: subject %+v", spec.Name, s)
		}
		for _, l := range call.Locations {
			if !filepath.IsAbs(l.Path) {
				t.Errorf("%s: location %q is not absolute", spec.Name, l.Path)
			}
		}
	}
}

func TestTodo(t *testing.T) {
	env := newEnv(t, nil)
	res := run(t, env, todo{}, `{"entries":[{"content":"a","status":"completed","priority":"high"},{"content":"b"}]}`)
	want := []PlanEntry{{"a", "high", "completed"}, {"b", "medium", "pending"}}
	if !reflect.DeepEqual(res.Plan, want) {
		t.Errorf("plan = %+v", res.Plan)
	}
	if cleared := run(t, env, todo{}, `{"entries":[]}`); cleared.Plan == nil || len(cleared.Plan) != 0 {
		t.Errorf("plan = %#v, want an empty one", cleared.Plan)
	}
	refuses(t, env, todo{}, `{}`, `"entries" is missing`)
	refuses(t, env, todo{}, `{"entries":[{"content":" "}]}`, "entry 1 has no content")
	refuses(t, env, todo{}, `{"entries":[{"content":"a","status":"done"}]}`, "status must be")
	refuses(t, env, todo{}, `{"entries":[{"content":"a","priority":"urgent"}]}`, "priority must be")
	many := strings.Repeat(`{"content":"a"},`, 101)
	refuses(t, env, todo{}, `{"entries":[`+strings.TrimSuffix(many, ",")+`]}`, "101 entries")
}

type askerFunc func(context.Context, Question) (string, error)

func (f askerFunc) Ask(ctx context.Context, q Question) (string, error) { return f(ctx, q) }

func TestQuestions(t *testing.T) {
	env := newEnv(t, nil)
	refuses(t, env, askUser{}, `{"question":"which?"}`, "nobody is there to answer")
	var asked Question
	env.Asker = askerFunc(func(_ context.Context, q Question) (string, error) {
		asked = q
		return "red", nil
	})
	if res := run(t, env, askUser{}, `{"question":"which?","choices":["red","blue"]}`); !strings.Contains(res.Text, "red") {
		t.Errorf("result %+v", res)
	}
	if asked.Text != "which?" || len(asked.Choices) != 2 || asked.Escalation {
		t.Errorf("asked %+v", asked)
	}
	run(t, env, escalate{}, `{"reason":"stuck"}`)
	if asked.Text != "stuck" || !asked.Escalation {
		t.Errorf("asked %+v", asked)
	}
	env.Asker = askerFunc(func(context.Context, Question) (string, error) { return "", context.DeadlineExceeded })
	refuses(t, env, askUser{}, `{"question":"which?"}`, "there is no answer")
	refuses(t, env, askUser{}, `{"question":""}`, `"question" is missing`)
	refuses(t, env, askUser{}, `{"question":"q","choices":["a"]}`, "2 to 10")
	refuses(t, env, askUser{}, `{"question":"q","choices":["a","a"]}`, "twice")
	refuses(t, env, askUser{}, `{"question":"q","choices":["a"," "]}`, "empty")
	refuses(t, env, escalate{}, `{"reason":" "}`, `"reason" is missing`)
}

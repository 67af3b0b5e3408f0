package mcp

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Server
		env  map[string]string
		head map[string]string
		err  string
	}{
		{in: `{"name":"a","command":"/bin/a","args":["x"],"env":[{"name":"K","value":"v"}]}`, want: Server{Name: "a", Transport: Stdio, Command: "/bin/a", Args: []string{"x"}}, env: map[string]string{"K": "v"}},
		{in: `{"type":"stdio","name":"a","command":"a","args":null,"env":null}`, want: Server{Name: "a", Transport: Stdio, Command: "a"}},
		{in: `{"name":"a","command":"a","env":{"K":"v"}}`, want: Server{Name: "a", Transport: Stdio, Command: "a"}, env: map[string]string{"K": "v"}},
		{in: `{"type":"http","name":"w","url":"http://x/","headers":[{"name":"H","value":"v"}]}`, want: Server{Name: "w", Transport: HTTP, URL: "http://x/"}, head: map[string]string{"H": "v"}},
		{in: `{"type":"sse","name":"w","url":"http://x/"}`, want: Server{Name: "w", Transport: SSE, URL: "http://x/"}},
		{in: `{"name":"a"}`, want: Server{Name: "a", Transport: Stdio}, err: "it has no command to start"},
		{in: `{"type":"http","name":"a"}`, want: Server{Name: "a", Transport: HTTP}, err: "it has no url"},
		{in: `{"type":"acp","name":"a","serverId":"1"}`, want: Server{Name: "a", Transport: "acp"}, err: `its type "acp" is not stdio, http or sse`},
		{in: `{"name":"a","command":"a","env":[{"name":"K","value":{"SEKRET":1}}]}`, want: Server{Name: "a"}, err: "its description is not as ACP has it"},
		{in: `{"name":"a","command":"a","env":[{"name":"","value":"v"}]}`, want: Server{Name: "a", Transport: Stdio, Command: "a"}, err: `it is given a variable with the name ""`},
		{in: `{"name":"a","command":"a","env":[{"name":"A=B","value":"v"}]}`, want: Server{Name: "a", Transport: Stdio, Command: "a"}, err: `it is given a variable with the name "A=B"`},
		{in: `{"name":"a","command":"a","env":[{"name":"K","value":"SEKRET\u0000"}]}`, want: Server{Name: "a", Transport: Stdio, Command: "a"}, err: `its variable "K" has a NUL character in it`},
		{in: `{"name":"a","command":"a","args":["x\u0000"]}`, want: Server{Name: "a", Transport: Stdio, Command: "a", Args: []string{"x\x00"}}, err: "its command line has a NUL character in it"},
		{in: `7`, err: "its description is not as ACP has it"},
	} {
		got, err := Parse(jsontext.Value(c.in))
		if text := errorText(err); text != c.err {
			t.Errorf("%s: %q, not %q", c.in, text, c.err)
		}
		c.want.FromClient = true
		if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Server{}, "Secrets")); d != "" {
			t.Errorf("%s: %s", c.in, d)
		}
		if err != nil {
			continue
		}
		secrets, err := got.Secrets(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(Secrets{Env: c.env, Headers: c.head}, secrets, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", c.in, d)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestJoin(t *testing.T) {
	configured := []Server{{Name: "files", Transport: Stdio, Command: "files"}, {Name: "same", Transport: HTTP, URL: "http://x/"}}
	list, notices := join(configured, []jsontext.Value{
		jsontext.Value(`{"name":"files","command":"other"}`),
		jsontext.Value(`{"type":"http","name":"same","url":"http://x/"}`),
		jsontext.Value(`{"name":"new","command":"new"}`),
		jsontext.Value(`{"name":"new","command":"newer"}`),
		jsontext.Value(`{"command":"x"}`),
		jsontext.Value(`{"name":"bad"}`),
	})
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"files", "same", "new"}, names); d != "" {
		t.Error(d)
	}
	var said []string
	for _, n := range notices {
		said = append(said, n.Text)
	}
	want := []string{
		"The MCP server files that your client passed is not used: config.toml has another one of that name, which is used; rename one of them.",
		"The MCP server new that your client passed is not used: it was passed twice.",
		"The MCP server (unnamed) that your client passed is not used: it has no name.",
		"The MCP server bad that your client passed is not used: it has no command to start.",
	}
	if d := cmp.Diff(want, said); d != "" {
		t.Error(d)
	}
}

// FuzzParse: whatever a client passes is a server that can be used, or an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name":"a","command":"/bin/a","args":["x"],"env":[{"name":"K","value":"v"}]}`))
	f.Add([]byte(`{"type":"http","name":"w","url":"http://x/","headers":{"H":"v"}}`))
	f.Add([]byte(`{"type":"acp","name":"a","name":"b"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := Parse(in)
		if err == nil && (s.Command == "" && s.URL == "" || s.Secrets == nil || !s.FromClient) {
			t.Errorf("%q became %+v", in, s)
		}
	})
}

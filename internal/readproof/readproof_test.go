package readproof

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// ground is a directory with a file, a directory, links and what lies outside.
func ground(t testing.TB) (*fsroot.Set, string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cwd := filepath.Join(base, "cwd")
	for _, dir := range []string{filepath.Join(cwd, "sub"), filepath.Join(base, "out")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(cwd, "a.txt"), filepath.Join(cwd, "sub", "b.txt"), filepath.Join(base, "out", "secret")} {
		if err := os.WriteFile(file, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in": "a.txt", "leak": "../out/secret", "leakdir": "../out", "dangling": "../none"} {
		if err := os.Symlink(to, filepath.Join(cwd, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := fsroot.Open([]fsroot.Root{{Path: cwd, Name: fsroot.NameCwd}}, fsroot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, cwd
}

// named is a call of a tool with an input.
func named(name, input string) Call {
	return Call{Names: []string{name}, Inputs: []jsontext.Value{jsontext.Value(input)}}
}

func TestProven(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths with backslashes are never proven")
	}
	root, cwd := ground(t)
	for name, c := range map[string]Call{
		"read":             named("Read", `{"file_path":"a.txt"}`),
		"absolute":         named("read_file", `{"path":"`+cwd+`/a.txt","line":1,"limit":10}`),
		"below":            named("file_read", `{"path":"sub/b.txt"}`),
		"link inside":      named("view", `{"path":"in"}`),
		"up and down":      named("Read", `{"path":"sub/../a.txt"}`),
		"null member":      named("Read", `{"path":"a.txt","limit":null}`),
		"list":             named("list_dir", `{"path":"sub"}`),
		"list of here":     named("ls", `{}`),
		"grep":             named("Grep", `{"pattern":"a..b/","path":"sub","-i":true}`),
		"grep of here":     named("content_search", `{"query":"x"}`),
		"glob":             named("glob_search", `{"pattern":"**/*.go"}`),
		"kind read":        {Names: []string{"Read"}, Kinds: []string{"read"}, Titles: []string{"Read a.txt"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"title is free":    {Names: []string{"Read"}, Titles: []string{"Looking at the notes"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"name in _meta":    {Metas: []jsontext.Value{jsontext.Value(`{"claudeCode":{"toolName":"Read"}}`)}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"name in input":    {Inputs: []jsontext.Value{jsontext.Value(`{"tool":"read_file","path":"a.txt"}`)}},
		"names agree":      {Names: []string{"read_file", "ReadFile"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"announced alike":  {Names: []string{"Read"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt","limit":1}`), jsontext.Value(`{ "limit":1, "path":"a.txt" }`)}},
		"location inside":  {Names: []string{"Read"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}, Locations: []string{cwd + "/a.txt"}},
		"several searched": named("grep", `{"pattern":"x","paths":["a.txt","sub"]}`),
	} {
		t.Run(name, func(t *testing.T) {
			if err := Check(root, c); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestZ8WordsProveNothing has the calls that must be asked about, whatever they are called.
func TestZ8WordsProveNothing(t *testing.T) {
	root, cwd := ground(t)
	out := filepath.Join(filepath.Dir(cwd), "out", "secret")
	read := func(c Call) Call {
		c.Names, c.Kinds, c.Titles = []string{"Read"}, []string{"read"}, []string{"Read file"}
		return c
	}
	input := func(text string) Call { return Call{Inputs: []jsontext.Value{jsontext.Value(text)}} }
	cases := map[string]Call{
		"a command labelled read":      {Titles: []string{"read file"}, Kinds: []string{"read"}, Inputs: []jsontext.Value{jsontext.Value(`{"command":"rm -rf x"}`)}},
		"a command of the tool Read":   read(input(`{"command":"rm -rf x"}`)),
		"a command beside a path":      read(input(`{"path":"a.txt","command":"rm -rf x"}`)),
		"a shell called Read":          {Names: []string{"Read"}, Metas: []jsontext.Value{jsontext.Value(`{"toolName":"Bash"}`)}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"names disagree":               {Names: []string{"Read", "Write"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"input names another":          read(input(`{"tool":"write_file","path":"a.txt"}`)),
		"input names two":              read(input(`{"tool":"read","toolName":"read","path":"a.txt"}`)),
		"no name":                      {Titles: []string{"Read a.txt"}, Kinds: []string{"read"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"unknown name":                 named("mystery", `{"path":"a.txt"}`),
		"shell":                        named("bash", `{"path":"a.txt"}`),
		"kind edit":                    {Names: []string{"Read"}, Kinds: []string{"edit"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"kind execute":                 {Names: []string{"Read"}, Kinds: []string{"execute"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"title of a shell":             {Names: []string{"Read"}, Titles: []string{"Run rm -rf x"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"title is a command":           {Names: []string{"Read"}, Titles: []string{"`rm -rf x`"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"title of another tool":        {Names: []string{"Read"}, Titles: []string{"write_file: a.txt"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"announced as an edit":         {Names: []string{"Read"}, Kinds: []string{"edit", "read"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"announced as a command":       {Names: []string{"Read"}, Titles: []string{"Run rm -rf x", "Read a.txt"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"a diff":                       {Names: []string{"Read"}, Acts: true, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
		"/etc/shadow":                  read(input(`{"path":"/etc/shadow"}`)),
		"FILE:///etc/shadow":           read(input(`{"path":"FILE:///etc/shadow"}`)),
		"file: of a file inside":       read(input(`{"path":"file://` + cwd + `/a.txt"}`)),
		"../x":                         read(input(`{"path":"../out/secret"}`)),
		"absolute outside":             read(input(`{"path":"` + out + `"}`)),
		"a link out":                   read(input(`{"path":"leak"}`)),
		"through a link out":           read(input(`{"path":"leakdir/secret"}`)),
		"a dangling link":              read(input(`{"path":"dangling"}`)),
		"not there":                    read(input(`{"path":"none"}`)),
		"home":                         read(input(`{"path":"~/.ssh/id_rsa"}`)),
		"a variable":                   read(input(`{"path":"$HOME/x"}`)),
		"a wildcard":                   read(input(`{"path":"*"}`)),
		"white space":                  read(input(`{"path":"a.txt "}`)),
		"NUL":                          read(input(`{"path":"a.txt\u0000/etc/shadow"}`)),
		"a line end":                   read(input(`{"path":"a.txt\n/etc/shadow"}`)),
		"escaped slash":                read(input(`{"path":"..\\out\\secret"}`)),
		"percent":                      read(input(`{"path":"%2e%2e/out/secret"}`)),
		"an option":                    read(input(`{"path":"-rf"}`)),
		"no path":                      read(input(`{"limit":3}`)),
		"path is a list":               read(input(`{"path":["a.txt","/etc/shadow"]}`)),
		"path is an object":            read(input(`{"path":{"a":"b"}}`)),
		"path twice":                   read(input(`{"path":"a.txt","path":"/etc/shadow"}`)),
		"path in two ways":             read(input(`{"path":"a.txt","file_path":"/etc/shadow"}`)),
		"Path besides path":            read(input(`{"path":"a.txt","Path":"/etc/shadow"}`)),
		"content":                      read(input(`{"path":"a.txt","content":"x"}`)),
		"a limit that is text":         read(input(`{"path":"a.txt","limit":"1; rm -rf x"}`)),
		"no input":                     read(Call{}),
		"input is text":                read(input(`"a.txt"`)),
		"input is damaged":             read(input(`{"path":"a.txt"`)),
		"input differs from announced": {Names: []string{"Read"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`), jsontext.Value(`{"path":"sub/b.txt"}`)}},
		"location outside":             {Names: []string{"Read"}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}, Locations: []string{out}},
		"search outside":               named("Grep", `{"pattern":"x","path":"/etc"}`),
		"search in one outside":        named("Grep", `{"pattern":"x","paths":["sub","/etc"]}`),
		"a search that runs":           named("Grep", `{"pattern":"--pre=sh"}`),
		"a glob upwards":               named("Glob", `{"pattern":"../**"}`),
		"an absolute glob":             named("Glob", `{"pattern":"/etc/*"}`),
		"an include upwards":           named("Grep", `{"pattern":"x","include":"../*"}`),
		"braces upwards":               named("Glob", `{"pattern":"{.,..}/*"}`),
		"search with an exec":          named("search_files", `{"query":"x","exec":"rm"}`),
		"damaged _meta":                {Names: []string{"Read"}, Metas: []jsontext.Value{jsontext.Value(`{"toolName":1}`)}, Inputs: []jsontext.Value{jsontext.Value(`{"path":"a.txt"}`)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := Check(root, c)
			if err == nil {
				t.Fatal("it would be allowed")
			}
			t.Log(err)
		})
	}
}

// FuzzInput never lets an input through that names a place outside, or holds a
// member that is not known.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{
		`{"path":"a.txt"}`, `{"path":"../out/secret"}`, `{"path":"leak"}`, `{"command":"rm"}`, `{"path":"a.txt","limit":1}`,
		`{"pattern":"x","paths":["sub","../out"]}`, `{"path":"sub/../../out/secret"}`, `{"path":"leakdir/secret","line":1}`,
	} {
		f.Add("Read", seed)
		f.Add("Grep", seed)
	}
	root, cwd := ground(f)
	f.Fuzz(func(t *testing.T, name, text string) {
		c := named(name, text)
		if Check(root, c) != nil {
			return
		}
		in, err := oneInput(c.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		paths, err := classOf(plain(name)).paths(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if !filepath.IsAbs(p) {
				p = filepath.Join(cwd, p)
			}
			real, err := filepath.EvalSymlinks(p)
			if err != nil || real != cwd && !strings.HasPrefix(real, cwd+"/") {
				t.Errorf("%s leads to %s (%v)", text, real, err)
			}
		}
	})
}

package policy

import "testing"

func TestParsePattern(t *testing.T) {
	for _, good := range []string{"file_read", " shell ", "files__*", "*", "shell(git status *)", "file_write(src/**)", "mcp(x)", "shell(echo (a))", "shell([ -f x ])", "git(push *)", "*(**/*.pem)", `f(\[x)`} {
		if p, err := ParsePattern(good); err != nil || p.String() == "" {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "  ", "(x)", "shell()", "shell(", "shell(a", "shell)", "two words", "shell(a)b", "src/**", "file_write(src/[)", "file_write([a/b])", "mcp(a b)", "mcp(files__[)", `f(a\)`, "sh\x00ell", "{a,b}"} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestCommandPatterns(t *testing.T) {
	tests := []struct {
		pattern, command string
		want             bool
	}{
		{"shell(git *)", "git", true},
		{"shell(git *)", "git status", true},
		{"shell(git *)", "gitk", false},
		{"shell(git status)", "git status", true},
		{"shell(git status)", "git status -s", false},
		{"shell(git * --force)", "git push --force", true},
		{"shell(*)", "anything at all", true},
		{"shell(npm run *:dev)", "npm run a:dev", true},
		{"shell(npm run *:dev)", "npm run a:prod", false},
		{"shell(a*b*c)", "abc", true},
		{"shell(a*b*c)", "acb", false},
		{"shell(ab*ba)", "aba", false},
		{"term*(ls)", "ls", false},
		{"file_write(ls)", "ls", false},
		{"shell", "ls", false},
		{"git(push *)", "git push", true},
		{"git(git push *)", "git push x", true},
		{"git(push *)", "git pull", false},
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.matchCommand(toolOf(p), tt.command); got != tt.want {
			t.Errorf("%s on %q = %v", tt.pattern, tt.command, got)
		}
	}
}

func TestPathPatterns(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"f(src/**)", "/w/src/a/b", true},
		{"f(src/**)", "/w/src", true},
		{"f(src/**)", "/w/srcx/a", false},
		{"f(src/*)", "/w/src/a", true},
		{"f(src/*)", "/w/src/a/b", false},
		{"f(**/x)", "/w/a/b/x", true},
		{"f(**/x)", "/w/x", true},
		{"f(**)", "/w/x", true},
		{"f(**)", "/v/x", false},
		{"f(/v/**)", "/v/x", true},
		{"f(*.md)", "/w/a/b.md", true},
		{"f(./a)", "/w/a", true},
		{"f(../v/*)", "/v/x", true},
		{"f(a/**/**/b)", "/w/a/b", true},
		{"g(**)", "/w/x", false},
		{"*(**)", "/w/x", true},
	}
	s := &Subject{Tool: "f", Cwd: "/w"}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.matchPath(s, Path{Abs: tt.path}); got != tt.want {
			t.Errorf("%s on %s = %v", tt.pattern, tt.path, got)
		}
	}
	windows := &Subject{Tool: "f", Cwd: `C:\w [1]`}
	p, _ := ParsePattern("f(src/**)")
	if !p.matchPath(windows, Path{Abs: `C:\w [1]\src\a`}) {
		t.Error("a path of Windows does not match")
	}
}

// toolOf is the tool whose commands a pattern of the tests is held against.
func toolOf(p Pattern) string {
	if p.tool == "git" {
		return "git"
	}
	return "shell"
}

func TestHomeInPathPatterns(t *testing.T) {
	p, err := New(Settings{Level: Supervised, Home: "/home/u", AutoApprove: []string{"file_write(~/notes/**)"}})
	if err != nil {
		t.Fatal(err)
	}
	s := edit("/home/u/notes/a")
	s.Paths[0].InRoot, s.Paths[0].Root = true, "/home/u/notes"
	if d := p.Decide(s, nil, ModeAsk); d.Verdict != Allow {
		t.Errorf("%s", d.Explain())
	}
}

// TestMalformedPatternsAreNoPolicy: an entry that cannot be read neither
// vanishes nor widens anything.
func TestMalformedPatternsAreNoPolicy(t *testing.T) {
	for i, list := range []func(*Settings){
		func(s *Settings) { s.Deny = []string{"shell(rm *"} },
		func(s *Settings) { s.AlwaysAsk = []string{"ok", "file_write(src/[)"} },
		func(s *Settings) { s.AutoApprove = []string{""} },
	} {
		if p, err := New(with(supervised(), list)); err == nil || p != nil {
			t.Errorf("list %d: %v", i, p)
		}
	}
}

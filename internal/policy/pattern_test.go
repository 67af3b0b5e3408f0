package policy

import "testing"

func TestParsePattern(t *testing.T) {
	for _, good := range []string{"file_read", " shell ", "files__*", "*", "shell(git status *)", "file_write(src/**)", "mcp(x)", "shell(echo (a))"} {
		if p, err := ParsePattern(good); err != nil || p.String() == "" {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "  ", "(x)", "shell()", "shell(", "shell(a", "shell)", "two words", "shell(a)b"} {
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
	}
	for _, tt := range tests {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.matchCommand("shell", tt.command); got != tt.want {
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
		{"f(src/[)", "/w/src/a", false},
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

package policy

import (
	"path"
	"strings"
)

// look resolves paths in the world the tests' commands run in: /w is the working
// directory and holds links "out" and "-l" to /elsewhere; /etc and /home/u/.ssh are
// forbidden.
func look(name, from string) Path {
	if !path.IsAbs(name) {
		name = path.Join(from, name)
	}
	p := Path{Abs: path.Clean(name)}
	if below(p.Abs, "/w/out") {
		p.Abs = "/elsewhere" + strings.TrimPrefix(p.Abs, "/w/out")
	}
	if below(p.Abs, "/w/-l") {
		p.Abs = "/elsewhere" + strings.TrimPrefix(p.Abs, "/w/-l")
	}
	if below(p.Abs, "/w") {
		p.Root, p.InRoot = "/w", true
	}
	p.Forbidden = below(p.Abs, "/etc") || below(p.Abs, "/home/u/.ssh")
	return p
}

// glob answers for patterns of * only, and finds one file for each; nothing is
// a directory.
func glob(pattern, from string) ([]Path, bool) {
	if strings.HasSuffix(pattern, "/.*") {
		return nil, true
	}
	if strings.ContainsAny(pattern, "[?") {
		return nil, false
	}
	return []Path{look(strings.ReplaceAll(pattern, "*", "x"), from)}, true
}

func shell(command string) Subject {
	return Subject{
		Tool: "shell", Kind: "execute", Acts: true, Cwd: "/w", Command: command,
		Look: look, Glob: glob, Roots: []string{"/w"},
	}
}

func supervised() Settings {
	return Settings{
		Level: Supervised, WorkspaceOnly: true, Home: "/home/u",
		AllowedCommands: []string{
			"awk", "basename", "cat", "cut", "date", "diff", "echo", "env", "find", "git", "go", "grep", "head", "jq", "ls", "make",
			"npm", "printf", "ps", "pwd", "rg", "sed", "sort", "tail", "tar", "tr", "tree", "uniq", "wc", "which",
		},
		AutoApprove: []string{"file_read", "list_dir"},
	}
}

// newPolicy makes a policy of settings that are known to be good.
func newPolicy(s Settings) *Policy {
	p, err := New(s)
	if err != nil {
		panic(err)
	}
	return p
}

package policy

import (
	"fmt"
	"path"
	"strings"
)

// Pattern is one entry of a list of Settings:
//
//	file_read             a tool
//	files__*              tools of a name
//	mcp(files__*)         MCP tools only
//	shell(git status)     exactly this command
//	shell(git status *)   this command with any arguments, or none
//	file_write(src/**)    files below the working directory
//	file_write(/data/*)   files of an absolute directory; ~/ is the home directory
//	file_write(*.md)      files of a name, anywhere
//
// In commands and tool names * stands for any text. In file patterns * and ?
// stay within one directory and ** crosses directories. A command pattern is
// compared with every simple command by itself, never with a whole script.
type Pattern struct {
	text   string
	tool   string
	arg    string
	hasArg bool
}

// ParsePattern reads a pattern. The error says what is wrong with it.
func ParsePattern(s string) (Pattern, error) {
	text := strings.TrimSpace(s)
	tool, rest, hasArg := strings.Cut(text, "(")
	arg, closed := strings.CutSuffix(rest, ")")
	tool, arg = strings.TrimSpace(tool), strings.TrimSpace(arg)
	switch {
	case tool == "":
		return Pattern{}, fmt.Errorf("pattern %q names no tool; write a tool name or tool(pattern)", s)
	case hasArg && (!closed || arg == ""):
		return Pattern{}, fmt.Errorf("pattern %q has to end in a pattern in parentheses, such as shell(git status *)", s)
	case strings.Trim(tool, toolChars) != "":
		return Pattern{}, fmt.Errorf("pattern %q has to begin with a tool name, such as file_write or files__*, not with %q", s, tool)
	}
	p := Pattern{text: text, tool: tool, arg: arg, hasArg: hasArg}
	if hasArg && tool == "mcp" && strings.Trim(arg, toolChars) != "" {
		return Pattern{}, fmt.Errorf("pattern %q has to name MCP tools in the parentheses, such as mcp(files__*)", s)
	}
	if hasArg && tool != "mcp" && !p.ofCommands() && !validGlob(arg) {
		return Pattern{}, fmt.Errorf(`pattern %q cannot be read as a file pattern: a [ or \ in it has no end`, s)
	}
	return p, nil
}

func validGlob(pattern string) bool {
	for part := range strings.SplitSeq(slashed(pattern), "/") {
		if _, err := path.Match(part, ""); err != nil {
			return false
		}
	}
	return true
}

// toolChars are what names of tools and globs of them are made of.
const toolChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:*"

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// exact reports whether a command pattern stands for one command only.
func (p Pattern) exact() bool { return p.hasArg && !strings.Contains(p.arg, "*") }

// at reads a leading ~ of a file pattern as the home directory.
func (p Pattern) at(home string) Pattern {
	if rest, ok := strings.CutPrefix(p.arg, "~/"); ok && home != "" && !p.ofCommands() {
		p.arg = escapeGlob(slashed(home)) + "/" + rest
	}
	return p
}

// Tool is the name of the tool, or of tools with *, that the pattern is about;
// "mcp" for the tools of MCP servers.
func (p Pattern) Tool() string { return p.tool }

// namesProgram reports a command pattern that says which program it is about.
func (p Pattern) namesProgram() bool {
	program, _, _ := strings.Cut(p.arg, " ")
	return p.hasArg && !strings.Contains(program, "*")
}

// ofCommands reports a pattern whose argument is compared with commands only.
func (p Pattern) ofCommands() bool { return p.tool == "shell" || p.tool == "git" }

// matchTool reports whether the pattern speaks of the tool as a whole.
func (p Pattern) matchTool(s *Subject) bool {
	if p.hasArg {
		return p.tool == "mcp" && s.Server != "" && wildcard(p.arg, s.Tool)
	}
	return wildcard(p.tool, s.Tool)
}

// matchCommand reports whether the pattern covers a simple command of the tool.
// Patterns for shell cover every tool that runs commands; those for the git tool
// may leave out the word git.
func (p Pattern) matchCommand(tool, command string) bool {
	if !p.hasArg || !wildcard(p.tool, tool) && p.tool != "shell" {
		return false
	}
	return matchWords(p.arg, command) || p.tool == "git" && matchWords("git "+p.arg, command)
}

func matchWords(pattern, command string) bool {
	if head, ok := strings.CutSuffix(pattern, " *"); ok && wildcard(head, command) {
		return true
	}
	return wildcard(pattern, command)
}

// matchPath reports whether the pattern covers a path the tool works on.
func (p Pattern) matchPath(s *Subject, f Path) bool {
	if !p.hasArg || !wildcard(p.tool, s.Tool) {
		return false
	}
	arg, abs := slashed(p.arg), slashed(f.Abs)
	if !strings.Contains(arg, "/") && arg != "**" {
		return globPath(arg, path.Base(abs))
	}
	if !isAbs(arg) {
		arg = path.Join(escapeGlob(slashed(s.Cwd)), arg)
	}
	return globPath(arg, abs)
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// wildcard matches text against a pattern in which * stands for any text.
func wildcard(pattern, text string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	text, ok := strings.CutPrefix(text, first)
	if !ok || !starred {
		return ok && text == ""
	}
	for {
		part, more, starred := strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}

// globPath matches slash-separated paths; ** stands for any directories. A
// pattern that cannot be read matches nothing.
func globPath(pattern, name string) bool {
	return globParts(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func globParts(pattern, name []string) bool {
	for len(pattern) > 0 && pattern[0] != "**" {
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	if len(pattern) == 0 {
		return len(name) == 0
	}
	for len(pattern) > 1 && pattern[1] == "**" {
		pattern = pattern[1:]
	}
	for i := 0; i <= len(name); i++ {
		if globParts(pattern[1:], name[i:]) {
			return true
		}
	}
	return false
}

//go:build linux

package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// grammar makes up commands: mostly such as are harmless, with all that shells
// and programs offer for harm mixed in.
type grammar struct {
	*rand.Rand
	depth int
}

func (g *grammar) one(list ...string) string { return list[g.IntN(len(list))] }

// chance is true once in n times.
func (g *grammar) chance(n int) bool { return g.IntN(n) == 0 }

// script is a whole text for the shell.
func (g *grammar) script() string {
	g.depth = 0
	s := g.list()
	if g.chance(12) {
		s = g.spoiled(s)
	}
	return s
}

// spoiled puts a character that shells may see differently into a text.
func (g *grammar) spoiled(s string) string {
	at := g.IntN(len(s) + 1)
	odd := g.one("\\", "\n", "\t", "'", "\"", "$", "`", "#", ";", "&", "|", "{", "}", "(", ")", "\r", "\v", "\f", "\u00a0", "\\\n",
		"!", "~", "*", "?", "[", "]", "<", ">", "=", "%", "^", " ", "$'", `$"`, "((", "))", "<<E\n", "\nE\n", "\u2028", "\xff", "\x01", "\x7f")
	return s[:at] + odd + s[at:]
}

func (g *grammar) list() string {
	s := g.pipeline()
	for g.chance(3) {
		s += g.one("; ", " && ", " || ", "\n", " & ", ";") + g.pipeline()
	}
	return s
}

func (g *grammar) pipeline() string {
	s := g.command()
	for g.chance(4) {
		s += g.one(" | ", "|", " |\n", " |& ") + g.command()
	}
	return s
}

func (g *grammar) command() string {
	if g.depth < 3 && g.chance(6) {
		g.depth++
		defer func() { g.depth-- }()
		return g.compound() + g.redirects(12)
	}
	s := g.simple() + g.redirects(5)
	if g.chance(30) {
		s = g.one("x=1", "LC_ALL=C", "IFS=/", "PATH=.", "PATH=.:$PATH", "HOME=..", "CDPATH=..", "ENV=./sh.sh", "x=$(", "LD_PRELOAD=./a", "GREP_OPTIONS=-f", "POSIXLY_CORRECT=1", "BASH_ENV=./sh.sh", "PS4='$(./evil)'", "TMPDIR=../outside", "CLICOLOR=1") + g.one(" ", "; ") + s
	}
	if g.chance(12) {
		s = g.one("! ", "time ", "command ", "exec ", "builtin ", "nice ", "timeout 1 ", "env ", "env -i ", "nohup ", "eval ", "sh -c ", "xargs ", "env A=b ", "stdbuf -o0 ", "command -v ", "-- ", "busybox ") + s
	}
	return s
}

func (g *grammar) compound() string {
	switch g.IntN(13) {
	case 0:
		return "if " + g.list() + "; then " + g.list() + g.one("", "; else "+g.list()) + "; fi"
	case 1:
		return "for x in " + g.words(3) + "; do " + g.loopBody() + "; done"
	case 2:
		return "while read -r x; do " + g.loopBody() + "; done < " + g.inside()
	case 3:
		return "case " + g.word() + " in " + g.one("*", "a", "[ab]*") + ") " + g.list() + ";; esac"
	case 4:
		return "(" + g.list() + ")"
	case 5:
		return "{ " + g.list() + "; }"
	case 6:
		return g.one("f", "ls", "cat") + "() { " + g.list() + "; }; " + g.one("f", "ls")
	case 7:
		return "[ " + g.test() + " ] && " + g.list()
	case 8:
		return "[[ " + g.test() + " ]] && " + g.list()
	case 9:
		return "cat <<" + g.one("E", "'E'", "\"E\"", "-E", "\\E") + "\n" + g.one("x", "$("+g.list()+")", "`"+g.simple()+"`", "$x", "\\$("+g.simple()+")") + "\nE\n"
	case 10:
		return "echo $((" + g.one("1+2", "x", "a[$(id)]", "1 ? 2 : 3", "x=1", "$x", "$(echo 1)") + "))"
	case 11:
		return "cd " + g.word() + " && " + g.list()
	}
	return "until " + g.list() + "; do break; done"
}

func (g *grammar) loopBody() string {
	return g.one("echo $x", `echo "$x"`, `cat "$x"`, "cat $x", "$x", "test -f $x", `[ -f "$x" ] && echo y`, "cd ..", g.list(), g.list())
}

func (g *grammar) test() string {
	return g.one("-f "+g.word(), "-n "+g.word(), g.word()+" = "+g.word(), "-v x", g.word()+" -eq "+g.word(), "! -e "+g.word(),
		g.word()+" -nt "+g.word(), g.word()+" == "+g.glob(), "-z $x", "a < b", "a > "+g.outside(), g.word()+" =~ "+g.one("a", "(a)", "^[a-z]+$"))
}

func (g *grammar) redirects(n int) string {
	if !g.chance(n) {
		return ""
	}
	return " " + g.one("2>/dev/null", ">/dev/null", ">/dev/null 2>&1", "2>&1", "&>/dev/null", "< "+g.inside(), "<"+g.word(), "> "+g.word(),
		">> "+g.inside(), "2> "+g.word(), ">| "+g.word(), "<> "+g.word(), ">& "+g.word(), "&>> "+g.inside(), "<<< "+g.word(), "{fd}> "+g.word(),
		"3>&1", ">&3", ">&-", "<&-", "0<"+g.word(), "1>"+g.inside(), "< <("+g.simple()+")", "> >("+g.simple()+")", ">/dev/stderr", ">/dev/fd/2", "2>&1 >"+g.word(),
		">/dev/tcp/127.0.0.1/9", ">&"+g.one("1", "2", "2-", "$x"), "<<E\nx\nE\n")
}

// words are up to n words.
func (g *grammar) words(n int) string {
	list := make([]string, g.IntN(n+1))
	for i := range list {
		list[i] = g.word()
	}
	return strings.Join(list, " ")
}

// word is any word, mostly a path inside.
func (g *grammar) word() string {
	switch g.IntN(24) {
	case 0, 1:
		return g.spelled(g.outside())
	case 2:
		return g.glob()
	case 3:
		return g.one("$x", "\"$x\"", "${x}", "${x:-a}", "${x:-$(pwd)}", "${x:-"+g.outside()+"}", "${HOME}", "$HOME", "~", "~/"+g.one("a", ".bashrc"), "~+", "~-", "~root",
			"$OLDPWD", "$PWD", "$@", "$*", "$#", "$?", "$$", "$0", "${!x}", "${x@P}", "${#x}", "${x:0:1}", "${x/a/b}", "${x%%a}", "${PWD}/a", "$PWD/../outside/a", "${x:=a}", "${PATH:+../outside/a}", "\"$PWD\"/a", "${HOME}/a")
	case 4:
		return g.one("$(pwd)", "\"$(pwd)\"", "`pwd`", "$(echo "+g.word0()+")", "\"$(cat "+g.word0()+")\"", "$(<"+g.inside()+")", "<("+g.simple()+")", ">("+g.simple()+")")
	case 5:
		return g.one("{a,b.txt}", "{a,../outside/a}", "..{/outside/a,}", "{a..c}", "a{,b}", "{,-}rf", "../{outside,x}/a", "{a", "{}", "{../outside/a,a}")
	case 6:
		return g.one("-", "--", "-- -l", "-- -", "-v", "-V", "-p", "-l", "-e", "-f", "--version", "--list", "-t", "-d", "-i", "''", "\"\"", "-x", "--help", "-a", "-r", "-n", "+x", "=", "a=b", "{}", "!", "\\;", "';'")
	case 7:
		return g.one("$'a'", "$'\\x61'", "$'..\\x2foutside/a'", "$\"a\"", "a\\\n", "\\a", "a'b'\"c\"", "\"a\\\"b\"", "'a\\'", "../outside/a\\\n", "..\"/\"outside/a", ".\\./outside/a")
	case 8:
		return g.one("/dev/null", "/dev/stdin", "/etc/hostname", "/proc/self/environ", "/", ".", "..", "../", "./", "//", "/dev/fd/0", "/proc/self/cwd/../outside/a", "/dev/zero")
	}
	return g.spelled(g.inside())
}

// word0 is a word without substitutions, which would not end.
func (g *grammar) word0() string { return g.spelled(g.one(g.inside(), g.inside(), g.outside())) }

// inside is a path in the session's directory; some are links out of it.
func (g *grammar) inside() string {
	return g.one("a", "a", "b.txt", "c.json", "src/d.go", "src/sub/e", "src", ".", "./a", "src/../a", "src/sub/../../a", "to-a", "in/d.go", "list", "date", ".hidden",
		"a", "b.txt", "src", "src/sub", "c.json", "new", "src/new", "link", "out/a", "src/up/outside/a", "dangling", "out", "loop", ".git/config", ".git", "null", "in/../a", "list0", "nothing")
}

// outside is a path out of the session's directory, or with an odd name in it.
func (g *grammar) outside() string {
	return g.one("../outside/a", "../outside/list", "../outside", "../outside/new", "../outside/dir", "../a", "..", "src/../../outside/a", "./../outside/a", "out/a", "out/new", "../root/../outside/a",
		"../home/.bashrc", "/tmp/x", "/tmp/new", "in/../../outside/a", "sp ace", "-n", "-rf", "--output=x", "*", "$x", "`id`", "[a]", "é", "new\nline", "~", "'", "\"", "\\", "{a,b}", "../outside/../root/a", "out/../a", "../outside/evil")
}

func (g *grammar) glob() string {
	return g.one("*", "*.txt", "src/*", "?", "[ab]*", "*/*", "../*", "../outside/*", "out/*", "src/*/e", "l*", ".*", "[!a]*", "[^a]*", "[[:alpha:]]*", "a*/", "-*", "\\*", "'*'", "*'*'", "?(a)", "@(a|b.txt)", "**", "src/up/*", "o*/a", "../outside/dir/*", "out/dir/*", "out/d*/*", "~/*", "../home/*", "[.]./outside/a", ".[.]/outside/a", "../o*e/a", "[a-z]", "*[", "$x*", "{a,b}*")
}

// spelled writes a text so that the shell reads it as itself, in one of the
// many ways, or nearly so.
func (g *grammar) spelled(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyz./-_") == ""
	switch {
	case plain && !g.chance(4):
		return s
	case g.chance(40):
		return s // whatever it means
	case g.chance(3):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	case g.chance(2):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString("'\n'")
		case r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz", r) || g.chance(4):
			b.WriteString(`\` + string(r))
		case g.chance(6):
			fmt.Fprintf(&b, `"%c"`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

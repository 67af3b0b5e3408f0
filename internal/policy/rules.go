package policy

import (
	"slices"
	"strings"
)

// rules judges a program of the system by its name. What is not known here is
// of medium risk until the configuration names it.
func (c *call) rules() {
	c.step.known = true
	switch c.name {
	case "true", "false", ":", "exit", "return", "break", "continue", "shift", "wait", "umask", "ulimit", "jobs", "times":
		c.step.grammar = true
		if len(c.args) > 0 && (c.name == "jobs" || c.name == "wait") {
			c.hard("it can run a command or set a variable")
		}
	case "cd", "test", "[", "set", "read", "unset", "trap", "pushd", "popd", "eval", "source", ".", "alias", "unalias",
		"shopt", "enable", "bind", "complete", "hash", "mapfile", "readarray", "getopts", "fc", "history", "coproc", "compgen":
		c.builtin()
	case "echo", "pwd", "whoami", "id", "groups", "uname", "arch", "nproc", "uptime", "free", "sleep", "seq", "basename",
		"dirname", "which", "type", "tty", "cal", "yes", "printenv", "locale", "lscpu", "getconf", "expr", "factor",
		"tr", "logname", "tput":
	case "printf":
		c.printf()
	case "ps":
		for _, w := range c.args {
			if !w.known || !strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "e") || c.short("E") {
				c.hard("it can show the environment of other programs")
			}
		}
	case "date", "hostname":
		c.clock()
	case "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "rbash":
		c.shell()
	case "env", "nice", "nohup", "timeout", "gtimeout", "stdbuf", "setsid", "ionice", "chrt", "taskset", "command", "builtin",
		"exec", "chronic", "caffeinate", "time", "xargs", "busybox", "toybox", "sudo", "doas", "su", "run0", "pkexec":
		c.wrapper()
	case "git":
		c.git()
	default:
		c.program()
	}
}

// program judges commands that are no part of the shell.
func (c *call) program() {
	if c.reader() || c.changer() || c.dangerous() || c.builder() || c.interpreter() || c.installer() {
		return
	}
	c.step.known = false
	c.step.reason = c.name + " is not a command Grapnel knows"
	c.paths(c.args, false)
}

// printf judges printf and echo-like commands that can set variables.
func (c *call) printf() {
	if len(c.args) > 0 && (!c.args[0].known || strings.HasPrefix(c.args[0].text, "-v")) {
		c.hard("printf can set a variable")
	}
}

// clock judges date and hostname, which set what they otherwise show.
func (c *call) clock() {
	for _, w := range c.args {
		option := strings.HasPrefix(w.text, "-")
		switch {
		case !w.known && !strings.HasPrefix(w.text, "+"):
			c.hard("an argument is known only when it runs")
		case c.name == "date" && (strings.HasPrefix(w.text, "+") || option && !c.long("set", "file", "reference") && !c.short("sfr")):
		case c.name == "hostname" && option && !c.short("Fb"):
		case c.name == "date" && c.word("-d", "--date", "-r", "-v", "-j") && !c.short("sf"):
		default:
			c.hard("it can change the " + c.name + " or read a file")
		}
	}
}

// builtin judges commands of the shell itself that change how it goes on.
func (c *call) builtin() {
	c.step.grammar = true
	switch c.name {
	case "cd":
		c.cd()
	case "test", "[":
		c.test()
	case "set":
		c.set()
	case "unset", "read":
		c.names()
	case "trap":
		if rest := operands(c.args); len(rest) > 0 && (rest[0].text != "-" || !rest[0].known) {
			c.hard("it runs commands later")
		}
	case "source", ".":
		c.paths(c.args, false)
		c.hard("it runs the commands of a file in this shell")
	case "eval":
		c.hard("eval runs text as commands")
		c.evaluated()
	default:
		c.hard(c.name + " changes how the shell runs commands")
	}
}

// evaluated judges the text of an eval as far as it is known, so that what is
// refused is refused there too.
func (c *call) evaluated() {
	texts := make([]string, len(c.args))
	for i, w := range c.args {
		if !w.known {
			return
		}
		texts[i] = w.text
	}
	c.script(strings.Join(texts, " "))
}

func (c *call) cd() {
	dirs := operands(c.args)
	switch {
	case c.repeated() || c.function:
		c.hard("where a repeated cd leads is known only when it runs")
	case len(dirs) != 1 || !dirs[0].known || dirs[0].text == "-" || dirs[0].text == "":
		c.hard("where it leads is known only when it runs")
	case len(c.dirs) > maxDirs/2:
		c.hard("it changes the directory too often to judge")
	default:
		c.path(dirs[0], false)
		c.enter(dirs[0].text)
	}
}

// test judges [ and test. What the words are has to be clear beforehand: a test
// of a variable by name evaluates the name, commands within it included.
func (c *call) test() {
	args := c.args
	if c.name == "[" && len(args) > 0 {
		args = args[:len(args)-1]
	}
	sure := c.allKnown() && !c.word("-v", "-R")
	if !sure && len(args) == 2 && !args[1].split {
		sure = isOneOf(args[0], "-n", "-z", "-e", "-f", "-d", "-x", "-r", "-w", "-s", "-L", "-h")
	}
	if !sure && len(args) == 3 && !args[0].split && !args[2].split {
		sure = isOneOf(args[1], "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef")
	}
	if !sure {
		c.hard("testing a variable by name can run commands")
	}
}

func isOneOf(w word, words ...string) bool { return w.known && slices.Contains(words, w.text) }

// set allows the options scripts begin with.
func (c *call) set() {
	if len(c.args) == 0 {
		c.hard("it shows every variable there is")
	}
	for i, w := range c.args {
		switch {
		case !w.known:
			c.hard("it changes how the shell runs commands")
		case w.text == "--":
			return
		case i > 0 && (c.args[i-1].text == "-o" || strings.HasSuffix(c.args[i-1].text, "o") && c.args[i-1].text[0] == '-'):
			if w.text != "pipefail" && w.text != "errexit" && w.text != "nounset" && w.text != "xtrace" {
				c.hard("it changes how the shell runs commands")
			}
		case len(w.text) < 2 || w.text[0] != '-' && w.text[0] != '+' || strings.Trim(w.text[1:], "euxo") != "":
			c.hard("it changes how the shell runs commands")
		}
	}
}

// names judges commands that take names of variables.
func (c *call) names() {
	for _, w := range c.args {
		switch {
		case w.known && strings.HasPrefix(w.text, "-") && !strings.ContainsAny(w.text, "aA"):
		case w.known && isName(w.text):
			c.assign(w.text) // or the value of an option, which is no harm
		default:
			c.hard("which variable it changes is known only when it runs")
		}
	}
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

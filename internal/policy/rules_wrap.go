package policy

import "strings"

// inner judges a command another command runs, as a step of its own.
func (c *call) inner(words []word) {
	if c.wrapped == maxWrapped {
		c.trouble(c.step.text, "commands within commands are nested too deeply to judge")
		return
	}
	c.wrapped++
	shown := c.step.text
	c.simple(words, func() string { return clip(shown) })
	c.wrapped--
}

// replace judges the command that a wrapper runs, and instead of the wrapper
// where that is harmless.
func (c *call) replace(words []word) {
	c.inner(words)
	if !c.step.hard {
		c.step.text = ""
	}
}

// shell judges shells: text given to them is judged like any other, a script of
// the repository is code of the repository.
func (c *call) shell() {
	for i, w := range c.args {
		switch {
		case !w.known:
			c.hard("what it runs is known only when it runs")
			return
		case w.text == "--version":
			return
		case !strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "+"):
			c.repo("it runs a script")
			c.paths(c.args[i:], false)
			return
		case strings.HasPrefix(w.text, "--"):
			c.hard("its options change what it runs")
		case strings.Contains(w.text, "c"):
			c.shellText(c.args[i+1:])
			return
		case strings.Trim(w.text[1:], "eux") != "":
			c.hard("its options change what it runs")
		}
	}
	c.hard("it runs whatever it reads")
}

// shellText judges the text after -c.
func (c *call) shellText(args []word) {
	switch {
	case len(args) == 0 || !args[0].known || strings.HasPrefix(args[0].text, "-"):
		c.hard("the text it runs is known only when it runs")
	case c.name == "fish" || c.name == "csh" || c.name == "tcsh" || c.name == "zsh":
		c.hard("its text is in the language of " + c.name)
		c.script(args[0].text)
	case c.step.hard:
		c.script(args[0].text)
	default:
		c.step.text = ""
		c.script(args[0].text)
	}
}

// wrapper judges commands whose arguments are a command.
func (c *call) wrapper() {
	switch c.name {
	case "sudo", "doas", "su", "run0", "pkexec":
		c.raise(High, "it acts with the rights of another user")
		c.forbiddenOnly()
		return
	case "env":
		c.env()
		return
	case "xargs":
		c.xargs()
		return
	case "command":
		if c.tellsOnly() {
			c.step.grammar = true
			return
		}
	case "exec":
		c.step.grammar = len(c.args) == 0
	}
	rest, ok := c.skipOptions()
	switch {
	case !ok:
		c.hard("its options are unusual")
		if len(rest) > 0 {
			c.inner(rest)
		}
	case len(rest) > 0:
		c.replace(rest)
	}
}

// tellsOnly reports whether command says what its words are instead of running
// them. Only what stands before the first of these is its own.
func (c *call) tellsOnly() bool {
	tells := false
	for _, w := range c.args {
		if !w.known || len(w.text) < 2 || w.text[0] != '-' || w.text == "--" {
			break
		}
		if strings.Trim(w.text[1:], "pvV") != "" {
			return false
		}
		tells = tells || w.text != "-p"
	}
	return tells
}

// skipOptions returns the command of a wrapper, and false when an option is not
// understood.
func (c *call) skipOptions() ([]word, bool) {
	valued := map[string]string{
		"nice": "n", "timeout": "ks", "gtimeout": "ks", "stdbuf": "ioe", "ionice": "cn", "exec": "", "time": "", "caffeinate": "tw",
	}[c.name]
	ok := true
	i := 0
	for ; i < len(c.args); i++ {
		w := c.args[i]
		if !w.known || !strings.HasPrefix(w.text, "-") {
			break
		}
		switch {
		case w.text == "--":
			return c.args[i+1:], ok
		case len(w.text) == 2 && strings.Contains(valued, w.text[1:]):
			i++
			ok = ok && i < len(c.args) && c.args[i].known
		case len(w.text) > 2 && w.text[1] != '-' && strings.Contains(valued, w.text[1:2]):
		case w.text == "-p" || w.text == "--preserve-status" || w.text == "--foreground":
		case isNumber(w.text[1:]) && c.name == "nice":
		default:
			ok = false
		}
	}
	if (c.name == "timeout" || c.name == "gtimeout" || c.name == "chrt" || c.name == "taskset") && i < len(c.args) {
		if !c.args[i].known {
			ok = false
		}
		i++
	}
	return c.args[min(i, len(c.args)):], ok
}

func (c *call) env() {
	i := 0
	for ; i < len(c.args); i++ {
		w := c.args[i]
		name, _, assigned := strings.Cut(w.text, "=")
		switch {
		case !w.known && !(assigned && isName(name) && !w.split):
			c.hard("an argument is known only when it runs")
			return
		case w.text == "-i" || w.text == "-":
		case w.text == "-u" && i+1 < len(c.args):
			if i++; !c.args[i].known {
				c.hard(severalWords)
			}
		case strings.HasPrefix(w.text, "-"):
			c.hard("its options change what it runs")
		case assigned && isName(name):
			c.environment(name)
		default:
			if c.step.hard {
				c.inner(c.args[i:])
			} else {
				c.replace(c.args[i:])
			}
			return
		}
	}
}

// severalWords is why a pattern as the value of an option asks: the second name
// it matches is what the wrapper runs.
const severalWords = "the value of an option is known only when it runs, and may be several words"

// xargs judges the command it repeats; what it appends is not known.
func (c *call) xargs() {
	replaced := "" // what stands for the input within the command
	i := 0
	for ; i < len(c.args); i++ {
		w := c.args[i]
		if !w.known || !strings.HasPrefix(w.text, "-") {
			break
		}
		if mark, ok := strings.CutPrefix(w.text, "-I"); ok {
			if replaced = mark; mark == "" && i+1 < len(c.args) {
				replaced = c.args[i+1].text
			}
		}
		switch w.text {
		case "-n", "-P", "-L", "-I", "-d", "-s", "-E":
			if i++; i < len(c.args) && !c.args[i].known {
				c.hard(severalWords)
			}
		case "-0", "-r", "-t", "--null", "--no-run-if-empty":
		default:
			if len(w.text) < 3 || w.text[1] == '-' || !strings.Contains("nPLIds", w.text[1:2]) {
				c.hard("its options are unusual")
			}
		}
	}
	if i >= len(c.args) {
		return
	}
	var words []word
	for _, w := range c.args[i:] {
		if replaced != "" && strings.Contains(w.text, replaced) {
			w.known = false
		}
		words = append(words, w)
	}
	words = append(words, word{split: true})
	if c.step.hard {
		c.inner(words)
		return
	}
	c.replace(words)
}

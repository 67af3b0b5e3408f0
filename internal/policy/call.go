package policy

import (
	"path"
	"strings"
)

// call is one simple command being judged.
type call struct {
	*scan
	step step
	name string // the program, without its directory when that is a system one
	args []word
}

// simple judges a simple command. text says how to show it when its words are
// not all known.
func (sc *scan) simple(words []word, text func() string) {
	first := words[0]
	if !first.known {
		sc.trouble(text(), "which command it runs is known only when it runs")
		return
	}
	c := &call{scan: sc, name: programName(first.text), args: words[1:]}
	canonical := append([]word{literal(c.name)}, c.args...)
	c.step = step{program: c.name, pattern: joinWords(canonical)}
	if c.step.loose, c.step.text = c.step.pattern, clip(c.step.pattern); c.step.pattern == "" {
		c.step.loose, c.step.text = joinLoosely(canonical), text()
	}
	c.options()
	if strings.Contains(c.name, "/") {
		c.localProgram()
	} else {
		c.rules()
	}
	c.finish()
}

// options looks for names of files that begin with a dash and that a pattern
// among the arguments would bring in as options, wherever it stands.
func (c *call) options() {
	for _, w := range c.args {
		if w.glob {
			c.matches(w)
		}
	}
}

// programName drops the directory of a program of the system.
func programName(name string) string {
	switch dir, base := path.Split(name); dir {
	case "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/":
		return base
	}
	return name
}

// localProgram judges a program named by its path, such as a script of the
// repository.
func (c *call) localProgram() {
	c.step.repo = true
	c.step.reason = "it runs a program of the repository"
	for _, dir := range c.dirs {
		if p := c.look(c.name, dir); !p.InRoot || p.Forbidden {
			c.place(p, false)
			c.hard("it runs a program by its path")
		}
	}
	switch path.Base(c.name) {
	case "rm", "sudo", "dd", "mkfs":
		c.raise(High, "it runs a program of that name by its path")
	}
	c.paths(c.args, false)
}

func (c *call) finish() {
	if c.step.program != "" && c.step.text == "" {
		return // a wrapper whose inner command was judged in its place
	}
	c.add(c.step)
}

// raise sets the risk unless it is higher already.
func (c *call) raise(r Risk, reason string) {
	if r > c.step.risk {
		c.step.risk = r
		if !c.step.hard || r == High {
			c.step.reason = reason
		}
	}
}

// hard makes the command ask whatever lists and grants say.
func (c *call) hard(reason string) {
	if c.step.risk < High && !c.step.hard {
		c.step.reason = reason
	}
	c.step.hard = true
	c.step.risk = max(c.step.risk, Medium)
}

// repo marks a command that runs code or settings of the repository.
func (c *call) repo(reason string) {
	c.step.repo = true
	if c.step.reason == "" {
		c.step.reason = reason
	}
}

// reach marks a command that uses the network.
func (c *call) reach() { c.step.reaches = true }

// paths judges all words as paths, the values of options too. Behind -- a word
// is a path whatever it looks like, unless -- was the value of an option.
func (c *call) paths(words []word, write bool) {
	only := false
	for _, w := range words {
		c.operand(w, write)
		if only && strings.HasPrefix(w.text, "-") {
			c.path(w, write)
		}
		only = only || w.known && w.text == "--"
	}
}

// files judges words that stand where options have ended, for most programs:
// some take options there too.
func (c *call) files(words []word, write bool) {
	for _, w := range words {
		c.operand(w, write)
		if w.known && strings.HasPrefix(w.text, "-") {
			c.path(w, write)
		}
	}
}

// operand judges a word that may be a path or an option holding one.
func (c *call) operand(w word, write bool) {
	if !strings.HasPrefix(w.text, "-") || !w.known {
		c.path(w, write)
		return
	}
	value := w.text[1:]
	if strings.HasPrefix(value, "-") {
		if _, value, _ = strings.Cut(value, "="); value != "" && value != "/" {
			c.path(literal(c.atHome(value)), write)
		}
		return
	}
	if i := strings.IndexAny(value, fileLetters(c.name)); i >= 0 && i+1 < len(value) {
		c.path(literal(c.atHome(value[i+1:])), write)
	}
	if len(value) > 1 {
		c.optionValue(value[1:], write)
	}
	if i := strings.IndexAny(value, "/~"); i > 0 {
		c.optionValue(value[i:], write)
	}
}

func (c *call) optionValue(value string, write bool) {
	if value == "/" || !strings.ContainsAny(value, "/~") && !strings.Contains(value, "..") {
		return
	}
	c.path(literal(c.atHome(value)), write)
}

// atHome reads a ~ that some programs read themselves.
func (c *call) atHome(value string) string {
	if rest, ok := strings.CutPrefix(value, "~/"); ok && c.home != "" {
		return c.home + "/" + rest
	}
	return value
}

// fileLetters are the short options of a program that take a file and may have
// it in the same word, as in grep -fnames. Such a name needs no slash to be a
// link that leads elsewhere.
func fileLetters(program string) string {
	switch program {
	case "grep", "egrep", "fgrep", "rg", "jq":
		return "f"
	case "sort":
		return "oT"
	case "diff":
		return "XS"
	case "tar", "bsdtar", "gtar":
		return "fCXTgK"
	case "cp", "mv", "ln", "install":
		return "t"
	case "touch", "truncate":
		return "r"
	case "du":
		return "X"
	case "git":
		return "F"
	case "patch":
		return "diopr"
	}
	return ""
}

// path judges one path a command names, from everywhere the script may stand.
func (c *call) path(w word, write bool) {
	switch {
	case w.pipe || w.known && (w.text == "-" || w.text == "" || harmlessDevice(w.text, write)):
		return
	case w.glob:
		c.globbed(w, write)
		return
	case !w.known:
		c.hard("an argument is known only when it runs")
		return
	case strings.HasPrefix(strings.ToLower(w.text), "file:"):
		c.hard("it names a file by a URL")
		return
	case strings.Contains(w.text, "://"):
		return
	}
	for _, dir := range c.dirs {
		c.place(c.look(w.text, dir), write)
	}
}

func (c *call) globbed(w word, write bool) {
	for _, dir := range c.dirs {
		c.place(c.look(globBase(w.text), dir), write)
	}
	for _, p := range c.matches(w) {
		c.place(p, write)
	}
}

// matches returns what a pattern matches. Where that cannot be told, or where
// it brings in options, the command asks.
func (c *call) matches(w word) []Path {
	var all []Path
	for _, dir := range c.dirs {
		if c.subject.Glob == nil {
			c.hard(unknownFiles)
			continue
		}
		found, ok := c.subject.Glob(w.text, dir)
		if !ok {
			c.hard(unknownFiles)
		}
		for _, p := range found {
			if p.Option {
				c.hard("a file name that the pattern matches begins with - and is read as an option")
			}
		}
		all = append(all, found...)
	}
	return all
}

const unknownFiles = "which files a pattern matches is known only when it runs"

func (c *call) place(p Path, write bool) {
	switch {
	case p.Forbidden:
		c.step.forbidden = p.Abs
	case !p.InRoot:
		c.step.edit = false
		c.hard(p.Abs + " is outside the session's directories")
	case write && runsCode(p.Abs):
		c.step.edit = false
		c.hard(p.Abs + " can make later commands run other programs")
	}
}

// harmlessDevice reports a device file that anybody may read, or write. To write
// to /dev/stdin is to open for writing what the command only reads.
func harmlessDevice(name string, write bool) bool {
	switch name {
	case "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/urandom", "/dev/tty":
		return true
	case "/dev/stdin":
		return !write
	}
	return false
}

// long reports whether an argument is one of the long options, shortened or
// with a value.
func (c *call) long(options ...string) bool {
	for _, w := range c.args {
		name, ok := strings.CutPrefix(w.text, "--")
		name, _, _ = strings.Cut(name, "=")
		if !ok || name == "" {
			continue
		}
		for _, o := range options {
			if strings.HasPrefix(o, name) {
				return true
			}
		}
	}
	return false
}

// short reports whether a cluster of short options holds one of the letters.
func (c *call) short(letters string) bool {
	for _, w := range c.args {
		if len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' && strings.ContainsAny(w.text[1:], letters) {
			return true
		}
	}
	return false
}

// word reports whether an argument is exactly one of the words.
func (c *call) word(words ...string) bool {
	for _, w := range c.args {
		for _, s := range words {
			if w.text == s {
				return true
			}
		}
	}
	return false
}

// operands returns the arguments that are no options. Values of options given
// as separate words are among them.
func operands(args []word) []word {
	var list []word
	for i, w := range args {
		if w.known && w.text == "--" {
			return append(list, args[i+1:]...)
		}
		if !strings.HasPrefix(w.text, "-") || w.text == "-" || !w.known {
			list = append(list, w)
		}
	}
	return list
}

// allKnown reports whether every argument is known or a pattern.
func (c *call) allKnown() bool {
	for _, w := range c.args {
		if !w.known && !w.glob {
			return false
		}
	}
	return true
}

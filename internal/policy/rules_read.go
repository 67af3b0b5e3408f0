package policy

import (
	"slices"
	"strings"
)

// reader judges commands that read files and show them.
func (c *call) reader() bool {
	switch c.name {
	case "cat", "head", "tail", "wc", "nl", "tac", "rev", "column", "fold", "fmt", "join", "paste", "comm", "expand",
		"unexpand", "cmp", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "md5",
		"shasum", "sum", "strings", "od", "hexdump", "base64", "base32", "stat", "du", "df", "ls", "dir", "vdir", "readlink",
		"realpath", "zcat", "gzcat", "xzcat", "bzcat", "zstdcat", "tsort", "pathchk",
		"exa", "eza", "tokei", "scc":
		c.walksLinks()
		c.paths(c.args, false)
	case "cut":
		for _, w := range operands(c.args) {
			c.path(w, false)
		}
	case "grep", "egrep", "fgrep", "rg", "ag":
		c.grep()
	case "find", "fd", "fdfind", "tree", "file":
		c.find()
	case "sed", "gsed":
		c.sed()
	case "awk", "gawk", "mawk", "nawk":
		c.awk()
	case "jq":
		c.jq()
	case "sort", "uniq", "diff", "xxd":
		c.readerThatWrites()
	default:
		return false
	}
	return true
}

// walksLinks judges options with which a command reads what no argument names:
// behind links it finds, or from a list in a file.
func (c *call) walksLinks() {
	const links = "it follows links out of the session's directories"
	switch c.name {
	case "ls", "dir", "vdir":
		if (c.short("R") || c.long("recursive")) && (c.short("L") || c.long("dereference")) {
			c.raise(Medium, links)
		}
	case "exa", "eza":
		if c.short("X") || c.long("dereference", "follow-symlinks") {
			c.raise(Medium, links)
		}
	case "du":
		if c.short("L") || c.long("dereference") {
			c.raise(Medium, links)
		}
	}
	if c.long("files0-from") || c.readsList() {
		c.hard("it reads the names of other files from a file")
	}
}

// readsList reports options of single programs that name a list of files, and of
// zstd those that make it write.
func (c *call) readsList() bool {
	switch {
	case c.name == "strings":
		return slices.ContainsFunc(c.args, func(w word) bool { return strings.HasPrefix(w.text, "@") })
	case c.name == "zstdcat":
		return c.short("orDOM") || c.long("filelist", "output-dir-flat", "output-dir-mirror")
	case strings.HasSuffix(c.name, "sum") || c.name == "md5":
		return c.short("c") || c.long("check")
	}
	return false
}

// grep judges searches: the first operand is what to look for unless an option
// holds it.
func (c *call) grep() {
	if c.name == "rg" && (c.long("pre", "hostname-bin", "search-zip") || c.short("z")) {
		c.hard("it runs another program on the files")
	}
	if c.long("pager") {
		c.hard("it runs another program on its output")
	}
	switch {
	case c.name == "rg" && (c.long("follow") || c.short("L")),
		c.name == "ag" && (c.long("follow") || c.short("f")),
		c.name != "rg" && c.name != "ag" && (c.long("dereference-recursive") || c.short("RS")):
		c.raise(Medium, "it follows links out of the session's directories")
	}
	c.afterFirst(!c.short("ef") && !c.long("regexp", "file", "files"))
}

// afterFirst judges the operands as paths, without the first when that is an
// expression. It is a lone - too, and whatever stands behind --.
func (c *call) afterFirst(expression bool) {
	skipped, only := !expression, false
	for _, w := range c.args {
		option := w.known && strings.HasPrefix(w.text, "-") && w.text != "-"
		switch {
		case !skipped && (!option || only):
			skipped = true
			if !w.known && !w.glob {
				c.hard("an argument is known only when it runs")
			}
			if option { // should -- have been the value of an option
				c.operand(w, false)
			}
		case only && option:
			c.operand(w, false)
			c.path(w, false)
		default:
			c.operand(w, false)
		}
		only = only || w.known && w.text == "--"
	}
}

// find judges commands that walk a tree.
func (c *call) find() {
	c.walkActions()
	if c.name != "find" {
		c.paths(c.args, false)
		return
	}
	if c.word("-D") {
		c.hard("the word behind -D is not what it looks like")
	}
	for i, w := range c.args {
		switch {
		case !w.known && !w.glob:
			c.hard("an argument is known only when it runs")
		case strings.HasPrefix(w.text, "-") || w.text == "(" || w.text == "!":
		case i > 0 && isPatternOption(c.args[i-1].text):
		default:
			c.path(w, false)
		}
	}
}

func isPatternOption(s string) bool {
	switch s {
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname",
		"-printf", "-perm", "-type", "-size", "-mtime", "-maxdepth", "-mindepth":
		return true
	}
	return false
}

func (c *call) walkActions() {
	for i, w := range c.args {
		switch w.text {
		case "-delete":
			c.raise(High, "it deletes what it finds")
			c.step.form = true
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			if c.name == "tree" || c.name == "file" {
				continue
			}
			c.hard("it runs a command on what it finds")
			if rest := c.args[i+1:]; len(rest) > 0 {
				c.inner(rest)
			}
		case "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from":
			c.hard("it writes or reads a list in a file")
		}
	}
	const links = "it follows links out of the session's directories"
	switch {
	case c.name == "find" && (c.short("L") || c.word("-follow")),
		c.name == "tree" && c.short("l"),
		(c.name == "fd" || c.name == "fdfind") && (c.short("L") || c.long("follow")):
		c.raise(Medium, links)
	}
	switch {
	case c.name == "tree" && (c.short("oR") || c.long("output")):
		c.hard("it writes a file")
	case c.name == "file" && (c.short("Cmf") || c.long("compile", "magic-file", "files-from")):
		c.hard("it compiles or loads a magic file, or reads the names of others from a file")
	case (c.name == "fd" || c.name == "fdfind") && (c.short("xX") || c.long("exec", "exec-batch")):
		c.hard("it runs a command on what it finds")
	}
}

// jq reads a filter, then files.
func (c *call) jq() {
	for _, w := range c.args {
		switch {
		case strings.Contains(w.text, "import") || strings.Contains(w.text, "include"):
			c.hard("its filter reads other files")
		case strings.Contains(strings.ToLower(w.text), "env"):
			c.hard("its filter can show the environment")
		}
	}
	c.afterFirst(!c.short("f") && !c.long("from-file"))
}

// readerThatWrites judges commands that read unless told to write.
func (c *call) readerThatWrites() {
	switch c.name {
	case "sort":
		if c.long("compress-program", "files0-from", "temporary-directory") || c.short("T") {
			c.hard("it runs another program or uses other files")
		}
		if c.short("o") || c.long("output") {
			c.raise(Medium, "it writes a file")
			c.paths(c.args, true)
		}
	case "uniq", "xxd":
		if len(operands(c.args)) > 1 || !c.wordsKnown() || c.short("r") {
			c.raise(Medium, "it writes a file")
			c.paths(c.args, true)
		}
	case "diff":
		if c.short("r") || c.long("recursive") || c.takesDirectory() {
			c.raise(Medium, "it follows links out of the session's directories")
		}
	}
	c.paths(c.args, false)
}

// wordsKnown reports whether every argument is one word that is known.
func (c *call) wordsKnown() bool {
	return !slices.ContainsFunc(c.args, func(w word) bool { return !w.known })
}

// takesDirectory reports an argument that is or may be a directory.
func (c *call) takesDirectory() bool {
	for _, w := range c.args {
		if w.pipe || w.known && strings.HasPrefix(w.text, "-") {
			continue
		}
		if !w.known || c.subject.Glob == nil {
			return true
		}
		for _, dir := range c.dirs {
			// Every directory has the names . and .., and no file has.
			if found, ok := c.subject.Glob(escapeGlob(w.text)+"/.*", dir); !ok || len(found) > 0 {
				return true
			}
		}
	}
	return false
}

package policy

import "strings"

// sed judges a sed script: only addresses and commands that print, delete,
// substitute and move text are let through.
func (c *call) sed() {
	if c.short("i") || c.long("in-place") {
		c.raise(Medium, "it changes files")
		c.step.edits = true
	}
	if c.long("file") || c.hasScriptFile() {
		c.hard("it runs a script from a file")
	}
	script, files := c.sedScript()
	if script == nil {
		c.hard("its script is known only when it runs")
	} else if !safeSed(strings.Join(script, "\n")) {
		c.hard("its script can run commands or use other files")
	}
	c.files(files, c.step.risk > Low)
}

// hasScriptFile reports -f, alone or at the end of a cluster.
func (c *call) hasScriptFile() bool {
	for _, w := range c.args {
		if len(w.text) > 1 && w.text[0] == '-' && w.text[1] != '-' {
			if head, _, _ := strings.Cut(w.text[1:], "e"); strings.Contains(head, "f") {
				return true
			}
		}
	}
	return false
}

// sedScript returns the parts of the script and the files; a nil script is not
// known.
func (c *call) sedScript() (script []string, files []word) {
	for i := 0; i < len(c.args); i++ {
		w := c.args[i]
		if !w.known {
			files = append(files, w)
			continue
		}
		if w.text == "--" {
			if i > 0 && sedTakesWord(c.args[i-1].text) {
				c.hard("its options are unusual")
			}
			files = append(files, c.args[i+1:]...)
			break
		}
		flag, inline := sedExpression(w.text)
		switch {
		case flag && inline != "":
			script = append(script, inline)
		case flag && i+1 < len(c.args) && c.args[i+1].known:
			i++
			script = append(script, c.args[i].text)
		case flag:
			return nil, append(files, c.args[i+1:]...)
		case !strings.HasPrefix(w.text, "-") || w.text == "-":
			files = append(files, w)
		}
	}
	if script == nil && len(files) > 0 && files[0].known && c.firstOperandKnown() {
		return []string{files[0].text}, files[1:]
	}
	return script, files
}

// sedTakesWord reports an option that has a number behind it, and takes any word
// for one.
func sedTakesWord(s string) bool {
	long, ok := strings.CutPrefix(s, "--")
	return ok && strings.HasPrefix(long, "l") || !ok && len(s) > 1 && s[0] == '-' && strings.HasSuffix(s, "l")
}

// firstOperandKnown makes sure that the word taken for the script is what sed
// takes for it.
func (c *call) firstOperandKnown() bool {
	for _, w := range c.args {
		if !w.known {
			return false
		}
		if !strings.HasPrefix(w.text, "-") {
			return true
		}
	}
	return false
}

// sedExpression reports an option that holds a script, and the script when it is
// in the same word.
func sedExpression(s string) (bool, string) {
	if name, ok := strings.CutPrefix(s, "--"); ok {
		name, value, _ := strings.Cut(name, "=")
		return name != "" && strings.HasPrefix("expression", name), value
	}
	if len(s) > 1 && s[0] == '-' {
		if head, rest, ok := strings.Cut(s[1:], "e"); ok && strings.Trim(head, "nErsuz") == "" {
			return true, rest
		}
	}
	return false, ""
}

// sedReader walks a sed script.
type sedReader struct{ s string }

// safeSed reports whether a script only edits the text that flows through.
func safeSed(script string) bool {
	r := &sedReader{script}
	for {
		r.s = strings.TrimLeft(r.s, " \t\n;{}")
		if r.s == "" {
			return true
		}
		if r.s[0] == '#' {
			r.line()
			continue
		}
		if !r.address() || !r.command() {
			return false
		}
	}
}

// line returns the rest of the line and moves on.
func (r *sedReader) line() string {
	line, rest, _ := strings.Cut(r.s, "\n")
	r.s = rest
	return line
}

// address skips what selects lines.
func (r *sedReader) address() bool {
	for r.s != "" {
		switch c := r.s[0]; {
		case strings.IndexByte("0123456789$,~+! \t", c) >= 0:
			r.s = r.s[1:]
		case c == '/' || c == '\\' && len(r.s) > 1:
			delim := r.s[0]
			r.s = r.s[1:]
			if c == '\\' {
				delim = r.s[0]
				r.s = r.s[1:]
			}
			if !r.upTo(delim) {
				return false
			}
			r.s = strings.TrimLeft(r.s, "IM")
		default:
			return true
		}
	}
	return false
}

// upTo skips text to an unescaped delimiter.
func (r *sedReader) upTo(delim byte) bool {
	if delim == '\n' || delim == '\\' {
		return false
	}
	for i := 0; i < len(r.s); i++ {
		switch r.s[i] {
		case '\\':
			i++
		case '[':
			// Within brackets the delimiter may stand for itself in some
			// versions and not in others.
			if end := bracketEnd(r.s[i:]); end < 0 || strings.IndexByte(r.s[i:i+end], delim) >= 0 {
				return false
			}
		case delim:
			r.s = r.s[i+1:]
			return true
		}
	}
	return false
}

// bracketEnd returns where the bracket expression that s begins with ends, -1
// when it does not. A ] right at its start and classes such as [:alpha:] do not
// end it.
func bracketEnd(s string) int {
	i := 1
	if i < len(s) && s[i] == '^' {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == ']':
			return i
		case s[i] == '[' && i+1 < len(s) && strings.IndexByte(":.=", s[i+1]) >= 0:
			end := strings.Index(s[i+2:], s[i+1:i+2]+"]")
			if end < 0 {
				return -1
			}
			i += end + 3
		}
	}
	return -1
}

func (r *sedReader) command() bool {
	c := r.s[0]
	r.s = r.s[1:]
	switch c {
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'l', 'n', 'N', 'p', 'P', 'q', 'Q', 'x', 'z', 'F':
		r.s = strings.TrimLeft(r.s, "0123456789 \t")
		return r.s == "" || strings.IndexByte("\n;}#", r.s[0]) >= 0
	case '{', '}':
		return true
	case 's', 'y':
		return r.substitution(c)
	case 'a', 'i', 'c':
		return !strings.HasSuffix(r.line(), `\`)
	case 'b', 't', 'T', ':':
		return !strings.ContainsAny(r.line(), ";}")
	}
	return false
}

func (r *sedReader) substitution(c byte) bool {
	if r.s == "" {
		return false
	}
	delim := r.s[0]
	r.s = r.s[1:]
	for range 2 {
		if !r.upTo(delim) {
			return false
		}
	}
	if c == 's' {
		r.s = strings.TrimLeft(r.s, "gpiIM0123456789")
	}
	r.s = strings.TrimLeft(r.s, " \t")
	return r.s == "" || strings.IndexByte("\n;}#", r.s[0]) >= 0
}

// awk judges an awk program: without pipes, redirections, system and other
// files it only computes.
func (c *call) awk() {
	if !c.allKnown() {
		c.hard("an argument is known only when it runs")
	}
	program := -1
	for i := 0; i < len(c.args) && program < 0; i++ {
		switch w := c.args[i]; {
		case !w.known:
			program = i
		case w.text == "-F" || w.text == "-v":
			if i++; i < len(c.args) && !c.args[i].known {
				c.hard("its program is known only when it runs")
			}
		case strings.HasPrefix(w.text, "-F"), strings.HasPrefix(w.text, "-v"), w.text == "--":
		case strings.HasPrefix(w.text, "-"):
			c.hard("its options can load programs")
		default:
			program = i
		}
	}
	switch {
	case program < 0:
		return
	case !c.args[program].known:
		c.hard("its program is known only when it runs")
	case !safeAwk(c.args[program].text):
		c.hard("its program can run commands or use other files")
	}
	c.files(c.args[program+1:], false)
}

func safeAwk(program string) bool {
	program = strings.ReplaceAll(program, "||", "")
	return !strings.ContainsAny(program, "|>@`") && !strings.Contains(program, "system") &&
		!strings.Contains(program, "getline") && !strings.Contains(program, "ARG") && !strings.Contains(program, "ENVIRON") && !strings.Contains(program, "SYMTAB")
}

package policy

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is what is known of a word of a command before the command runs.
type word struct {
	text  string // the value when known, the pattern when glob
	known bool   // text is exactly what the command will see
	glob  bool   // text is a file name pattern, its other characters escaped
	pipe  bool   // the name of a pipe, from <(…) or >(…)
	split bool   // may become several words, or none
	// spread says of a word that is not known that it holds a pattern.
	spread bool
}

// literal makes a known word.
func literal(s string) word { return word{text: s, known: true} }

// wordReader evaluates the words of one script.
type wordReader struct {
	home string
	text strings.Builder
	w    word
	// braces notes unquoted { and a separator: together they may expand to
	// several words.
	brace, fork bool
	dynamic     bool // part of the value is known only when the command runs
	split       bool
}

// readWord evaluates a word as far as that is possible without running it.
func readWord(sw *syntax.Word, home string) word {
	r := &wordReader{home: home}
	parts := sw.Parts
	if len(parts) > 0 {
		if lit, ok := parts[0].(*syntax.Lit); ok {
			r.tilde(lit.Value, len(parts) == 1)
			parts = parts[1:]
		}
	}
	for _, p := range parts {
		r.part(p, false)
	}
	r.w.text = r.text.String()
	if r.w.text == "[" {
		r.w.glob = false // the command; a pattern needs its ]
	}
	if braces := r.brace && r.fork; r.dynamic || braces {
		return word{text: r.w.text, pipe: r.w.pipe, split: r.split || r.w.glob || braces, spread: r.w.glob}
	}
	r.w.known = !r.w.glob
	return r.w
}

// tilde reads a leading literal; an unquoted ~ in it is the home directory.
func (r *wordReader) tilde(s string, alone bool) {
	if !strings.HasPrefix(s, "~") {
		r.unquoted(s)
		return
	}
	rest := s[1:]
	if r.home == "" || rest == "" && !alone || rest != "" && rest[0] != '/' {
		r.unknown(true)
		return
	}
	r.text.WriteString(r.home)
	r.unquoted(rest)
}

// unknown notes a part whose value only running tells; outside quotes it may
// fall apart into several words.
func (r *wordReader) unknown(quoted bool) {
	r.dynamic = true
	r.split = r.split || !quoted
}

func (r *wordReader) part(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			r.quoted(p.Value)
		} else {
			r.unquoted(p.Value)
		}
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			r.unknown(true)
		}
		r.literal(p.Value)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			r.part(q, true)
		}
	case *syntax.ParamExp:
		if r.home != "" && p.Param != nil && p.Param.Value == "HOME" && plainParam(p) {
			r.text.WriteString(r.home)
			return
		}
		r.unknown(quoted && p.Index == nil && p.Param != nil && p.Param.Value != "@" && p.Names == 0)
	case *syntax.ProcSubst:
		r.unknown(true)
		r.w.pipe = true
	default:
		r.unknown(quoted)
	}
}

func plainParam(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Flags == nil && p.NestedParam == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// unquoted reads literal text in which the shell still sees patterns.
func (r *wordReader) unquoted(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i < len(s) && s[i] != '\n' {
				r.literal(s[i : i+1])
			}
		case '*', '?', '[':
			r.w.glob = true
			r.text.WriteByte(c)
		case '{':
			r.brace = true
			r.text.WriteByte(c)
		case ',':
			r.fork = true
			r.text.WriteByte(c)
		case '.':
			r.fork = r.fork || i+1 < len(s) && s[i+1] == '.'
			r.text.WriteByte(c)
		default:
			r.text.WriteByte(c)
		}
	}
}

// quoted reads literal text within double quotes.
func (r *wordReader) quoted(s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' {
				continue
			}
		}
		r.literal(s[i : i+1])
	}
}

// literal adds text that stands for itself. Should the word turn out to be a
// pattern, globText has to know which of its characters are not.
func (r *wordReader) literal(s string) {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("*?[", s[i]) >= 0 {
			r.text.WriteByte(escapeMark)
		}
		r.text.WriteByte(s[i])
	}
}

// escapeMark precedes a pattern character that stands for itself while a word
// is read. NUL cannot occur in a command.
const escapeMark = 0

// finish replaces the marks: by nothing in a known word, by a backslash in a
// pattern.
func (w word) finish() word {
	if strings.IndexByte(w.text, escapeMark) >= 0 {
		with := ""
		if w.glob {
			with = `\`
		}
		w.text = strings.ReplaceAll(w.text, string(rune(escapeMark)), with)
	}
	return w
}

// shellText writes a word the way a person would type it; "" when it is not
// known.
func (w word) shellText() string {
	switch {
	case w.glob:
		return w.text
	case !w.known:
		return ""
	case w.text != "" && strings.Trim(w.text, plainChars) == "":
		return w.text
	}
	return "'" + strings.ReplaceAll(w.text, "'", `'\''`) + "'"
}

const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./^-"

// joinLoosely is joinWords with … in place of what is not known.
func joinLoosely(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		if texts[i] = w.shellText(); texts[i] == "" {
			texts[i] = "…"
		}
	}
	return strings.Join(texts, " ")
}

// joinWords returns the canonical text of a simple command, "" when a word of
// it is not known.
func joinWords(words []word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		if texts[i] = w.shellText(); texts[i] == "" {
			return ""
		}
	}
	return strings.Join(texts, " ")
}

// globBase returns the directory a pattern starts in: all before its first
// component that holds a pattern character.
func globBase(pattern string) string {
	i := strings.IndexAny(pattern, `*?[\`)
	if i < 0 {
		return pattern
	}
	return path.Dir(pattern[:i] + "x")
}

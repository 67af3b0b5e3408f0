package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// maxScript bounds the text that is parsed: the parser recurses, and nobody
	// reads more than this before approving it.
	maxScript = 64 << 10
	// maxNesting bounds sh -c within sh -c.
	maxNesting = 4
	// maxWrapped bounds commands that run commands, such as nice timeout 5 ls.
	maxWrapped = 8
	// maxBrackets bounds brackets within brackets: the parser goes one deeper for
	// each, and back over the text for some.
	maxBrackets = 60
	// maxNodes bounds how deep a part of the syntax tree is judged.
	maxNodes = 400
	// maxDirs bounds the directories a script with several cd may stand in.
	maxDirs = 16
	// maxSteps bounds the parts of a script.
	maxSteps = 400
)

// step is one judged part of a command.
type step struct {
	text      string // for people
	program   string // the command's name; "" for what is no command
	pattern   string // canonical text; "" when not known beforehand
	loose     string // canonical text with … for what is not known
	plain     string // loose without the options in front of a subcommand; "" when it is the same
	general   string // a wider pattern a grant may cover instead
	risk      Risk
	reason    string // of the risk, of hard, or of repo
	hard      bool   // asks, and only an exact auto_approve entry says otherwise
	repo      bool   // runs code or settings of the repository
	grammar   bool   // part of the shell, needs no listing
	known     bool   // Grapnel knows what the program does
	edit      bool   // writes a file inside the roots
	edits     bool   // changes files inside the roots, by a program that may follow links in them
	forbidden string // a forbidden path it touches
	form      bool   // the risk is in the arguments, not in the program
	reaches   bool   // it is known to use the network
	network   bool   // it would run with the network
}

// scan collects the steps of a script.
type scan struct {
	parse   func(text string) (*syntax.File, error)
	subject *Subject
	home    string
	dirs    []string // where the script may stand
	steps   []step
	nesting int
	wrapped int
	parents []syntax.Node
	function,
	moved bool
}

// script parses and judges shell text.
func (sc *scan) script(text string) {
	if sc.nesting >= maxNesting {
		sc.trouble(text, "shells are nested too deeply to judge")
		return
	}
	if len(text) > maxScript || brackets(text) > maxBrackets {
		sc.trouble(text, "it is too long or too nested to judge")
		return
	}
	if strings.ContainsAny(text, "\x00\r") {
		sc.trouble(text, "it holds bytes shells read in different ways")
		return
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, misleads) {
		sc.trouble(text, "it holds characters that do not show, or that reorder what shows")
	}
	file, err := sc.parse(text)
	if err != nil {
		sc.trouble(text, "it cannot be parsed")
		return
	}
	outer := sc.parents
	sc.parents = nil
	sc.nesting++
	syntax.Walk(file, sc.visit)
	sc.nesting--
	sc.parents = outer
}

// misleads reports control characters, and those that reorder what stands around
// them.
func misleads(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029
}

// brackets returns how deep the brackets of a text are nested, as far as that
// can be seen without parsing.
func brackets(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
			most = max(most, depth)
		case ')', '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// trouble adds a step for something that cannot be judged.
func (sc *scan) trouble(text, reason string) {
	sc.add(step{text: clip(text), reason: reason, hard: true, risk: Medium})
}

func (sc *scan) add(s step) {
	if len(sc.steps) == maxSteps {
		s = step{text: "…", reason: "it has too many parts to judge", hard: true, risk: Medium}
	}
	if len(sc.steps) <= maxSteps {
		sc.steps = append(sc.steps, s)
	}
}

func clip(s string) string {
	if len(s) > 200 {
		return strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// visit judges one node of the syntax tree. Every command of the script is a
// node, wherever it stands.
func (sc *scan) visit(n syntax.Node) bool {
	if n == nil {
		sc.parents = sc.parents[:len(sc.parents)-1]
		return true
	}
	if len(sc.steps) > maxSteps {
		return false
	}
	if len(sc.parents) > maxNodes {
		sc.trouble("…", "it is too nested to judge")
		return false
	}
	switch n := n.(type) {
	case *syntax.CallExpr:
		sc.call(n)
	case *syntax.DeclClause:
		sc.declare(n)
	case *syntax.Redirect:
		sc.redirect(n)
	case *syntax.FuncDecl:
		sc.define(n)
	case *syntax.WordIter:
		sc.assign(n.Name.Value)
		for _, item := range n.Items {
			sc.expand(readWord(item, sc.home).finish())
		}
	default:
		sc.expression(n)
	}
	sc.parents = append(sc.parents, n)
	return true
}

func (sc *scan) call(n *syntax.CallExpr) {
	for _, a := range n.Assigns {
		if a.Name == nil {
			continue
		}
		if len(n.Args) > 0 {
			sc.environment(a.Name.Value)
		} else {
			sc.assign(a.Name.Value)
		}
	}
	if len(n.Args) == 0 {
		return
	}
	words := make([]word, len(n.Args))
	for i, a := range n.Args {
		words[i] = readWord(a, sc.home).finish()
		sc.expand(words[i])
	}
	sc.simple(words, func() string { return source(n) })
}

// expand judges a word that the shell replaces by names of files, whatever is
// done with these then: outside, the names alone tell something.
func (sc *scan) expand(w word) {
	switch {
	case !w.known && w.spread:
		sc.trouble(w.text, "which files a pattern matches is known only when it runs")
	case w.glob && strings.Contains(w.text, "/"):
		c := &call{scan: sc, step: step{text: clip(w.text), grammar: true, known: true}}
		if c.path(w, false); c.step.hard || c.step.forbidden != "" {
			c.finish()
		}
	}
}

// repeated reports whether the place the walk is at may run more than once or
// at another time than its position suggests.
func (sc *scan) repeated() bool {
	return slices.ContainsFunc(sc.parents, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.WhileClause, *syntax.ForClause, *syntax.FuncDecl:
			return true
		}
		return false
	})
}

func (sc *scan) define(n *syntax.FuncDecl) {
	risk, reason := Medium, "it defines a function, which can stand in for a command"
	name := ""
	if n.Name != nil {
		name = n.Name.Value
	}
	syntax.Walk(n.Body, func(b syntax.Node) bool {
		if c, ok := b.(*syntax.CallExpr); ok && len(c.Args) > 0 && name != "" && c.Args[0].Lit() == name {
			risk, reason = High, "the function "+name+" calls itself"
		}
		return true
	})
	sc.function = true
	sc.add(step{text: clip(name + "() { … }"), reason: reason, hard: true, risk: risk})
}

// expression judges the parts of shell syntax that can run commands or change
// variables without naming a command.
func (sc *scan) expression(n syntax.Node) {
	reason := ""
	switch n := n.(type) {
	case *syntax.ArithmExp:
		if reason = arithmetic(n.X); n.Bracket {
			reason = otherShells
		}
	case *syntax.ArithmCmd:
		reason = arithmetic(n.X)
	case *syntax.LetClause:
		reason = arithmetic(n.Exprs...)
	case *syntax.CStyleLoop:
		reason = arithmetic(n.Init, n.Cond, n.Post)
	case *syntax.ParamExp:
		reason = expansion(n)
	case *syntax.Assign:
		if n.Index != nil {
			reason = arithmetic(n.Index)
		}
	case *syntax.ArrayElem:
		if n.Value != nil {
			sc.expand(readWord(n.Value, sc.home).finish())
		}
		if n.Index != nil {
			reason = arithmetic(n.Index)
		}
	case *syntax.BinaryTest:
		reason = comparison(n)
	case *syntax.UnaryTest:
		if n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar {
			reason = "testing a variable by name can run commands"
		}
	case *syntax.ExtGlob:
		reason = "an extended pattern can hide commands"
	case *syntax.SglQuoted:
		if n.Dollar && strings.Contains(n.Value, `\`) {
			reason = otherShells
		}
	case *syntax.CoprocClause:
		if n.Name != nil {
			sc.assign(n.Name.Lit())
		}
	}
	if reason != "" {
		sc.trouble(source(n), reason)
	}
}

// otherShells is why a form asks that bash reads as text or as an expression and
// a plain POSIX shell as commands.
const otherShells = "shells other than bash read this as commands"

const arithmeticReason = "arithmetic on a variable can run commands the variable holds"

// arithmetic returns why an expression is not harmless: the shell evaluates what
// variables in it hold, array subscripts with command substitutions included.
func arithmetic(exprs ...syntax.ArithmExpr) string {
	for _, x := range exprs {
		if !numeric(x) {
			return arithmeticReason
		}
	}
	return ""
}

func numeric(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.Word:
		return isNumber(x.Lit())
	case *syntax.ParenArithm:
		return numeric(x.X)
	case *syntax.UnaryArithm:
		return numeric(x.X)
	case *syntax.BinaryArithm:
		return numeric(x.X) && numeric(x.Y)
	}
	return false
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func expansion(p *syntax.ParamExp) string {
	switch {
	case p.Excl || p.Names != 0 || p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0:
		return "an indirect expansion is known only when it runs"
	case p.Index != nil && !numeric(p.Index) && !allElements(p.Index):
		return arithmeticReason
	case p.Slice != nil:
		return arithmetic(p.Slice.Offset, p.Slice.Length)
	case p.Exp == nil:
		return ""
	}
	switch p.Exp.Op {
	case syntax.OtherParamOps:
		return "this expansion can run commands the variable holds"
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return "this expansion sets a variable"
	}
	return ""
}

// allElements reports an index of @ or *.
func allElements(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

func comparison(n *syntax.BinaryTest) string {
	switch n.Op {
	case syntax.AndTest, syntax.OrTest, syntax.TsBefore, syntax.TsAfter:
		return otherShells
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		for _, side := range []syntax.TestExpr{n.X, n.Y} {
			if w, ok := side.(*syntax.Word); !ok || !isNumber(w.Lit()) {
				return arithmeticReason
			}
		}
	}
	return ""
}

// redirect judges a redirection as the access to a file it is.
func (sc *scan) redirect(n *syntax.Redirect) {
	write := true
	switch n.Op {
	case syntax.RdrIn:
		write = false
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		if lit := n.Word.Lit(); lit == "-" || isNumber(strings.TrimSuffix(lit, "-")) {
			if lit != "-" && lit != "1" && lit != "2" {
				sc.trouble(n.Op.String()+lit, reopens)
			}
			return
		}
	}
	w := readWord(n.Word, sc.home).finish()
	if w.pipe {
		return
	}
	text := n.Op.String() + " " + w.shellText()
	st := step{text: text, grammar: true, known: true}
	if w.known {
		st.pattern, st.loose = text, text
	}
	c := &call{scan: sc, step: st}
	if strings.HasPrefix(w.text, "/dev/tcp/") || strings.HasPrefix(w.text, "/dev/udp/") {
		c.raise(High, "it opens a network connection")
		c.reach()
	}
	if n.N != nil && !isNumber(n.N.Value) {
		c.hard("it redirects to a descriptor held in a variable")
	}
	if !write && n.N != nil && n.N.Value != "0" {
		c.hard(reopens)
	}
	if write && !harmlessDevice(w.text, true) {
		c.raise(Medium, "it writes a file")
		c.step.edit = true
	}
	c.path(w, write)
	c.finish()
}

// reopens is why reading through another descriptor than the usual one asks.
const reopens = "a file read through this descriptor could be opened for writing by the descriptor's name"

// declare judges export, declare, local and their like.
func (sc *scan) declare(n *syntax.DeclClause) {
	variant := n.Variant.Value
	if showsVariables(n) {
		sc.trouble(source(n), "it shows every variable there is")
	}
	for _, a := range n.Args {
		switch {
		case a.Naked && a.Name == nil:
			if a.Value == nil || strings.Trim(a.Value.Lit(), "-rxgp") != "" || a.Value.Lit() == "" {
				sc.trouble(source(n), "this declaration can change how variables are read")
			}
		case a.Name != nil && variant == "export":
			sc.environment(a.Name.Value)
		case a.Name != nil:
			sc.assign(a.Name.Value)
		}
	}
	if variant == "nameref" {
		sc.trouble(source(n), "this declaration can change how variables are read")
	}
}

// showsVariables reports a declaration that only lists.
func showsVariables(n *syntax.DeclClause) bool {
	for _, a := range n.Args {
		if a.Name != nil {
			return false
		}
	}
	return true
}

// environment judges a variable commands get to see.
func (sc *scan) environment(name string) {
	if !harmlessVariable(name) {
		sc.trouble(name+"=…", "the environment variable "+name+" can change what commands do")
	}
}

// assign judges a variable of the shell. Lower-case ones are the script's own.
func (sc *scan) assign(name string) {
	if strings.ToUpper(name) == name && name != "_" && !harmlessVariable(name) {
		sc.trouble(name+"=…", "the variable "+name+" can change what the shell or commands do")
	}
}

func harmlessVariable(name string) bool {
	switch name {
	case "LANG", "LANGUAGE", "TZ", "TERM", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "COLUMNS", "LINES", "CI",
		"GOOS", "GOARCH", "CGO_ENABLED", "GOMAXPROCS", "RUST_BACKTRACE", "NODE_ENV", "DEBIAN_FRONTEND",
		"PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "SOURCE_DATE_EPOCH":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// enter follows a cd: the script may stand there or, should the cd fail, where
// it stood before.
func (sc *scan) enter(target string) {
	from := slices.Clone(sc.dirs)
	for _, dir := range from {
		to := sc.look(target, dir).Abs
		if !slices.Contains(sc.dirs, to) {
			sc.dirs = append(sc.dirs, to)
		}
	}
	sc.moved = true
}

// look resolves a path the script names, through the subject's eyes when it has
// some and by name otherwise.
func (sc *scan) look(name, from string) Path {
	if sc.subject.Look != nil {
		return sc.subject.Look(name, from)
	}
	if !isAbs(name) {
		name = from + "/" + name
	}
	p := Path{Abs: path.Clean(slashed(name))}
	for _, root := range sc.subject.Roots {
		if below(p.Abs, slashed(root)) {
			p.Root, p.InRoot = root, true
		}
	}
	return p
}

// source prints a node in canonical form, for people.
func source(n syntax.Node) string {
	var b strings.Builder
	switch n.(type) {
	case *syntax.CallExpr, *syntax.DeclClause, *syntax.Word, *syntax.LetClause, *syntax.ArithmCmd:
		if syntax.NewPrinter().Print(&b, n) == nil {
			return clip(strings.TrimSpace(b.String()))
		}
	}
	return "an expression"
}

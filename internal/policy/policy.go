// Package policy decides whether a tool call may happen: allowed, asked about,
// or denied, with the rule that decided and why.
//
// It is pure: it reads no files, starts nothing and keeps no state. What a call
// wants is described by a Subject made of structured facts (resolved paths, the
// command text); what the model or a client says about a call, such as its
// title or kind, never makes it easier. Deny beats ask beats allow; always_ask
// beats auto_approve, which beats grants a person gave.
package policy

import (
	"fmt"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Level is how much an agent may do, [autonomy].level.
type Level string

// The levels, from narrow to wide.
const (
	ReadOnly   Level = "readonly"   // tools that act are refused
	Supervised Level = "supervised" // reads flow, medium risk asks, high risk is refused
	Full       Level = "full"       // no questions; forbidden paths still hold
)

// Mode is a session's own choice within its level. It narrows or shifts what
// the level allows and never widens it.
type Mode string

// The modes of a session.
const (
	ModeAsk         Mode = "ask"          // ask as the level says
	ModeAcceptEdits Mode = "accept-edits" // file edits inside the roots flow
	ModeFull        Mode = "full"         // no questions, only where the level is full
	ModePlan        Mode = "plan"         // nothing acts
)

// Modes lists the modes a level permits, the default first.
func Modes(l Level) []Mode {
	switch l {
	case Full:
		return []Mode{ModeFull, ModeAsk, ModeAcceptEdits, ModePlan}
	case Supervised:
		return []Mode{ModeAsk, ModeAcceptEdits, ModePlan}
	}
	return []Mode{ModePlan}
}

// Settings are the configured policy of one agent.
//
// AutoApprove, AlwaysAsk and Deny hold tool names, globs of tool names, or
// patterns: shell(git status *), file_write(src/**), mcp(files__*). See Pattern.
type Settings struct {
	Level         Level // anything unknown counts as readonly
	WorkspaceOnly bool  // paths outside the roots are refused, not asked about
	// AllowedCommands are commands that flow when their risk is low: a name, or
	// words a command has to begin with. "*" is every command. A command of
	// high risk that is named here is asked about instead of refused.
	AllowedCommands []string
	AutoApprove     []string
	AlwaysAsk       []string
	Deny            []string
	// Network says what becomes of calls that use the network. Anything unknown
	// counts as ask.
	Network Network
	MaxMode Mode // the widest mode a session may be in; "" for any its level has
	// Sandboxed says that the operating system confines commands. Without it,
	// commands that run code of the repository ask.
	Sandboxed bool
	// SandboxRequired says that no command runs outside the sandbox, whoever is
	// asked.
	SandboxRequired bool
	Home            string // what ~ stands for in commands; "" is unknown
}

// Network is what a confined command may do beyond this machine,
// [autonomy].network.
type Network string

// The settings of the network.
const (
	NetworkAllow Network = "allow" // every command has it
	NetworkAsk   Network = "ask"   // a command has it once a person agreed
	NetworkDeny  Network = "deny"  // no command has it; one known to need it is refused
)

// Path is a path of a call, resolved.
type Path struct {
	Abs       string // real absolute path
	Root      string // real path of the root that holds it, "" outside
	InRoot    bool
	Forbidden bool
	Write     bool
	// Option says that the name a pattern stands for begins with a dash where a
	// command would take it for an option.
	Option bool
}

// Subject is one tool call to be judged.
type Subject struct {
	Tool   string // the tool's own name, for MCP tools server__tool
	Server string // the MCP server of the tool, "" for built-in tools
	// Source tells that server and its tool from others of their names, so that a
	// grant for one does not hold for the other.
	Source string
	// As is another tool whose work the call does too: what the lists deny that
	// tool, or always ask about, they deny this call or ask about. "" for none.
	As    string
	Kind  string // ACP tool kind. It only ever makes the policy stricter.
	Acts  bool   // the tool changes something or reaches outside
	Paths []Path
	Cwd   string // real path of the session's working directory

	Command string   // shell text, for tools that run one
	Argv    []string // a program and its arguments, for tools that run one without a shell
	Host    string   // the one host the call reaches, lower case, with a port that is not the usual one; "" when it is not known
	Network bool     // the call asks for the network; commands known to use it ask by themselves

	// Outside says that the call asks to run its command outside the sandbox. It
	// means nothing where none confines commands.
	Outside bool

	// Look resolves a path a command mentions: relative ones start in from, a
	// real absolute path. Nil leaves the policy to compare names with Roots.
	Look func(path, from string) Path
	// Glob returns what a pattern of a command matches, false when that is too
	// much to tell. Nil means that such commands ask.
	Glob func(pattern, from string) ([]Path, bool)
	// Roots are the session's root paths, used when Look is nil.
	Roots []string
}

// Verdict is what becomes of a call.
type Verdict int

// The verdicts, ordered: of several the greatest holds.
const (
	Allow Verdict = iota
	Ask
	Deny
)

// String returns allow, ask or deny.
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// Risk is how much harm a call could do.
type Risk int

// The risks, ordered.
const (
	Low Risk = iota
	Medium
	High
)

// String returns low, medium or high.
func (r Risk) String() string {
	switch r {
	case Low:
		return "low"
	case Medium:
		return "medium"
	}
	return "high"
}

// Decision is the outcome for a Subject.
type Decision struct {
	Verdict Verdict
	Rule    string // the rule that decided
	Reason  string // why it applies, for a person and for the model
	Risk    Risk
	// Network says that the call, when it runs, may use the network. Without it a
	// command that is confined has none.
	Network bool
	// Outside says that the command, when a person lets it run, is not confined.
	// It comes with Ask alone, and nothing but a person's answer to that very call
	// is leave for it.
	Outside bool
	// Grant is what "always allow" would cover, exactly. Nil means it must not
	// be offered.
	Grant *Grant
	// Steps are the parts of a command, each judged by itself.
	Steps []Step
}

// Step is the judgement of one simple command, redirection or other part of a
// command.
type Step struct {
	Text    string
	Verdict Verdict
	Rule    string
	Reason  string
	Risk    Risk
}

// Policy decides calls by one agent's settings. It is safe for concurrent use.
type Policy struct {
	set         Settings
	autoApprove []Pattern
	alwaysAsk   []Pattern
	deny        []Pattern
	parsers     *sync.Pool // of *syntax.Parser: making one costs as much as using it
}

// parse parses shell text.
func (p *Policy) parse(text string) (*syntax.File, error) {
	parser, ok := p.parsers.Get().(*syntax.Parser)
	if !ok {
		parser = syntax.NewParser(syntax.Variant(syntax.LangBash))
	}
	defer p.parsers.Put(parser)
	return parser.Parse(strings.NewReader(text), "")
}

// New returns the policy of the settings. The error is about a pattern that
// cannot be read: a policy without it would allow more than was meant.
func New(s Settings) (*Policy, error) {
	p := &Policy{set: s, parsers: new(sync.Pool)}
	for _, l := range []struct {
		name string
		from []string
		to   *[]Pattern
	}{{"deny", s.Deny, &p.deny}, {"always_ask", s.AlwaysAsk, &p.alwaysAsk}, {"auto_approve", s.AutoApprove, &p.autoApprove}} {
		for _, text := range l.from {
			pattern, err := ParsePattern(text)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", l.name, err)
			}
			*l.to = append(*l.to, pattern.at(s.Home))
		}
	}
	return p, nil
}

// Level returns the configured level.
func (p *Policy) Level() Level { return p.set.Level }

// level is what holds in a session of the given mode.
func (p *Policy) level(m Mode) Level {
	switch {
	case m == ModePlan:
		return ReadOnly
	case p.set.Level == Full && m == ModeFull:
		return Full
	case p.set.Level == Full || p.set.Level == Supervised:
		return Supervised
	}
	return ReadOnly
}

package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Kinds of grants.
const (
	GrantCommand = "command" // simple commands that Pattern matches
	GrantScript  = "script"  // the whole command text, word for word
	GrantFiles   = "files"   // the tool on files below Root
	GrantTool    = "tool"    // the tool, whatever its arguments
	GrantHost    = "host"    // the tool on the host Pattern
)

// Grant is a person's "always allow" for one session. It covers what its label
// says and nothing more. It never covers a call that is refused, that always
// asks, or whose Decision offered no Grant.
type Grant struct {
	Kind    string `json:"kind"`
	Tool    string `json:"tool"`
	Pattern string `json:"pattern,omitempty"` // of commands and scripts; for MCP tools the source
	Root    string `json:"root,omitempty"`    // for commands the working directory, for files the root
	Network bool   `json:"network,omitzero"`  // it may use the network
	Label   string `json:"label"`             // the option's text
}

// offer returns the grant for a call that is not a command, or nil.
func (j *judge) offer() *Grant {
	if j.s.Kind == "delete" {
		return nil
	}
	if j.s.Host != "" && len(j.s.Paths) == 0 {
		return &Grant{
			Kind: GrantHost, Tool: j.s.Tool, Pattern: j.s.Host, Root: j.s.Cwd, Network: j.s.Network,
			Label: fmt.Sprintf("Always allow `%s` from %s in this session", j.s.Tool, j.s.Host),
		}
	}
	if len(j.s.Paths) == 0 {
		return &Grant{
			Kind: GrantTool, Tool: j.s.Tool, Pattern: j.s.Source, Root: j.s.Cwd, Network: j.s.Network,
			Label: fmt.Sprintf("Always allow `%s` in this session", j.s.Tool),
		}
	}
	root := j.s.Paths[0].Root
	for _, f := range j.s.Paths {
		if !f.InRoot || f.Root != root {
			return nil
		}
	}
	return &Grant{
		Kind: GrantFiles, Tool: j.s.Tool, Root: root, Network: j.s.Network,
		Label: fmt.Sprintf("Always allow `%s` in %s in this session", j.s.Tool, root),
	}
}

// granted returns the grant a person gave for just this, or nil.
func (j *judge) granted(want *Grant) *Grant {
	if want == nil {
		return nil
	}
	for i := range j.grants {
		g := &j.grants[i]
		if g.Kind == want.Kind && g.Tool == want.Tool && g.Pattern == want.Pattern && g.Root == want.Root && (g.Network || !want.Network) {
			return g
		}
	}
	return nil
}

// offerCommand returns the grant for a command: the one simple command in it
// that asks, or the whole text when there are several. Parts that always ask
// leave nothing to grant.
func (j *judge) offerCommand(steps []step) *Grant {
	var asking []step
	for _, st := range steps {
		judged := j.settle(st)
		if judged.Verdict != Ask {
			continue
		}
		if judged.hard || st.pattern == "" {
			return nil
		}
		asking = append(asking, st)
	}
	g := &Grant{Kind: GrantCommand, Tool: j.s.Tool, Root: j.s.Cwd, Network: j.asksNetwork() && slices.ContainsFunc(asking, func(st step) bool { return st.network })}
	what := ""
	switch {
	case len(asking) == 1 && asking[0].general != "":
		g.Pattern = asking[0].general
		what = fmt.Sprintf("`%s` with any arguments", strings.TrimSuffix(g.Pattern, " *"))
	case len(asking) == 1:
		g.Pattern = asking[0].pattern
		what = fmt.Sprintf("`%s`", g.Pattern)
	default:
		g.Kind = GrantScript
		g.Pattern = strings.TrimSpace(j.s.Command)
		what = fmt.Sprintf("exactly `%s`", g.Pattern)
	}
	if g.Network {
		what += " with the network"
	}
	g.Label = "Always allow " + what + " in this session"
	return g
}

// grantedCommand returns a grant that covers one simple command.
func (j *judge) grantedCommand(st step) *Grant {
	for i := range j.grants {
		g := &j.grants[i]
		if g.Kind != GrantCommand || g.Tool != j.s.Tool || g.Root != j.s.Cwd || st.pattern == "" {
			continue
		}
		if st.network && j.asksNetwork() && !g.Network {
			continue
		}
		if g.Pattern == st.pattern || g.Pattern == st.general && st.general != "" {
			return g
		}
	}
	return nil
}

// grantedScript returns a grant that covers the whole text.
func (j *judge) grantedScript(wanted bool) *Grant {
	text := strings.TrimSpace(j.s.Command)
	return j.granted(&Grant{Kind: GrantScript, Tool: j.s.Tool, Pattern: text, Root: j.s.Cwd, Network: wanted && j.asksNetwork()})
}

// Describe says in one line what the grant covers and where it holds.
func (g Grant) Describe() string {
	if (g.Kind == GrantCommand || g.Kind == GrantScript) && g.Root != "" {
		return g.Label + ", started in " + g.Root
	}
	return g.Label
}

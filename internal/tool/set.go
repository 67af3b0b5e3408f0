package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// Set is the tools one agent has, by name. It never changes after NewSet and
// may be shared.
type Set struct {
	tools []Tool
	specs []Spec
}

// NewSet returns a set of tools. Of two tools with one name the later wins.
func NewSet(tools ...Tool) *Set {
	byName := make(map[string]Tool, len(tools))
	for _, t := range tools {
		byName[t.Spec().Name] = t
	}
	s := &Set{}
	for _, t := range byName {
		s.tools = append(s.tools, t)
	}
	slices.SortFunc(s.tools, func(a, b Tool) int { return cmp.Compare(a.Spec().Name, b.Spec().Name) })
	for _, t := range s.tools {
		s.specs = append(s.specs, t.Spec())
	}
	return s
}

// With returns a set that has more tools besides those of s. Of two tools with
// one name that of s wins.
func (s *Set) With(more ...Tool) *Set {
	if len(more) == 0 {
		return s
	}
	return NewSet(append(more[:len(more):len(more)], s.tools...)...)
}

// Only returns the set of the named tools, those of them that are there.
func (s *Set) Only(names ...string) *Set {
	var kept []Tool
	for i, t := range s.tools {
		if slices.Contains(names, s.specs[i].Name) {
			kept = append(kept, t)
		}
	}
	return NewSet(kept...)
}

// Without returns the set without the named tools.
func (s *Set) Without(names ...string) *Set {
	var kept []Tool
	for i, t := range s.tools {
		if !slices.Contains(names, s.specs[i].Name) {
			kept = append(kept, t)
		}
	}
	return NewSet(kept...)
}

// Specs returns the descriptions of all tools, sorted by name, so that a
// provider's cache of the prompt holds. The caller must not change it.
func (s *Set) Specs() []Spec { return s.specs }

// Lookup returns the tool of that name. The error lists the names there are,
// for the model.
func (s *Set) Lookup(name string) (Tool, error) {
	i, ok := slices.BinarySearchFunc(s.specs, name, func(sp Spec, n string) int { return cmp.Compare(sp.Name, n) })
	if !ok {
		return nil, fmt.Errorf("there is no tool named %q; the tools are %s", printable.Clip(name, 80), s.names())
	}
	return s.tools[i], nil
}

func (s *Set) names() string {
	names := make([]string, len(s.specs))
	for i, sp := range s.specs {
		names[i] = sp.Name
	}
	return strings.Join(names, ", ")
}

// Default returns the native agent's own tools.
func Default() []Tool {
	return []Tool{
		fileRead{},
		fileWrite{},
		fileEdit{},
		listDir{},
		globSearch{},
		contentSearch{},
		shell{},
		git{},
		deliverFile{},
		todo{},
		askUser{},
		escalate{},
		readSkill{},
		spawnSubagent{},
	}
}

// Package skill finds skills: folders with a SKILL.md, whose header says what it
// is for and whose text tells the model how to go about it. They come from the
// agent's own workspace, from what all agents share, and from the project a
// session works in. A project's are somebody else's words: they cannot take the
// name of a user's own, and no header grants anything.
package skill

import (
	"fmt"
	"slices"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// Origin says whose a skill is.
type Origin string

// The origins, in the order in which a name is looked for.
const (
	Agent   Origin = "agent"   // the agent's workspace
	Shared  Origin = "shared"  // all agents of this installation
	Project Origin = "project" // the repository: untrusted
)

// Bounds of what is read, so that a directory full of rubbish costs little.
const (
	// MaxSkills is how many skills one place may hold; the rest are left out.
	MaxSkills = 200
	// MaxFile is the largest file of a skill that is read, in bytes.
	MaxFile = 256 << 10
	// maxFolders is how many names of one place are looked at.
	maxFolders = 2000
	// maxHeader bounds the header of a SKILL.md, in bytes.
	maxHeader = 16 << 10
	// maxDescription bounds a description, in characters.
	maxDescription = 1024
	// maxFiles is how many files a skill is said to have.
	maxFiles = 100
)

// Place is a directory that holds skill folders. It need not exist.
type Place struct {
	Root   string // absolute; what leads out of it is refused
	Dir    string // the directory, below Root
	Origin Origin
}

// Skill is one usable skill.
type Skill struct {
	Name        string // a valid command name
	Description string // one line
	Hint        string // what may be added to its command; never empty
	Origin      Origin
	Path        string // of its SKILL.md, for people
	User        bool   // people may call it by its command
	Model       bool   // the model may read it of its own accord

	root, dir string // the folder, below the root of its place
}

// Problem is why a skill that is there cannot be used.
type Problem struct{ Path, Reason string }

// String says which file and why, in one line.
func (p Problem) String() string { return fmt.Sprintf("%s: %s", p.Path, p.Reason) }

// Catalogue is the skills of a session as they were at one time. It never
// changes and may be shared.
type Catalogue struct {
	Skills   []Skill // by origin, then by name
	Problems []Problem

	opts  fsroot.Options
	files map[string]file // by path, for the next Read
}

// Equal reports whether two catalogues hold the same.
func (c *Catalogue) Equal(o *Catalogue) bool {
	return slices.Equal(c.Skills, o.Skills) && slices.Equal(c.Problems, o.Problems)
}

// Find returns the skill of that name. It may be called on nil.
func (c *Catalogue) Find(name string) (Skill, bool) {
	if c == nil {
		return Skill{}, false
	}
	i := slices.IndexFunc(c.Skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return c.Skills[i], true
}

// ForModel lists the skills the model may read of its own accord. It may be
// called on nil.
func (c *Catalogue) ForModel() []Skill {
	if c == nil {
		return nil
	}
	var list []Skill
	for _, s := range c.Skills {
		if s.Model {
			list = append(list, s)
		}
	}
	return list
}

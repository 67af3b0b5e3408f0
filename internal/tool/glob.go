package tool

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// maxAlternatives bounds what braces may multiply to.
const maxAlternatives = 64

// glob matches slash-separated paths: "**" any number of directories, "*" and
// "?" within one name, "[a-z]", "{a,b}". A pattern without a slash matches at
// any depth. Names that start with a dot need no special pattern.
type glob struct {
	alternatives [][]string // each split at the slashes
}

// newGlob parses a pattern. Errors are for the model.
func newGlob(pattern string) (*glob, error) {
	if strings.Trim(pattern, "/") == "" {
		return nil, errors.New("the pattern is empty; give one like **/*.go")
	}
	alternatives, err := expandBraces(pattern)
	if err != nil {
		return nil, err
	}
	g := &glob{}
	for _, alt := range alternatives {
		parts := splitPattern(alt)
		for _, p := range parts {
			if _, err := path.Match(p, ""); err != nil {
				return nil, fmt.Errorf("the pattern %q is not well formed: check its brackets", printable.Clip(pattern, 80))
			}
		}
		g.alternatives = append(g.alternatives, parts)
	}
	return g, nil
}

func splitPattern(alt string) []string {
	alt = strings.TrimSuffix(alt, "/")
	if !strings.Contains(alt, "/") {
		alt = "**/" + alt
	}
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(alt, "./"), "/"), "/")
	if parts[len(parts)-1] == "**" {
		parts = append(parts, "*") // what is below a directory, not the directory
	}
	return parts
}

// match reports whether the path, relative and clean, is meant.
func (g *glob) match(name string) bool {
	parts := strings.Split(name, "/")
	for _, alt := range g.alternatives {
		if matchParts(alt, parts) {
			return true
		}
	}
	return false
}

// matchParts walks both lists with one point to return to, the last "**", so
// that no pattern takes more than the product of the lengths.
func matchParts(pattern, name []string) bool {
	p, n := 0, 0
	star, resume := -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			star, resume = p, n
			p++
			continue
		case p < len(pattern) && matchName(pattern[p], name[n]):
			p++
			n++
			continue
		case star < 0:
			return false
		}
		resume++
		p, n = star+1, resume
	}
	for p < len(pattern) && pattern[p] == "**" {
		p++
	}
	return p == len(pattern)
}

func matchName(pattern, name string) bool {
	ok, _ := path.Match(pattern, name)
	return ok
}

// expandBraces returns the patterns that {a,b} stands for; braces nest.
func expandBraces(pattern string) ([]string, error) {
	done, todo := []string(nil), []string{pattern}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		open, parts, rest, err := firstBraces(p)
		if err != nil {
			return nil, err
		}
		if open < 0 {
			done = append(done, p)
			continue
		}
		for _, part := range parts {
			todo = append(todo, p[:open]+part+rest)
		}
		if len(done)+len(todo) > maxAlternatives {
			return nil, fmt.Errorf("the braces of the pattern stand for more than %d patterns; use fewer", maxAlternatives)
		}
	}
	return done, nil
}

// firstBraces finds the first brace of p and splits what it encloses; open is
// -1 when there is none.
func firstBraces(p string) (open int, parts []string, rest string, err error) {
	open, depth, from := -1, 0, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case ',':
			if depth == 1 {
				parts = append(parts, p[from:i])
				from = i + 1
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				return open, append(parts, p[from:i]), p[i+1:], nil
			}
		}
	}
	if open >= 0 {
		return 0, nil, "", errors.New("the pattern has a brace that is not closed")
	}
	return -1, nil, "", nil
}

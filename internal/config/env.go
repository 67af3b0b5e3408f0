package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// envPrefix begins the name of every override.
const envPrefix = "GRAPNEL_"

// override is one setting in the environment.
type override struct {
	name  string // of the variable
	path  Path
	value string
}

// overrides returns the settings in environ, outer ones first. The name after
// the prefix is the dotted path with __ for the dots, all lower case: names
// with upper case, such as GRAPNEL_CONFIG_DIR, mean something else.
func overrides(environ []string) []override {
	var found []override
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if IsOverride(name) {
			found = append(found, override{name, strings.Split(name[len(envPrefix):], "__"), value})
		}
	}
	slices.SortFunc(found, func(a, b override) int {
		return cmp.Or(len(a.path)-len(b.path), strings.Compare(a.name, b.name))
	})
	return found
}

// IsOverride reports whether a variable is taken for a setting.
func IsOverride(name string) bool {
	tail, ok := strings.CutPrefix(name, envPrefix)
	return ok && tail != "" && tail == strings.ToLower(tail)
}

// envName is the variable that overrides p.
func envName(p Path) string { return envPrefix + strings.Join(p, "__") }

// override layers one variable over the configuration, by way of the TOML text
// that says the same.
func (l *loader) override(o override) {
	place := Problem{Var: o.name}
	n, err := l.schema.lookup(o.path)
	if err != nil {
		l.add(place, o.path, unknownVariable(o, err))
		return
	}
	literal, err := literal(n, o.value)
	if err != nil {
		l.add(place, o.path, fmt.Sprintf("%s %v", o.path, err))
		return
	}
	text := []byte(o.path.String() + " = " + literal + "\n")
	l.source(text, func(int) Problem { return place })
}

func unknownVariable(o override, err error) string {
	unknown, ok := err.(*unknownKeyError)
	if !ok || unknown.nearest == nil {
		return err.Error()
	}
	return fmt.Sprintf("%s is not a setting; did you mean %s?", o.path, envName(unknown.nearest))
}

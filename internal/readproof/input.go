package readproof

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// input is a rawInput taken apart.
type input struct {
	members map[string]jsontext.Value
	tool    *string // a member that names the tool
}

// oneInput returns the input that all places agree on.
func oneInput(inputs []jsontext.Value) (input, error) {
	var first jsontext.Value
	for _, raw := range inputs {
		if len(raw) == 0 || raw.Kind() == 'n' {
			continue
		}
		v := raw.Clone()
		if err := v.Canonicalize(); err != nil { // refuses members that are there twice
			return input{}, errors.New("its input is damaged")
		}
		if first != nil && !slices.Equal(first, v) {
			return input{}, errors.New("its input is not the one it was announced with")
		}
		first = v
	}
	if first == nil {
		return input{}, errors.New("its input is not told")
	}
	in := input{}
	if err := json.Unmarshal(first, &in.members); err != nil {
		return input{}, errors.New("its input is no object")
	}
	for _, key := range []string{"tool", "toolName", "tool_name"} {
		value, ok := in.members[key]
		if !ok {
			continue
		}
		name, err := text(key, value)
		if err != nil || in.tool != nil {
			return input{}, errors.New("its input names the tool in more than one way")
		}
		in.tool = &name
		delete(in.members, key)
	}
	return in, nil
}

// meaning says what a member of an input is.
type meaning int

const (
	strange meaning = iota
	path            // a file or directory
	pathList
	pattern // matched with lines
	globbed // matched with names: a path with wildcards
	setting // a number or a switch
)

// meaningOf knows the members that tools which only read have.
func meaningOf(key string, tool class) meaning {
	switch key {
	case "path", "file_path", "filePath", "file", "filename", "absolute_path", "abs_path", "absolutePath", "target_file":
		return path
	case "line", "limit", "offset", "start_line", "end_line", "startLine", "endLine", "start", "end":
		if tool == read || key == "limit" || key == "offset" {
			return setting
		}
	}
	if tool == read {
		return strange
	}
	switch key {
	case "directory", "dir", "dir_path", "dirPath", "root", "target_directory":
		return path
	case "paths":
		return pathList
	case "pattern", "query", "regex":
		if tool == glob || tool == list {
			return globbed
		}
		return pattern
	case "glob", "include", "exclude", "file_pattern", "ignore":
		return globbed
	case "case_sensitive", "caseSensitive", "ignore_case", "recursive", "depth", "max_depth", "max_results", "maxResults", "head_limit", "context", "-i", "-n", "-A", "-B", "-C", "multiline":
		return setting
	}
	return strange
}

// paths returns the paths of an input that has nothing but members of known
// meaning.
func (tool class) paths(in input) ([]string, error) {
	var found []string
	for key, value := range in.members {
		if value.Kind() == 'n' {
			continue
		}
		here, err := member(key, value, tool)
		if err != nil {
			return nil, err
		}
		found = append(found, here...)
	}
	switch {
	case len(found) > 0:
		return found, nil
	case tool == read:
		return nil, errors.New("its input names no file")
	}
	return []string{"."}, nil
}

// member returns the paths in one member.
func member(key string, value jsontext.Value, tool class) ([]string, error) {
	switch meaningOf(key, tool) {
	case path:
		p, err := text(key, value)
		return []string{p}, err
	case pathList:
		var list []string
		if err := json.Unmarshal(value, &list); err != nil {
			return nil, fmt.Errorf("%q is no list of paths", key)
		}
		return list, nil
	case pattern:
		p, err := text(key, value)
		if err == nil && strings.HasPrefix(p, "-") {
			err = fmt.Errorf("%q begins like an option", key)
		}
		return nil, err
	case globbed:
		p, err := text(key, value)
		if err == nil && (strings.Contains(p, "..") || strings.ContainsAny(p, "\\$`:\x00") || strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.HasPrefix(p, "-")) {
			err = fmt.Errorf("%q can lead out of the directory", key)
		}
		return nil, err
	case setting:
		if k := value.Kind(); k != '0' && k != 't' && k != 'f' {
			return nil, fmt.Errorf("%q is neither a number nor a switch", key)
		}
		return nil, nil
	}
	return nil, fmt.Errorf("its input has %q, which no read needs", key)
}

func text(key string, value jsontext.Value) (string, error) {
	var s string
	if err := json.Unmarshal(value, &s); err != nil {
		return "", fmt.Errorf("%q is no text", key)
	}
	return s, nil
}

// inside checks that a path means the same to whoever uses it, and lies in root
// with all links followed.
func inside(root *fsroot.Set, path string) error {
	if plainPath(path) {
		t, err := root.Resolve(path)
		if err != nil {
			return err
		}
		defer func() { _ = t.Close() }()
		if t.InRoot() && t.Exists && (t.IsDir() || t.Info.Mode().IsRegular()) {
			return nil
		}
		return fmt.Errorf("%q is no file that is there", path)
	}
	return fmt.Errorf("%q can mean different files", path)
}

// plainPath refuses what some programs expand, cut or decode: a home directory,
// variables, wildcards, URLs, white space at the ends, control characters.
func plainPath(path string) bool {
	return path != "" && path == strings.TrimSpace(path) && path[0] != '~' && path[0] != '-' &&
		!strings.ContainsAny(path, "\\$`*?[]{}%|;<>\"'!#") && !strings.Contains(path, ":") &&
		!strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) })
}

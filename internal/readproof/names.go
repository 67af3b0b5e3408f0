package readproof

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// class is what a tool does.
type class int

const (
	unknown class = iota
	read          // a file's content
	list          // names in a directory
	search        // lines in files
	glob          // names of files, by a pattern that is a path
)

// classOf knows the names that agents give to tools that only read. Names whose
// input is a command line (cat, ls in a shell) are told by their input.
func classOf(name string) class {
	switch name {
	case "read", "readfile", "fileread", "readtextfile", "fsread", "view", "viewfile", "openfile":
		return read
	case "ls", "list", "listdir", "listdirectory", "listfiles", "readdirectory":
		return list
	case "grep", "greptool", "greprepo", "search", "searchfiles", "searchfilecontent", "contentsearch", "ripgrep", "codesearch", "searchtext":
		return search
	case "glob", "globsearch", "findfiles", "filesearch", "globtool":
		return glob
	}
	return unknown
}

// plain is a name without case and separators, so that file_read, FileRead and
// file-read are one.
func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// oneTool returns the class that all names of the tool agree on.
func oneTool(c Call, in input) (class, error) {
	names := append([]string{}, c.Names...)
	for _, meta := range c.Metas {
		found, err := metaNames(meta)
		if err != nil {
			return unknown, err
		}
		names = append(names, found...)
	}
	if in.tool != nil {
		names = append(names, *in.tool)
	}
	if len(names) == 0 {
		return unknown, errors.New("the agent does not name the tool")
	}
	for _, name := range names {
		if plain(name) != plain(names[0]) {
			return unknown, fmt.Errorf("it is called both %q and %q", names[0], name)
		}
	}
	if tool := classOf(plain(names[0])); tool != unknown {
		return tool, nil
	}
	return unknown, fmt.Errorf("the tool %q is not known to only read", names[0])
}

// metaNames finds the tool's name in _meta: {toolName}, or {vendor: {toolName}}.
func metaNames(meta jsontext.Value) ([]string, error) {
	if len(meta) == 0 || meta.Kind() != '{' {
		return nil, nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(meta, &members); err != nil {
		return nil, errors.New("its _meta is damaged")
	}
	var names []string
	for key, value := range members {
		switch plain(key) {
		case "toolname", "tool":
			var name string
			if err := json.Unmarshal(value, &name); err != nil {
				return nil, errors.New("its _meta names the tool by something that is no text")
			}
			names = append(names, name)
		default:
			if value.Kind() == '{' {
				inner, err := metaNames(value)
				if err != nil {
					return nil, err
				}
				names = append(names, inner...)
			}
		}
	}
	return names, nil
}

// titled finds a title that speaks of another tool, or of something that acts.
func titled(title string, tool class) error {
	first := strings.FieldsFunc(title, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if len(first) == 0 {
		return nil
	}
	word := plain(first[0])
	if named := classOf(word); named != unknown && (named == read) != (tool == read) {
		return fmt.Errorf("its title speaks of %q", first[0])
	}
	if acts(word) || strings.Contains(first[0], "_") && classOf(word) == unknown {
		return fmt.Errorf("its title speaks of %q", first[0])
	}
	return nil
}

// acts knows the words by which tools and commands that act are called.
func acts(word string) bool {
	switch word {
	case "write", "writefile", "edit", "editfile", "multiedit", "create", "delete", "remove", "rm", "move", "mv", "rename", "copy", "cp",
		"patch", "applypatch", "replace", "update", "insert", "append", "save", "chmod", "chown", "kill",
		"run", "runcommand", "exec", "execute", "bash", "sh", "zsh", "shell", "terminal", "command", "powershell", "sudo", "eval",
		"curl", "wget", "fetch", "webfetch", "http", "git", "npm", "pip", "make", "python", "node", "install", "download", "upload", "send":
		return true
	}
	return false
}

package config

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with the configuration.
type Problem struct {
	File    string `json:"file,omitzero"`     // file it stands in; empty for a variable
	Line    int    `json:"line,omitzero"`     // from 1; 0 when unknown
	Column  int    `json:"column,omitzero"`   // in characters, from 1
	Var     string `json:"variable,omitzero"` // environment variable it comes from
	Path    string `json:"path,omitzero"`     // setting it is about
	Message string `json:"message"`           // one sentence
	// Warning is set when only what uses the setting fails.
	Warning bool `json:"warning,omitzero"`
}

// Error says where and what in one line.
func (p Problem) Error() string {
	switch {
	case p.Var != "":
		return "environment variable " + p.Var + ": " + p.Message
	case p.Line > 0:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	case p.File != "":
		return p.File + ": " + p.Message
	}
	return p.Message
}

// Error is a configuration that cannot be used.
type Error struct {
	Problems []Problem // at least one
}

// Error lists the problems, one a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

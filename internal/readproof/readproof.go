// Package readproof judges whether a tool call that an agent asks permission
// for only reads within one directory, going by its structured input alone.
// What the agent says of the call in words proves nothing: its title and kind
// can only speak against it.
package readproof

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// Call is what is known of a tool call, from its announcement and from the
// request together.
type Call struct {
	Titles    []string
	Kinds     []string
	Names     []string         // of the tool, wherever one was given
	Metas     []jsontext.Value // _meta objects
	Inputs    []jsontext.Value // rawInput, wherever it was given
	Locations []string
	Acts      bool // its content has a diff or a terminal
}

// Check returns nil when the call is proven to be a read or a search within
// root, else why it is not. The reason is for people; it may quote the agent.
func Check(root *fsroot.Set, c Call) error {
	in, err := oneInput(c.Inputs)
	if err != nil {
		return err
	}
	tool, err := oneTool(c, in)
	if err != nil {
		return err
	}
	if err := contradicted(c, tool); err != nil {
		return err
	}
	paths, err := tool.paths(in)
	if err != nil {
		return err
	}
	for _, path := range append(paths, c.Locations...) {
		if err := inside(root, path); err != nil {
			return err
		}
	}
	return nil
}

// contradicted finds what speaks against a read.
func contradicted(c Call, tool class) error {
	for _, kind := range c.Kinds {
		if kind != "" && kind != "read" && kind != "search" && kind != "other" {
			return fmt.Errorf("its kind is %q", kind)
		}
	}
	for _, title := range c.Titles {
		if err := titled(title, tool); err != nil {
			return err
		}
	}
	if c.Acts {
		return errors.New("it shows a change or a command")
	}
	return nil
}

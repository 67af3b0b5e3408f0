package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

type fileEdit struct{}

type fileEditArgs struct {
	ignored
	Path    string     `json:"path"`
	OldText *string    `json:"old_text"`
	NewText *string    `json:"new_text"`
	All     flag       `json:"replace_all"`
	Edits   []editArgs `json:"edits"`
}

type editArgs struct {
	OldText *string `json:"old_text"`
	NewText *string `json:"new_text"`
	All     flag    `json:"replace_all"`
}

func (fileEdit) Spec() Spec {
	return Spec{
		Name: "file_edit",
		Description: "Replaces text in a file. old_text must occur exactly once, blanks included, unless replace_all is set. " +
			"Several replacements go into edits; they are made in order, all of them or none. " +
			"In a notebook (.ipynb) give plain source, as it stands in a cell.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "absolute, or relative to the working directory"},
				"old_text": {"type": "string", "description": "the exact text to replace, without line numbers"},
				"new_text": {"type": "string", "description": "what takes its place"},
				"replace_all": {"type": "boolean", "description": "replace every occurrence"},
				"edits": {
					"type": "array",
					"description": "several replacements instead of old_text and new_text",
					"items": {
						"type": "object",
						"properties": {
							"old_text": {"type": "string"},
							"new_text": {"type": "string"},
							"replace_all": {"type": "boolean"}
						},
						"required": ["old_text", "new_text"],
						"additionalProperties": false
					}
				}
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
		Kind: KindEdit,
		Acts: true,
	}
}

func (t fileEdit) Prepare(ctx context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args fileEditArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	edits, err := args.edits()
	if err != nil {
		return nil, err
	}
	return env.prepareChange(ctx, t.Spec(), args.Path, func(f file) (string, error) {
		if !f.exists {
			return "", fmt.Errorf("%q does not exist; create it with file_write", args.Path)
		}
		if isNotebook(args.Path) {
			return editedNotebook(f.text, edits)
		}
		return applyEdits(f.text, edits, applyEdit)
	})
}

// edits returns the replacements of either form.
func (a fileEditArgs) edits() ([]edit, error) {
	list := a.Edits
	if a.OldText != nil || a.NewText != nil {
		if len(list) > 0 {
			return nil, errors.New("give either old_text and new_text or edits, not both")
		}
		list = []editArgs{{a.OldText, a.NewText, a.All}}
	}
	edits := make([]edit, len(list))
	for i, e := range list {
		if e.OldText == nil || e.NewText == nil {
			return nil, errors.New("old_text and new_text belong together; one of them is missing")
		}
		edits[i] = edit{old: *e.OldText, new: *e.NewText, all: bool(e.All)}
	}
	return edits, nil
}

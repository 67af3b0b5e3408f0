package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

const (
	// deliverURI is what the address of a delivered file begins with.
	deliverURI = "attachment://deliver/"
	// maxDeliverTitle bounds a title, in bytes.
	maxDeliverTitle = 200
)

type deliverFile struct{}

type deliverFileArgs struct {
	ignored
	Path     string `json:"path"`
	MimeType string `json:"mimeType"`
	Title    string `json:"title"`
}

func (deliverFile) Spec() Spec {
	return Spec{
		Name: "deliver_file",
		Description: "Hands a finished file of at most 10 MiB to the user, who can then open or save it. The result holds its " +
			"address, attachment://deliver/…; to refer to the file in your answer, cite that address verbatim and never make one up.",
		Schema: jsontext.Value(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "description": "absolute, or relative to the working directory"},
				"mimeType": {"type": "string", "description": "its type, when the content does not tell"},
				"title": {"type": "string", "description": "what the user sees it called; the file's name when absent"}
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
		Kind:     KindRead,
		ReadOnly: true,
	}
}

func (d deliverFile) Prepare(_ context.Context, env *Env, input jsontext.Value) (*Call, error) {
	var args deliverFileArgs
	if err := decode(input, &args); err != nil {
		return nil, err
	}
	t, err := env.resolveFile(args.Path)
	if err != nil {
		return nil, err
	}
	call := &Call{
		Title:     "Deliver " + env.display(t.Abs),
		Kind:      KindRead,
		Locations: []Location{{Path: t.Abs}},
		Subject:   env.subject(d.Spec()),
		Run:       func(context.Context, Sink) Result { return deliver(env, t, args) },
		Close:     func() { _ = t.Close() },
	}
	call.Subject.Paths = append(call.Subject.Paths, pathOf(t, false))
	// What file_read may not read or asks about, this may not or asks about: the
	// copy lies where everything may be read.
	call.Subject.As = fileRead{}.Spec().Name
	if err := env.judge(call.Subject); err != nil {
		call.Close()
		return nil, err
	}
	return call, nil
}

func deliver(env *Env, t *fsroot.Target, args deliverFileArgs) Result {
	data, err := t.ReadFile(upload.MaxBytes)
	switch {
	case errors.Is(err, fsroot.ErrTooLarge):
		return failure(fmt.Errorf("%q cannot be delivered: it is larger than %d bytes; split it or tell the user where it is", args.Path, upload.MaxBytes))
	case errors.Is(err, fs.ErrNotExist):
		return failure(fmt.Errorf("%q does not exist", args.Path))
	case err != nil:
		return failure(err)
	case len(data) == 0:
		return failure(fmt.Errorf("%q is empty; there is nothing to deliver", args.Path))
	}
	uploads := upload.Store{Roots: env.Roots, Cwd: env.Cwd}
	saved, err := uploads.Save(upload.File{Data: data, Name: filepath.Base(t.Abs), MimeType: args.MimeType})
	if err != nil {
		return failure(err)
	}
	// What goes out is what lies under that name, not what was in memory.
	if data, err = uploads.Read(saved); err != nil {
		return failure(fmt.Errorf("%q cannot be delivered: %w", args.Path, err))
	}
	return delivered(saved, data, printable.Clip(printable.Line(args.Title), maxDeliverTitle))
}

func delivered(saved upload.Saved, data []byte, title string) Result {
	if title == "" {
		title = saved.Name
	}
	uri := deliverURI + filepath.Base(saved.Path)
	return Result{
		Title:   title,
		Text:    fmt.Sprintf("Delivered %s to the user as %s", title, uri),
		Content: []Content{{Resource: &Resource{URI: uri, MimeType: saved.MimeType, Blob: data}}},
		RawOutput: raw(struct {
			URI      string `json:"uri"`
			MimeType string `json:"mimeType"`
			Path     string `json:"path"`
			Bytes    int    `json:"bytes"`
		}{uri, saved.MimeType, saved.Path, len(data)}),
	}
}

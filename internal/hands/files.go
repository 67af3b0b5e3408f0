package hands

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/v1"
	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

// maxFile is the largest file that is read or written, in bytes.
const maxFile = 32 << 20

// ReadTextFile answers fs/read_text_file.
func (h *Hands) ReadTextFile(_ context.Context, req *v1.ReadTextFileRequest) (*v1.ReadTextFileResponse, error) {
	if req.Line != nil && *req.Line == 0 || req.Limit != nil && *req.Limit == 0 {
		return nil, acp.Errorf(acp.CodeInvalidParams, "line and limit count from 1")
	}
	t, err := h.root.Resolve(req.Path)
	if err != nil {
		return nil, problem(err)
	}
	defer func() { _ = t.Close() }()
	if !t.Exists {
		return nil, acp.Errorf(acp.CodeResourceNotFound, "%q does not exist", req.Path)
	}
	data, err := t.ReadFile(maxFile)
	if err != nil {
		return nil, problem(err)
	}
	if !utf8.Valid(data) {
		return nil, acp.Errorf(acp.CodeInternalError, "%q is not UTF-8 text", req.Path)
	}
	text := string(data)
	if req.Line != nil {
		text = skip(text, int(*req.Line)-1)
	}
	if req.Limit != nil {
		text = text[:len(text)-len(skip(text, int(*req.Limit)))]
	}
	return &v1.ReadTextFileResponse{Content: text}, nil
}

// skip returns what comes after the first n lines.
func skip(text string, n int) string {
	for ; n > 0 && text != ""; n-- {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// WriteTextFile answers fs/write_text_file.
func (h *Hands) WriteTextFile(_ context.Context, req *v1.WriteTextFileRequest) (*v1.WriteTextFileResponse, error) {
	if len(req.Content) > maxFile {
		return nil, acp.Errorf(acp.CodeInvalidParams, "the content of %q is larger than %d bytes", req.Path, maxFile)
	}
	t, err := h.root.Resolve(req.Path)
	if err != nil {
		return nil, problem(err)
	}
	defer func() { _ = t.Close() }()
	if err := t.WriteFile([]byte(req.Content), fsroot.WriteOptions{MakeParents: true}); err != nil {
		return nil, problem(err)
	}
	return &v1.WriteTextFileResponse{}, nil
}

// problem gives an error of a path the code that says whose fault it is.
func problem(err error) error {
	refused := (*fsroot.PathError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return acp.Errorf(acp.CodeResourceNotFound, "%v", err)
	case errors.As(err, &refused):
		return acp.Errorf(acp.CodeInvalidParams, "%v", err)
	}
	return err
}

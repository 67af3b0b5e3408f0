package native

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/media"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

// linkBytes bounds what is read of a linked file into the prompt; the rest the
// model reads with its tools.
const linkBytes = 256 << 10

// errNotText keeps bytes that are no text out of the prompt.
var errNotText = errors.New("not a text file")

// contentBlock is an ACP content block of a prompt. The surface has checked it.
type contentBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MimeType string `json:"mimeType"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType"`
		Text     string  `json:"text"`
		Blob     *string `json:"blob"`
	} `json:"resource"`
}

// readContent turns a prompt's blocks into what the model gets, in order, text
// joined by blank lines.
func (t *turn) readContent(ctx context.Context, blocks []jsontext.Value) ([]model.Part, error) {
	var parts []model.Part
	var text []string
	flush := func() {
		if len(text) > 0 {
			parts = append(parts, model.Text(strings.Join(text, "\n\n")))
			text = nil
		}
	}
	for _, v := range blocks {
		var b contentBlock
		if err := json.Unmarshal(v, &b); err != nil {
			return nil, session.Invalidf("prompt: %v", err)
		}
		if b.Type == "image" || b.Type == "audio" {
			flush()
			p, err := mediaPart(&b)
			if err != nil {
				return nil, err
			}
			parts = append(parts, p)
			continue
		}
		s, err := t.blockText(ctx, &b)
		if err != nil {
			return nil, err
		}
		text = append(text, s)
	}
	flush()
	return parts, nil
}

func mediaPart(b *contentBlock) (model.Part, error) {
	data, err := media.Decode(b.Data)
	if err != nil {
		return model.Part{}, session.Invalidf("prompt: the %s block: %v", b.Type, err)
	}
	m := &model.Media{MimeType: b.MimeType, Data: data}
	if b.Type == "audio" {
		return model.Part{Audio: m}, nil
	}
	return model.Part{Image: m}, nil
}

func (t *turn) blockText(ctx context.Context, b *contentBlock) (string, error) {
	switch b.Type {
	case "resource_link":
		return t.linkText(ctx, b), nil
	case "resource":
		if b.Resource.Blob != nil {
			return t.saveBlob(b)
		}
		return fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", b.Resource.URI, b.Resource.Text), nil
	}
	return b.Text, nil
}

// linkText shows a linked file's text when it lies inside a root, and else the
// reference alone; nothing is fetched.
func (t *turn) linkText(ctx context.Context, b *contentBlock) string {
	reference := fmt.Sprintf("[Link: %s] %s", b.Name, b.URI)
	name, ok := filePath(b.URI)
	if !ok {
		return reference
	}
	reference = fmt.Sprintf("[File: %s] %s", b.Name, name)
	content, err := t.linkedFile(ctx, name)
	if err != nil {
		return reference
	}
	return fmt.Sprintf("%s\n<file path=%q>\n%s\n</file>", reference, name, content)
}

func (t *turn) linkedFile(ctx context.Context, name string) (string, error) {
	target, err := t.roots.Resolve(name)
	if err != nil {
		return "", err
	}
	defer target.Close()
	if !target.InRoot() {
		return "", fsroot.ErrOutside
	}
	if t.Hands.FS != nil {
		if text, err := t.Hands.FS.ReadTextFile(ctx, target.Abs, 0, 0); err == nil && len(text) <= linkBytes {
			return text, nil
		}
	}
	data, err := target.ReadFile(linkBytes)
	if err == nil && !utf8.Valid(data) {
		err = errNotText
	}
	return string(data), err
}

// filePath returns the path of a file: URI or of a plain absolute path.
func filePath(uri string) (string, bool) {
	if filepath.IsAbs(uri) {
		return uri, true
	}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") {
		return "", false
	}
	return filepath.FromSlash(u.Path), true
}

// saveBlob keeps an embedded file and tells the model where.
func (t *turn) saveBlob(b *contentBlock) (string, error) {
	data, err := media.Decode(*b.Resource.Blob)
	if err != nil {
		return "", session.Invalidf("prompt: the blob of %s: %v", b.Resource.URI, err)
	}
	saved, err := t.uploads().Save(upload.File{Data: data, Name: b.Resource.URI, MimeType: b.Resource.MimeType})
	if err != nil {
		return "", fmt.Errorf("a file of the prompt: %w", err)
	}
	return saved.Text(), nil
}

// uploads is where the session keeps files that come with prompts and results.
func (h *handle) uploads() upload.Store { return upload.Store{Roots: h.roots, Cwd: h.info.Cwd} }

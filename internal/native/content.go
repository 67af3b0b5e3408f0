package native

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	// uploadsDir holds the files that prompts bring along.
	uploadsDir = "uploads"
	// linkBytes bounds what is read of a linked file into the prompt; the rest
	// the model reads with its tools.
	linkBytes = 256 << 10
)

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
	data, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return model.Part{}, session.Invalidf("prompt: the data of an %s block is not base64", b.Type)
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

// saveBlob keeps an embedded file as uploads/<sha256>.<ext> in the session's
// cwd and tells the model where.
func (t *turn) saveBlob(b *contentBlock) (string, error) {
	data, err := base64.StdEncoding.DecodeString(*b.Resource.Blob)
	if err != nil {
		return "", session.Invalidf("prompt: a blob is not base64")
	}
	sum := sha256.Sum256(data)
	name := filepath.Join(t.info.Cwd, uploadsDir, hex.EncodeToString(sum[:])+blobExt(b))
	target, err := t.roots.Resolve(name)
	if err != nil {
		return "", session.Invalidf("prompt: the file %s cannot be kept: %v", b.Resource.URI, err)
	}
	defer target.Close()
	if target.Abs != name { // a link stands in the way
		return "", session.Invalidf("prompt: the file %s cannot be kept: %s is a link; make it a directory", b.Resource.URI, uploadsDir)
	}
	if err := target.WriteFile(data, fsroot.WriteOptions{MakeParents: true}); err != nil {
		return "", fmt.Errorf("keep the file %s of the prompt: %w", b.Resource.URI, err)
	}
	label := "Document"
	if strings.HasPrefix(b.Resource.MimeType, "image/") {
		return fmt.Sprintf("[IMAGE: %s]", name), nil
	}
	return fmt.Sprintf("[%s: %s] %s", label, path.Base(b.Resource.URI), name), nil
}

// blobExt is the ending of the name the file came with, or one for its type.
func blobExt(b *contentBlock) string {
	if ext := strings.ToLower(path.Ext(b.Resource.URI)); isExt(ext) {
		return ext
	}
	if list, err := mime.ExtensionsByType(b.Resource.MimeType); err == nil && len(list) > 0 {
		return list[0]
	}
	return ""
}

// isExt reports whether ext is a dot and up to seven letters and digits.
func isExt(ext string) bool {
	return len(ext) > 1 && len(ext) <= 8 && !strings.ContainsFunc(ext[1:], func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

package native

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/media"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

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
		Text     *string `json:"text"`
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
		p, err := t.readBlock(ctx, &b)
		if err != nil {
			return nil, err
		}
		if p.IsText() {
			text = append(text, p.Text)
			continue
		}
		flush()
		parts = append(parts, p)
	}
	flush()
	return parts, nil
}

func (t *turn) readBlock(ctx context.Context, b *contentBlock) (model.Part, error) {
	text, err := b.Text, error(nil)
	switch {
	case b.Type == "image" || b.Type == "audio":
		return t.readMedia(b)
	case b.Type == "resource_link":
		text = t.linkText(ctx, b)
	case b.Type == "resource" && b.Resource.Text == nil && b.Resource.Blob != nil:
		text, err = t.saveBlob(b)
	case b.Type == "resource" && b.Resource.Text != nil:
		text = fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", b.Resource.URI, *b.Resource.Text)
	}
	return model.Text(text), err
}

// readMedia gives an image or a sound to a model that takes it. For one that
// does not, such as after another model was chosen, it is kept as a file.
func (t *turn) readMedia(b *contentBlock) (model.Part, error) {
	data, err := media.Decode(b.Data)
	if err != nil {
		return model.Part{}, session.Invalidf("prompt: the %s block: %v", b.Type, err)
	}
	m := &model.Media{MimeType: b.MimeType, Data: data}
	info := t.agent.Info(t.handle.choice().Model)
	switch {
	case b.Type == "image" && info.Images:
		return model.Part{Image: m}, nil
	case b.Type == "audio" && info.Audio && hearable(b.MimeType):
		return model.Part{Audio: m}, nil
	}
	if t.Hands.Only {
		return model.Text(fmt.Sprintf("[The user sent %s of %d bytes, which the model in use cannot take.]", b.Type, len(data))), nil
	}
	saved, err := t.uploads().Save(upload.File{Data: data, Name: b.Type, MimeType: b.MimeType})
	if err != nil {
		return model.Part{}, fmt.Errorf("the %s block of the prompt: %w", b.Type, err)
	}
	return model.Text(fmt.Sprintf("%s\n(The model in use cannot take this %s itself; only the file is there.)", saved.Text(), b.Type)), nil
}

// hearable reports the two formats that every model with audio input takes.
func hearable(mimeType string) bool { return mimeType == "audio/wav" || mimeType == "audio/mpeg" }

// saveBlob keeps an embedded file and tells the model where.
func (t *turn) saveBlob(b *contentBlock) (string, error) {
	data, err := media.Decode(*b.Resource.Blob)
	if err != nil {
		return "", session.Invalidf("prompt: the blob of %s: %v", b.Resource.URI, err)
	}
	if t.Hands.Only { // nothing is kept on this side
		return fmt.Sprintf("[The user sent the file %s of %d bytes, which is not kept: only text and what the model itself takes can be sent here.]",
			quoted(b.Resource.URI), len(data)), nil
	}
	saved, err := t.uploads().Save(upload.File{Data: data, Name: b.Resource.URI, MimeType: b.Resource.MimeType})
	if err != nil {
		return "", fmt.Errorf("a file of the prompt: %w", err)
	}
	return saved.Text(), nil
}

// uploads is where the session keeps files that come with prompts and results.
func (h *handle) uploads() upload.Store { return upload.Store{Roots: h.roots, Cwd: h.info.Cwd} }

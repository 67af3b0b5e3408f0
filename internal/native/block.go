package native

import (
	"fmt"

	"github.com/grapnel-ai/grapnel/internal/media"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// The content blocks of an update (ACP v1 ContentBlock).
type (
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	mediaBlock struct {
		Type     string `json:"type"` // image or audio
		Data     []byte `json:"data"`
		MimeType string `json:"mimeType"`
	}
	resourceBlock struct {
		Type     string           `json:"type"`
		Resource resourceContents `json:"resource"`
	}
	resourceContents struct {
		URI      string  `json:"uri"`
		MimeType string  `json:"mimeType,omitzero"`
		Text     *string `json:"text,omitzero"`
		Blob     []byte  `json:"blob,omitzero"`
	}
	linkBlock struct {
		Type        string `json:"type"`
		URI         string `json:"uri"`
		Name        string `json:"name"`
		Title       string `json:"title,omitzero"`
		Description string `json:"description,omitzero"`
		MimeType    string `json:"mimeType,omitzero"`
		Size        int64  `json:"size,omitzero"`
	}
)

// block is one item of a tool's content that is a content block.
func block(c tool.Content) any {
	switch {
	case c.Image != nil:
		return &mediaBlock{"image", c.Image.Data, c.Image.MimeType}
	case c.Audio != nil:
		return &mediaBlock{"audio", c.Audio.Data, c.Audio.MimeType}
	case c.Resource != nil:
		return &resourceBlock{"resource", contentsOf(c.Resource)}
	case c.Link != nil:
		l := c.Link
		return &linkBlock{"resource_link", l.URI, l.Name, l.Title, l.Description, l.MimeType, l.Size}
	}
	return &textBlock{"text", c.Text}
}

func contentsOf(r *tool.Resource) resourceContents {
	out := resourceContents{URI: r.URI, MimeType: r.MimeType, Blob: r.Blob}
	if r.Blob == nil {
		out.Text = &r.Text
	}
	return out
}

// resultParts is what the model gets of a result: its text, which is never
// empty since some providers refuse that, and the images it can see. What it
// cannot take is named by its path.
func resultParts(res tool.Result, info model.Info) []model.Part {
	text := res.Text
	var images []model.Part
	for i := range res.Media {
		m := &res.Media[i]
		if mimeType, ok := media.Image(m.Data); ok && info.Images {
			images = append(images, model.Part{Image: &model.Media{MimeType: mimeType, Data: m.Data}})
			continue
		}
		if text != "" {
			text += "\n\n"
		}
		text += unseen(m)
	}
	if text == "" {
		text = "(no output)"
	}
	return append([]model.Part{model.Text(text)}, images...)
}

func unseen(m *tool.Media) string {
	if m.Path == "" {
		return fmt.Sprintf("[%s of %d bytes, which this model cannot take]", m.MimeType, len(m.Data))
	}
	return fmt.Sprintf("[%s, which this model cannot take, kept as %s]", m.MimeType, m.Path)
}

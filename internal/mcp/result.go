package mcp

import (
	"encoding/json" // what the SDK decodes structured content to
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/media"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/tool"
	"github.com/grapnel-ai/grapnel/internal/upload"
)

const (
	// maxText is how much text of one result is taken, in bytes.
	maxText = 64 << 10
	// maxParts is how many parts of one result are taken.
	maxParts = 256
	// maxLabel bounds a name or address of a server's that is shown, in bytes.
	maxLabel = 500
)

// result is a server's result being taken in.
type result struct {
	files *upload.Batch
	text  []string // for the model
	room  int      // bytes of text that may still come
	out   tool.Result
}

// take makes a server's result the tool's. What comes as a file is kept in
// store.
func take(r *sdk.CallToolResult, store upload.Store) tool.Result {
	t := &result{files: store.Batch(), room: maxText}
	t.out.IsError = r.IsError
	for i, c := range r.Content {
		if i == maxParts {
			t.note(fmt.Sprintf("[%d further parts left out]", len(r.Content)-maxParts))
			break
		}
		t.part(c)
	}
	t.structure(r.StructuredContent)
	t.out.Text = strings.Join(t.text, "\n\n")
	return t.out
}

func (t *result) part(c sdk.Content) {
	switch c := c.(type) {
	case *sdk.TextContent:
		t.say(c.Text)
	case *sdk.ImageContent:
		t.file(upload.File{Data: c.Data, MimeType: c.MIMEType})
	case *sdk.AudioContent:
		t.file(upload.File{Data: c.Data, MimeType: c.MIMEType})
	case *sdk.ResourceLink:
		t.link(c)
	case *sdk.EmbeddedResource:
		t.resource(c.Resource)
	}
}

// say takes text, for the model and for people.
func (t *result) say(text string) { t.note(t.fit(text)) }

// note adds words of our own.
func (t *result) note(text string) {
	t.text = append(t.text, text)
	t.out.Content = append(t.out.Content, tool.Content{Text: text})
}

// fit keeps both ends of a text that is longer than there is room for.
func (t *result) fit(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	if len(text) > t.room {
		half := t.room / 2
		text = strings.ToValidUTF8(text[:half], "") + fmt.Sprintf("\n[… %d bytes left out …]\n", len(text)-2*half) +
			strings.ToValidUTF8(text[len(text)-half:], "")
	}
	t.room = max(0, t.room-len(text))
	return text
}

// file keeps a file. Images and sounds are shown, and given to models that take
// them; others are named by their path.
func (t *result) file(f upload.File) {
	saved, err := t.files.Save(f)
	if err != nil {
		t.note(upload.Unavailable(f, err))
		return
	}
	m := tool.Media{MimeType: saved.MimeType, Data: f.Data, Path: saved.Path}
	if _, ok := media.Image(f.Data); ok {
		t.out.Media = append(t.out.Media, m)
		t.out.Content = append(t.out.Content, tool.Content{Image: &m})
		return
	}
	if _, ok := media.Audio(f.Data); ok {
		t.out.Media = append(t.out.Media, m)
		t.out.Content = append(t.out.Content, tool.Content{Audio: &m})
		return
	}
	t.text = append(t.text, saved.Text())
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(saved.Path)}
	t.out.Content = append(t.out.Content, tool.Content{Link: &tool.ResourceLink{
		URI: u.String(), Name: saved.Name, MimeType: saved.MimeType, Size: int64(len(f.Data)),
	}})
}

func (t *result) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
	case r.Blob != nil:
		t.file(upload.File{Data: r.Blob, Name: r.URI, MimeType: r.MIMEType})
	default:
		uri, text := label(r.URI), t.fit(r.Text)
		t.text = append(t.text, fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", uri, text))
		t.out.Content = append(t.out.Content, tool.Content{Resource: &tool.Resource{URI: uri, MimeType: label(r.MIMEType), Text: text}})
	}
}

func (t *result) link(l *sdk.ResourceLink) {
	link := tool.ResourceLink{
		URI: label(l.URI), Name: label(l.Name), Title: label(l.Title), Description: label(l.Description), MimeType: label(l.MIMEType),
	}
	if l.Size != nil {
		link.Size = max(0, *l.Size)
	}
	if link.Name == "" {
		link.Name = link.URI
	}
	t.text = append(t.text, t.fit(strings.TrimSpace(fmt.Sprintf("[Link: %s] %s %s", link.Name, link.URI, link.Description))))
	t.out.Content = append(t.out.Content, tool.Content{Link: &link})
}

// structure takes structured content. As a rule it repeats the text, so the
// model gets it only where there is none. Clients get it whole or not at all.
func (t *result) structure(v any) {
	if v == nil {
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	if len(b) <= maxText {
		t.out.RawOutput = b
	}
	if len(t.text) == 0 {
		t.say(string(b))
	}
}

func label(s string) string { return printable.Line(printable.Clip(s, maxLabel)) }

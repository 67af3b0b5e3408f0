package serve

import (
	"encoding/base64"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/media"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// block is what is read of a content block to check it; the block itself is
// passed on as it came.
type block struct {
	Type     string  `json:"type"`
	Text     *string `json:"text"`
	Data     string  `json:"data"`
	MimeType string  `json:"mimeType"`
	URI      string  `json:"uri"`
	Name     string  `json:"name"`
	Resource *struct {
		URI  string  `json:"uri"`
		Text *string `json:"text"`
		Blob *string `json:"blob"`
	} `json:"resource"`
}

// accepts says what a prompt may hold.
type accepts struct {
	image, audio bool
	lenient      bool // unknown block types are skipped instead of refused
}

// readPrompt checks a prompt and returns its blocks in standard form: a string
// becomes one text block, {"text":…} gets its type, images their true type. All
// blocks are checked before any is used. Errors are InvalidErrors.
func readPrompt(v raw, a accepts) ([]raw, error) {
	var items []raw
	switch v.Kind() {
	case '"':
		text, err := jsontext.AppendFormat(nil, append(append([]byte(`{"type":"text","text":`), v...), '}'))
		if err != nil {
			return nil, session.Invalidf("prompt: %v", err)
		}
		items = []raw{text}
	case '[':
		if err := json.Unmarshal(v, &items); err != nil {
			return nil, session.Invalidf("prompt: %v", err)
		}
		if err := bounded("prompt", len(items), maxBlocks); err != nil {
			return nil, err
		}
	default:
		return nil, session.Invalidf("prompt must be an array of content blocks")
	}
	blocks := make([]raw, 0, len(items))
	for i, item := range items {
		b, err := readBlock(item, a)
		if err != nil {
			return nil, session.Invalidf("prompt block %d: %v", i, err)
		}
		if b != nil {
			blocks = append(blocks, b)
		}
	}
	if !anyUsable(blocks) {
		return nil, session.Invalidf("prompt has nothing in it that can be used")
	}
	return blocks, nil
}

func anyUsable(blocks []raw) bool {
	for _, v := range blocks {
		var b block
		if json.Unmarshal(v, &b) == nil && (b.Text == nil || strings.TrimSpace(*b.Text) != "") {
			return true
		}
	}
	return false
}

// readBlock returns a block in standard form, or nil to skip it.
func readBlock(v raw, a accepts) (raw, error) {
	var b block
	if err := json.Unmarshal(v, &b); err != nil {
		return nil, err
	}
	if b.Type == "" && lookup(v, "type") == nil {
		b.Type = guessType(&b)
		if b.Type != "" {
			v = withType(v, b.Type)
		}
	}
	switch b.Type {
	case "text":
		if b.Text == nil {
			return nil, session.Invalidf("a text block needs text")
		}
		return v, nil
	case "resource_link":
		if b.URI == "" || b.Name == "" {
			return nil, session.Invalidf("a resource_link needs uri and name")
		}
		return v, nil
	case "resource":
		return readResource(v, &b)
	case "image":
		if !a.image {
			return nil, session.Invalidf("this agent's model takes no images")
		}
		return readMedia(v, &b, media.Image, "PNG, JPEG, GIF or WebP image")
	case "audio":
		if !a.audio {
			return nil, session.Invalidf("this agent's model takes no audio")
		}
		return readMedia(v, &b, media.Audio, "WAV, MP3, FLAC, Ogg, AIFF or MPEG-4 sound")
	}
	if a.lenient {
		return nil, nil
	}
	return nil, session.Invalidf("unknown content type %q", b.Type)
}

func guessType(b *block) string {
	switch {
	case b.Text != nil:
		return "text"
	case b.Resource != nil:
		return "resource"
	}
	return ""
}

// withType adds a type member to an object that has none.
func withType(v raw, typ string) raw {
	rest := strings.TrimLeft(string(v), " \t\r\n")[1:]
	return raw(`{"type":"` + typ + `",` + rest)
}

// readResource checks an embedded resource and gives its blob clean base64.
func readResource(v raw, b *block) (raw, error) {
	r := b.Resource
	switch {
	case r == nil:
		return nil, session.Invalidf("a resource block needs a resource")
	case r.Text != nil:
		return v, nil
	case r.Blob == nil:
		return nil, session.Invalidf("a resource needs text or blob")
	}
	data, err := media.Decode(*r.Blob)
	if err != nil {
		return nil, session.Invalidf("the blob of %s: %v", printable.Line(r.URI), err)
	}
	if *r.Blob == base64.StdEncoding.EncodeToString(data) {
		return v, nil
	}
	resource, err := with(lookup(v, "resource"), "blob", data)
	if err != nil {
		return nil, err
	}
	return with(v, "resource", resource)
}

// readMedia checks an image or a sound and gives it clean base64 and its true
// type; a wrong label would make a provider refuse every later turn.
func readMedia(v raw, b *block, sniff func([]byte) (string, bool), kinds string) (raw, error) {
	data, err := media.Decode(b.Data)
	if err != nil {
		return nil, err
	}
	mime, ok := sniff(data)
	if !ok {
		return nil, session.Invalidf("the data of the %s block is no %s (it looks like %s)", b.Type, kinds, media.Type(data, ""))
	}
	if v, err = with(v, "mimeType", mime); err != nil {
		return nil, err
	}
	return with(v, "data", data)
}

// with sets a member of an object; bytes are written in base64.
func with(object raw, name string, value any) (raw, error) {
	var members map[string]raw
	err := json.Unmarshal(object, &members)
	if err == nil {
		members[name], err = json.Marshal(value)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(members, json.Deterministic(true))
}

package web

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// read fills in the page's text from what was sent.
func (p *Page) read(contentType string, data []byte, base *url.URL) error {
	typ, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		typ, params, _ = mime.ParseMediaType(http.DetectContentType(data))
	}
	p.Type = typ
	if !readable(typ) {
		return fmt.Errorf("%s is %s, which cannot be read as text; only pages, text and JSON are fetched", p.URL, typ)
	}
	isHTML := typ == "text/html" || typ == "application/xhtml+xml"
	charset := params["charset"]
	if charset == "" && isHTML {
		charset = metaCharset(data)
	}
	text := decode(data, charset)
	if isHTML {
		var cut bool
		p.Title, text, cut = Markdown(text, base)
		p.Cut = p.Cut || cut
	}
	p.Text = text
	return nil
}

// readable reports media types that are text.
func readable(typ string) bool {
	switch typ {
	case "application/json", "application/ld+json", "application/xml", "application/xhtml+xml", "application/javascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/sql":
		return true
	}
	return strings.HasPrefix(typ, "text/") || strings.HasSuffix(typ, "+json") || strings.HasSuffix(typ, "+xml") && typ != "image/svg+xml"
}

// decode turns a page into UTF-8. Western single-byte text is read; of other
// encodings what is no UTF-8 becomes U+FFFD.
func decode(data []byte, charset string) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch strings.ToLower(charset) {
	case "iso-8859-1", "latin1", "windows-1252", "us-ascii", "ascii":
		if utf8.Valid(data) {
			break // labelled so by a server that does not know
		}
		var b strings.Builder
		for _, c := range data {
			b.WriteRune(rune(c))
		}
		return b.String()
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

// metaCharset finds the encoding an HTML page names in its first bytes.
func metaCharset(data []byte) string {
	head := bytes.ToLower(data[:min(len(data), 2048)])
	_, after, ok := bytes.Cut(head, []byte("charset="))
	if !ok {
		return ""
	}
	after = bytes.TrimLeft(after, `"' `)
	end := bytes.IndexAny(after, "\"' />;")
	if end < 0 {
		return ""
	}
	return string(after[:end])
}

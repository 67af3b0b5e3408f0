package secret

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// longestForm bounds what is matched as one: a longer value is known by its
	// pieces of this length.
	longestForm = 4 << 10
	// shortestLine is the least length of a line of a longer secret, such as a
	// private key, that is a secret by itself.
	shortestLine = 16
)

// partsOf returns what is secret in a value: most often all of it.
func partsOf(value string) []string {
	if u, err := url.Parse(value); err == nil && u.Scheme != "" && u.Host != "" {
		if parts := urlParts(u); len(parts) > 0 {
			return parts
		}
	}
	parts := []string{value}
	scheme, rest, found := strings.Cut(value, " ")
	switch {
	case !found || strings.ContainsRune(rest, '\n'):
	case strings.EqualFold(scheme, "basic"):
		parts = append(parts, rest)
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			parts = append(parts, password)
		}
	case strings.EqualFold(scheme, "bearer"), strings.EqualFold(scheme, "token"):
		parts = append(parts, strings.TrimSpace(rest))
	}
	return parts
}

// urlParts returns the secrets in an address, whose rest is none.
func urlParts(u *url.URL) []string {
	var parts []string
	if password, ok := u.User.Password(); ok {
		parts = append(parts, password)
	}
	for name, values := range u.Query() {
		if SecretName(name) {
			parts = append(parts, values...)
		}
	}
	return parts
}

// formsOf returns the texts a value is recognised by, each at least MinRedacted
// long.
func formsOf(value string) []string {
	var forms []string
	add := func(form string) {
		for len(form) > longestForm {
			forms = append(forms, form[:longestForm])
			form = form[longestForm:]
		}
		if len(form) >= MinRedacted {
			forms = append(forms, form)
		}
	}
	for _, v := range append([]string{value}, linesOf(value)...) {
		add(v)
		add(url.QueryEscape(v))
		add(url.PathEscape(v))
		once := inner(strconv.Quote(v))
		add(once)
		add(inner(strconv.Quote(once))) // an error that quotes, in a log line
		if quoted, err := jsontext.AppendQuote(nil, v); err == nil {
			add(inner(string(quoted)))
			add(inner(string(quoted[:len(quoted)-1])+`"`, "/", `\/`))
		}
	}
	for _, b := range base64Of(value) {
		add(b)
	}
	return forms
}

// inner is a quoted string without its quotes, with replacements made.
func inner(quoted string, replace ...string) string {
	return strings.NewReplacer(replace...).Replace(quoted[1 : len(quoted)-1])
}

// linesOf returns the lines of a value that has several and that are secret by
// themselves, as a private key is shown with line numbers or indented.
func linesOf(value string) []string {
	if !strings.ContainsRune(value, '\n') {
		return nil
	}
	var lines []string
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		if len(line) >= shortestLine && !strings.HasPrefix(line, "-----") {
			lines = append(lines, line)
		}
	}
	return lines
}

// base64Of returns what base64 makes of a value wherever it stands in what is
// encoded: its three alignments, without the characters that depend on the
// bytes around it.
func base64Of(value string) []string {
	forms := []string{base64.StdEncoding.EncodeToString([]byte(value)), base64.URLEncoding.EncodeToString([]byte(value))}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
			text = text[[]int{0, 2, 3}[before]:]
			if (before+len(value))%3 != 0 {
				text = text[:len(text)-1]
			}
			if len(text) >= pieceBytes {
				forms = append(forms, text)
			}
		}
	}
	return forms
}

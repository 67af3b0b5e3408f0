// Package picture draws what a program wrote to a terminal as an SVG picture,
// and reads the text of such a picture back.
package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Geometry of the picture, in pixels but for columns.
const (
	columns  = 94
	width    = 820 // room for the columns in the widest usual font
	fontSize = 14
	leading  = 19
	margin   = 20
	bar      = 36 // the window's title bar
)

const header = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-label="%[3]s">
<style>
text { font: %[4]dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre }
.title { fill: #79c0ff; font-weight: bold } .you { fill: #7ee787 } .asked { fill: #e3b341 } .tool { fill: #8b949e } .prompt { fill: #ffffff; font-weight: bold }
</style>
<rect width="%[1]d" height="%[2]d" rx="10" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/><circle cx="62" cy="20" r="6" fill="#28c840"/>
`

// Draw returns the picture of a terminal in which command was run and wrote
// output. label describes the picture to those who cannot see it.
func Draw(label, command, output string) []byte {
	lines := append([]line{{text: "$ " + command, class: "prompt"}}, layout(output)...)
	height := bar + margin + leading*len(lines) + margin/2
	var b bytes.Buffer
	fmt.Fprintf(&b, header, width, height, escape(label), fontSize)
	for i, l := range lines {
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="%s" xml:space="preserve">%s</text>`+"\n",
			margin, bar+margin+leading*i, l.class, escape(l.text))
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}

// line is one line of the picture.
type line struct{ text, class string }

// more marks the lines that continue the one before, for Read.
const more = " more"

// layout cuts text into lines that fit, coloured by what they begin with.
func layout(text string) []line {
	var lines []line
	for l := range strings.Lines(strings.Trim(text, "\n")) {
		l = strings.TrimRight(l, " \n")
		class := classOf(l)
		for i, part := range wrap(l) {
			if i > 0 {
				part = strings.Repeat(" ", indent(l)) + part
				lines = append(lines, line{part, class + more})
				continue
			}
			lines = append(lines, line{part, class})
		}
	}
	return lines
}

func classOf(l string) string {
	switch word, _, _ := strings.Cut(strings.TrimSpace(l), ":"); {
	case strings.HasPrefix(l, "=="):
		return "title"
	case word == "you", strings.HasPrefix(word, "you press"):
		return "you"
	case word == "may I":
		return "asked"
	case word == "tool", word == "turn over":
		return "tool"
	}
	return "text"
}

// indent is where a line goes on below itself: after its first word.
func indent(l string) int {
	start := len(l) - len(strings.TrimLeft(l, " "))
	word, _, ok := strings.Cut(l[start:], ": ")
	if !ok || strings.Contains(word, " ") {
		return start
	}
	return start + len(word) + 2
}

// wrap cuts a line at blanks.
func wrap(l string) []string {
	var parts []string
	room := columns
	for len(l) > room {
		at := strings.LastIndexByte(l[:room], ' ')
		if at <= indent(l) {
			break // a word too long to cut
		}
		parts = append(parts, l[:at])
		l = l[at+1:]
		room = columns - indent(parts[0])
	}
	return append(parts, l)
}

// Read returns the command and the output that a picture made by Draw shows,
// without blanks at the end of a line.
func Read(svg []byte) (command, output string, err error) {
	var out strings.Builder
	dec := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return command, strings.TrimPrefix(out.String(), "\n") + "\n", nil
		}
		if err != nil {
			return "", "", fmt.Errorf("read the picture: %w", err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok || start.Name.Local != "text" {
			continue
		}
		var text struct {
			Class string `xml:"class,attr"`
			Body  string `xml:",chardata"`
		}
		if err := dec.DecodeElement(&text, &start); err != nil {
			return "", "", fmt.Errorf("read the picture: %w", err)
		}
		switch {
		case text.Class == "prompt":
			command = strings.TrimPrefix(text.Body, "$ ")
		case strings.HasSuffix(text.Class, more):
			out.WriteString(" " + strings.TrimLeft(text.Body, " "))
		default:
			out.WriteString("\n" + text.Body)
		}
	}
}

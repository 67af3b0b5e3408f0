package acpclient

import "strings"

// style is how text looks on a terminal with colours.
type style string

const (
	plainStyle style = ""
	dimStyle   style = "2"
	boldStyle  style = "1"
	goodStyle  style = "32"
	badStyle   style = "31"
	warnStyle  style = "33"
	noteStyle  style = "36"
)

// styled is text with a look.
type styled struct {
	style style
	text  string
}

func plain(text string) styled { return styled{plainStyle, text} }
func dim(text string) styled   { return styled{dimStyle, text} }
func bold(text string) styled  { return styled{boldStyle, text} }
func warn(text string) styled  { return styled{warnStyle, text} }
func bad(text string) styled   { return styled{badStyle, text} }

// paint turns styled text into what is written; false leaves the looks out.
type paint bool

func (p paint) paint(parts ...styled) string {
	var b strings.Builder
	for _, s := range parts {
		if !p || s.style == plainStyle || s.text == "" {
			b.WriteString(s.text)
			continue
		}
		b.WriteString("\x1b[" + string(s.style) + "m" + s.text + "\x1b[0m")
	}
	return b.String()
}

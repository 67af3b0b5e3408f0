package model

import "slices"

// Fit returns the messages with words in place of the images and sounds that a
// model does not take, and whether there were any: models change within a
// session, and providers refuse a history that holds what they do not know.
// The messages themselves are not changed.
func Fit(messages []Message, info Info) (out []Message, changed bool) {
	out = messages
	for i := range messages {
		parts, ok := fitParts(messages[i].Parts, info)
		if !ok {
			continue
		}
		if !changed {
			out, changed = slices.Clone(messages), true
		}
		out[i].Parts = parts
	}
	return out, changed
}

func fitParts(parts []Part, info Info) (out []Part, changed bool) {
	out = parts
	for i := range parts {
		p, ok := fitPart(parts[i], info)
		if !ok {
			continue
		}
		if !changed {
			out, changed = slices.Clone(parts), true
		}
		out[i] = p
	}
	return out, changed
}

func fitPart(p Part, info Info) (Part, bool) {
	switch {
	case p.Image != nil && !info.Images:
		return Text("[an image was here, which this model cannot take]"), true
	case p.Audio != nil && !info.Audio:
		return Text("[a sound was here, which this model cannot take]"), true
	case p.ToolResult != nil:
		parts, ok := fitParts(p.ToolResult.Parts, info)
		if ok {
			r := *p.ToolResult
			r.Parts = parts
			p.ToolResult = &r
		}
		return p, ok
	}
	return p, false
}

package picture

import "strings"

// longParagraph is from how many bytes on a paragraph is not shown twice.
const longParagraph = 60

// Abridge leaves out the long paragraphs of a text that stood in it before,
// with the empty line in front of them.
func Abridge(text string) string {
	seen := make(map[string]bool)
	var kept []string
	for _, l := range strings.Split(text, "\n") {
		said := strings.TrimSpace(l)
		if len(said) < longParagraph || !seen[said] {
			seen[said] = true
			kept = append(kept, l)
			continue
		}
		if n := len(kept); n > 0 && strings.TrimSpace(kept[n-1]) == "" {
			kept = kept[:n-1]
		}
	}
	return strings.Join(kept, "\n")
}

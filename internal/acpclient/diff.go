package acpclient

import (
	"fmt"
	"strings"
)

const (
	// around is how many unchanged lines are shown on each side of a change.
	around = 3
	// maxCompared bounds the lines that are compared with each other; where more
	// differ, all of the old ones are shown as replaced.
	maxCompared = 1500
)

// edit is a line of a comparison: ' ', '-' or '+', and the line.
type edit struct {
	op   byte
	text string
}

// unified compares two texts line by line and returns at most limit lines in
// the unified format, without a header.
func unified(before, after string, limit int) []string {
	edits := compare(split(before), split(after))
	var out []string
	oldLine, newLine := 1, 1
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' {
			i, oldLine, newLine = i+1, oldLine+1, newLine+1
			continue
		}
		from := max(0, i-around)
		to := hunkEnd(edits, i)
		out = append(out, fmt.Sprintf("@@ -%d +%d @@", oldLine-(i-from), newLine-(i-from)))
		for _, e := range edits[from:to] {
			out = append(out, string(e.op)+e.text)
		}
		for _, e := range edits[i:to] {
			if e.op != '+' {
				oldLine++
			}
			if e.op != '-' {
				newLine++
			}
		}
		i = to
	}
	if len(out) > limit {
		left := len(out) - limit
		out = append(out[:limit:limit], fmt.Sprintf("@@ %d more lines @@", left))
	}
	return out
}

// hunkEnd finds where the changes from i on are followed by enough that did not
// change.
func hunkEnd(edits []edit, i int) int {
	last := i
	for j := i; j < len(edits) && j-last <= 2*around; j++ {
		if edits[j].op != ' ' {
			last = j
		}
	}
	return min(len(edits), last+1+around)
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// compare returns the edits from a to b, fewest where they are small.
func compare(a, b []string) []edit {
	var edits []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		edits = append(edits, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	same := 0
	for same < min(len(a), len(b)) && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	edits = append(edits, middle(a[:len(a)-same], b[:len(b)-same])...)
	for _, line := range a[len(a)-same:] {
		edits = append(edits, edit{' ', line})
	}
	return edits
}

// middle compares what differs at both ends, by the longest common subsequence.
func middle(a, b []string) []edit {
	if len(a) > maxCompared || len(b) > maxCompared {
		return replaced(a, b)
	}
	common := make([][]int32, len(a)+1) // of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			common[i][j] = max(common[i+1][j], common[i][j+1])
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	var edits []edit
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			edits = append(edits, edit{' ', a[i]})
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			edits = append(edits, edit{'-', a[i]})
			i++
		default:
			edits = append(edits, edit{'+', b[j]})
			j++
		}
	}
	return append(edits, replaced(a[i:], b[j:])...)
}

func replaced(a, b []string) []edit {
	var edits []edit
	for _, line := range a {
		edits = append(edits, edit{'-', line})
	}
	for _, line := range b {
		edits = append(edits, edit{'+', line})
	}
	return edits
}

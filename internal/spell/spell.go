// Package spell finds the known name that a mistyped one most likely meant.
package spell

import "strings"

// maxLen bounds the bytes that count, and with it the work on hostile names.
const maxLen = 64

// Nearest returns the known name most like name, ignoring case, and how many
// letters differ. It returns "" when nothing is known.
func Nearest(name string, known []string) (nearest string, distance int) {
	for i, k := range known {
		if d := levenshtein(name, k); i == 0 || d < distance {
			nearest, distance = k, d
		}
	}
	return nearest, distance
}

// Close reports whether a distance from name is that of a slip of the fingers.
func Close(name string, distance int) bool { return distance <= max(2, min(len(name), maxLen)/3) }

func levenshtein(a, b string) int {
	a, b = strings.ToLower(a[:min(len(a), maxLen)]), strings.ToLower(b[:min(len(b), maxLen)])
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

package proc

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTail(t *testing.T) {
	var tail Tail
	write := func(s string) {
		if n, err := io.WriteString(&tail, s); n != len(s) || err != nil {
			t.Errorf("write: %d %v", n, err)
		}
	}
	write("one\n\ntw")
	write("o\r\nthree")
	if d := cmp.Diff([]string{"one", "two", "three"}, tail.Lines()); d != "" {
		t.Error(d)
	}
	write("\n" + strings.Repeat("flood\n", 1<<20))
	write(strings.Repeat("y", 1<<20) + "\nlast\xff\n")
	lines := tail.Lines()
	if len(lines) != tailLines || lines[tailLines-1] != "last?" || len(lines[tailLines-2]) != tailLine {
		t.Errorf("%d lines: %.40q", len(lines), lines)
	}
}

package spell

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"version", "config", "completion"}
	tests := []struct {
		name, want string
		distance   int
		close      bool
	}{
		{"config", "config", 0, true},
		{"verison", "version", 2, true},
		{"CONFIG", "config", 0, true},
		{"cnfg", "config", 2, true},
		{"", "config", 6, false},
		{"zzzzzzz", "version", 7, false},
		{strings.Repeat("z", 1000), "version", 64, false},
	}
	for _, tt := range tests {
		got, distance := Nearest(tt.name, known)
		if got != tt.want || distance != tt.distance || Close(tt.name, distance) != tt.close {
			t.Errorf("Nearest(%.10q) = %q, %d (close %v), want %q, %d (%v)", tt.name, got, distance, Close(tt.name, distance), tt.want, tt.distance, tt.close)
		}
	}
	if got, _ := Nearest("x", nil); got != "" {
		t.Errorf("nearest of nothing is %q", got)
	}
}

package price_test

import (
	"testing"

	"github.com/grapnel-ai/grapnel/internal/model/price"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		id    string
		input float64 // 0: no price
	}{
		{"claude-sonnet-4-6", 3},
		{"claude-haiku-4-5-20251001", 1},
		{"anthropic/claude-sonnet-4.5", 3},
		{"claude-opus-5-5", 4},
		{"claude-opus-5", 5},
		{"gpt-5-2025-08-07", 1.25},
		{"gpt-5.4-mini", 0.75},
		{"openai/gpt-4o", 2.5},
		{"gpt-5-pro", 0},
		{"gpt-4o-realtime", 0},
		{"llama3.2:3b", 0},
		{"", 0},
	}
	for _, tt := range tests {
		p := price.Lookup(tt.id)
		if (p != nil) != (tt.input != 0) || p != nil && p.Input != tt.input {
			t.Errorf("Lookup(%q) = %+v, want input price %v", tt.id, p, tt.input)
		}
	}
}

func TestLookupReturnsACopy(t *testing.T) {
	price.Lookup("gpt-5").Input = 99
	if p := price.Lookup("gpt-5"); p.Input != 1.25 {
		t.Errorf("the table was changed to %v", p.Input)
	}
}

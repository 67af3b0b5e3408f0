package openaichat_test

import "testing"

// TestModalities: an editor offers what is said here, so it must be true.
func TestModalities(t *testing.T) {
	p := connect(t, &server{})
	for id, want := range map[string]struct{ images, audio bool }{
		"gpt-4o":                       {true, false},
		"gpt-4o-audio-preview":         {true, true},
		"google/gemini-3.5-flash":      {true, true},
		"models/gemini-2.5-pro":        {true, true},
		"deepseek-chat":                {false, false},
		"deepseek/deepseek-vl2":        {true, false},
		"openai/gpt-oss-20b":           {false, false},
		"llama3.1:8b":                  {false, false},
		"llama3.2-vision":              {true, false},
		"meta-llama/Llama-3.3-70B":     {false, false},
		"qwen3-coder:30b":              {false, false},
		"qwen2.5-omni":                 {true, false},
		"what nobody has heard of yet": {true, false},
	} {
		if info := p.Info(id); info.Images != want.images || info.Audio != want.audio {
			t.Errorf("%s: images %v, audio %v", id, info.Images, info.Audio)
		}
	}
}

package openaichat

import "strings"

// textOnly reports whether models of that name are known to take no images,
// whoever serves them. Of others it is not known: what they get is passed on,
// and sent again without images if the server refuses it.
func textOnly(id string) bool {
	name := baseName(id)
	for _, part := range []string{"-vl", "vision", "omni", "ocr"} {
		if strings.Contains(name, part) {
			return false
		}
	}
	for _, prefix := range []string{
		"gpt-3.5", "gpt-oss", "o1-mini", "o1-preview", "o3-mini", "deepseek", "codestral", "qwen2.5-coder", "qwen3-coder", "qwq",
		"llama3:", "llama3.1", "llama3.3", "llama-3-", "llama-3.1", "llama-3.3", "grok-3", "grok-code", "starcoder", "codellama",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// hears reports whether models of that name are known to take sound as
// input_audio.
func hears(id string) bool {
	name := baseName(id)
	for _, prefix := range []string{"gpt-4o-audio", "gpt-4o-mini-audio", "gpt-audio", "gemini-2", "gemini-3"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// baseName is a model's id without who makes it, such as google/ or models/.
func baseName(id string) string {
	return strings.ToLower(id[strings.LastIndexByte(id, '/')+1:])
}

package serve

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/media"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// onePixel is a PNG of one pixel.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestReadPrompt(t *testing.T) {
	all := accepts{image: true, audio: true}
	for _, c := range []struct {
		name, prompt string
		accepts      accepts
		want         string // the blocks, "" for a refusal
	}{
		{"string", `"hi"`, all, `{"type":"text","text":"hi"}`},
		{"text", `[{"type":"text","text":"hi","_meta":{"a":1}}]`, all, `{"type":"text","text":"hi","_meta":{"a":1}}`},
		{"no type", `[{"text":"hi"}]`, all, `{"type":"text","text":"hi"}`},
		{"resource without type", `[{"resource":{"uri":"x","text":"y"}}]`, all, `{"type":"resource","resource":{"uri":"x","text":"y"}}`},
		{"link", `[{"type":"resource_link","uri":"file:///x","name":"x"}]`, all, `{"type":"resource_link","uri":"file:///x","name":"x"}`},
		{"link without name", `[{"type":"resource_link","uri":"file:///x"}]`, all, ""},
		{"link without uri", `[{"type":"resource_link","name":"x"}]`, all, ""},
		{"unknown", `[{"type":"text","text":"hi"},{"type":"hologram"}]`, all, ""},
		{"unknown, lenient", `[{"type":"text","text":"hi"},{"type":"hologram"}]`, accepts{lenient: true}, `{"type":"text","text":"hi"}`},
		{"image", `[{"type":"image","mimeType":"image/jpeg","data":"data:image/png;base64,` + onePixel + `"}]`, all, `{"data":"` + onePixel + `","mimeType":"image/png","type":"image"}`},
		{"image the model does not take", `[{"type":"image","mimeType":"image/png","data":"` + onePixel + `"}]`, accepts{}, ""},
		{"no image", `[{"type":"image","mimeType":"image/png","data":"aGVsbG8="}]`, all, ""},
		{"audio not taken", `[{"type":"audio","mimeType":"audio/wav","data":"aGVsbG8="}]`, accepts{image: true}, ""},
		{"audio", `[{"type":"audio","mimeType":"audio/wav","data":"SUQz\nBA"}]`, all, `{"data":"SUQzBA==","mimeType":"audio/mpeg","type":"audio"}`},
		{"no audio", `[{"type":"audio","mimeType":"audio/wav","data":"aGVsbG8="}]`, all, ""},
		{"blob", `[{"type":"resource","resource":{"uri":"x","blob":"aGVsbG8="},"_meta":{}}]`, all, `{"type":"resource","resource":{"uri":"x","blob":"aGVsbG8="},"_meta":{}}`},
		{"untidy blob", `[{"type":"resource","resource":{"uri":"x","blob":"data:text/plain;base64,aGVs\tbG8"}}]`, all, `{"resource":{"blob":"aGVsbG8=","uri":"x"},"type":"resource"}`},
		{"empty type", `[{"type":"","text":"hi"}]`, all, ""},
		{"bad blob", `[{"type":"text","text":"hi"},{"type":"resource","resource":{"uri":"x","blob":"!"}}]`, all, ""},
		{"empty", `[]`, all, ""},
		{"blank", `[{"type":"text","text":"  "}]`, all, ""},
		{"null", `null`, all, ""},
		{"number", `5`, all, ""},
		{"items of another kind", `["a"]`, all, ""},
	} {
		blocks, err := readPrompt(raw(c.prompt), c.accepts)
		if c.want == "" {
			if invalid := (*session.InvalidError)(nil); !errors.As(err, &invalid) {
				t.Errorf("%s: %s, %v", c.name, blocks, err)
			}
			continue
		}
		if err != nil || len(blocks) != 1 || string(blocks[0]) != c.want {
			t.Errorf("%s: %s, %v", c.name, blocks, err)
		}
	}
}

func TestBlobLimit(t *testing.T) {
	data := base64.StdEncoding.EncodeToString(make([]byte, media.MaxBytes+1))
	_, err := readPrompt(raw(`[{"type":"resource","resource":{"uri":"x","blob":"`+data+`"}}]`), accepts{})
	if err == nil || !strings.Contains(err.Error(), "10485760") {
		t.Errorf("got %v", err)
	}
}

// FuzzReadPrompt: any prompt is refused or becomes valid blocks that are read
// the same again.
func FuzzReadPrompt(f *testing.F) {
	for _, seed := range []string{
		`"hi"`, `[{"text":"hi"}]`, `[{"type":"image","data":"` + onePixel + `"}]`, `[ { } ]`, `{"a":1}`, `[{"type":"resource","resource":{}}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, prompt []byte) {
		v := raw(prompt)
		if !v.IsValid() {
			return // never gets this far
		}
		blocks, err := readPrompt(v, accepts{image: true, audio: true})
		if err != nil {
			return
		}
		for _, b := range blocks {
			if !b.IsValid() {
				t.Fatalf("%s became %s", prompt, b)
			}
			if _, err := readBlock(b, accepts{image: true, audio: true}); err != nil {
				t.Errorf("%s is refused the second time: %v", b, err)
			}
		}
	})
}

// FuzzParams: params are refused or read, and never crash.
func FuzzParams(f *testing.F) {
	f.Add([]byte(`{"sessionId":"s","cwd":null,"_meta":{"agentAlias":"a","grapnel":{"key":"k","after":3}}}`))
	f.Add([]byte(`{"session_id":"s","mcpServers":[{}],"additionalDirectories":["/x"]}`))
	f.Add([]byte(`{"cwd":"/x","cursor":"c","limit":5,"_meta":{"sessionKey":"agent:a:b","resetSession":true,"limit":3,"provenance":{},"grapnel":{"role":"observer"}}}`))
	c := newConn(New(Options{}), ConnOptions{Role: session.Approver})
	f.Fuzz(func(t *testing.T, v []byte) {
		p, err := parseParams(raw(v))
		if err != nil {
			return
		}
		_, _ = p.after()
		_, _ = p.provenance()
		_, _ = readChoice(p.Meta)
		if role, err := c.role(p); err == nil && role > session.Approver {
			t.Errorf("%s asks for the role %v", v, role)
		}
		if _, limit, err := listFilter(p); err == nil && (limit < 1 || limit > listPage) {
			t.Errorf("%s asks for pages of %d", v, limit)
		}
		_, _ = p.servers()
		_ = p.agent() + p.cwd() + p.idempotencyKey() + p.session()
		_ = readCaps(raw(v))
	})
}

func TestBadParamsNameTheMember(t *testing.T) {
	for params, want := range map[string]string{
		`{"sessionId":5}`:               "invalid params: /sessionId must not be a number (-32602)",
		`{"additionalDirectories":[1]}`: "invalid params: /additionalDirectories/0 must not be a number (-32602)",
		`[]`:                            "invalid params: they must be an object (-32602)",
	} {
		if _, err := parseParams(raw(params)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", params, err)
		}
	}
}

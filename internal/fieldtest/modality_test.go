package fieldtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
)

// models configures the fake provider with a model, and a second agent whose
// model the first may switch to.
func (w *World) models(first, second string) {
	w.Configure(fmt.Sprintf(`
[acp]
default_agent = "main"
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "sk-fake"
[agents.main]
provider = "fake"
model = %q
[agents.other]
provider = "fake"
model = %q
`, w.URL, first, second))
}

func pngData(t *testing.T) string {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}

// promptCapabilities is what initialize says of prompts.
func promptCapabilities(t *testing.T, a *Agent) map[string]bool {
	t.Helper()
	var r struct {
		Agent struct {
			Prompt map[string]bool `json:"promptCapabilities"`
		} `json:"agentCapabilities"`
	}
	m := a.Call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	return r.Agent.Prompt
}

// TestPromptCapabilitiesAreTheModels: what initialize promises is what the
// configured model takes, and what it does not promise is refused.
func TestPromptCapabilitiesAreTheModels(t *testing.T) {
	picture := object{"type": "image", "mimeType": "image/png", "data": pngData(t)}
	sound := object{"type": "audio", "mimeType": "audio/wav", "data": encoded("RIFF\x00\x00\x00\x00WAVEfmt ")}
	for model, want := range map[string]struct{ image, audio bool }{
		"gpt-4o":               {true, false},
		"gpt-4o-audio-preview": {true, true},
		"deepseek-chat":        {false, false},
	} {
		w := NewWorld(t)
		w.models(model, model)
		a := w.Start()
		if can := promptCapabilities(t, a); can["image"] != want.image || can["audio"] != want.audio || !can["embeddedContext"] {
			t.Errorf("%s: initialize promises %v", model, can)
		}
		s := a.New()
		for _, c := range []struct {
			block object
			taken bool
		}{{picture, want.image}, {sound, want.audio}} {
			m := a.promptBlocks(s, textBlock("D:SAY ok"), c.block)
			if (m.Error == nil) != c.taken || m.Error != nil && m.Error.Code != -32602 {
				t.Errorf("%s: %s: %s %+v", model, c.block["type"], m.Result, m.Error)
			}
			if c.taken && !strings.Contains(string(w.newest()), c.block["data"].(string)) {
				t.Errorf("%s: the model did not get the %s", model, c.block["type"])
			}
		}
	}
}

// newest is the body of the newest request to the model.
func (w *World) newest() json.RawMessage {
	reqs := w.Model.Requests()
	return json.RawMessage(reqs[len(reqs)-1].Body)
}

// TestC4ModelWithoutEyesChosenLater: pictures in the history and new ones do
// not reach a model that takes none.
func TestC4ModelWithoutEyesChosenLater(t *testing.T) {
	w := NewWorld(t)
	w.models("gpt-4o", "deepseek-chat")
	a, s := w.Opened()
	picture := object{"type": "image", "mimeType": "image/png", "data": pngData(t)}
	if m := a.promptBlocks(s, textBlock("D:SAY ok"), picture); m.Error != nil {
		t.Fatal(m.Error)
	}
	if !strings.Contains(string(w.newest()), "image_url") {
		t.Fatal("the first model did not get the picture")
	}
	a.Must("session/set_config_option", object{"sessionId": s, "configId": "model", "value": "deepseek-chat"}, nil)
	if m := a.promptBlocks(s, textBlock("D:SAY ok"), picture); m.Error != nil {
		t.Fatal(m.Error)
	}
	files := w.uploads()
	if len(files) != 1 {
		t.Fatalf("kept %v", files)
	}
	seen := w.seen()
	if strings.Contains(string(w.newest()), "image_url") || !strings.Contains(seen, "[an image was here, which this model cannot take]") || !strings.Contains(seen, "[IMAGE: "+files[0]+"]") {
		t.Errorf("the second model got %.2000s", seen)
	}
}

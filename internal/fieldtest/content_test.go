package fieldtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func (a *Agent) promptBlocks(session string, blocks ...object) Message {
	a.t.Helper()
	return a.Call("session/prompt", object{"sessionId": session, "prompt": blocks})
}

func textBlock(s string) object { return object{"type": "text", "text": s} }

func TestC1C2C7ResourceLinksAndUnknownBlocks(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	file := filepath.Join(w.Cwd, "a b é.md")
	if err := os.WriteFile(file, []byte("linked content\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, link := range []object{
		{"type": "resource_link", "uri": "file://" + strings.ReplaceAll(file, " ", "%20"), "name": "a b é.md"},
		{"type": "resource_link", "uri": "https://example.com/objects/7f9a2c", "name": "季度报告.csv"},
		{"type": "resource_link", "uri": "file:///etc/shadow", "name": "shadow"},
	} {
		if m := a.promptBlocks(s, textBlock("D:SAY ok"), link); m.Error != nil {
			t.Errorf("%v: %+v", link["name"], m.Error)
		}
		reqs := w.Model.Requests()
		body := unescape(t, reqs[len(reqs)-1].Body)
		if !strings.Contains(body, link["name"].(string)) {
			t.Errorf("the model does not see the name %v", link["name"])
		}
		if strings.Contains(body, "root:") {
			t.Error("a file outside the session was read")
		}
	}
	if !strings.Contains(unescape(t, w.Model.Requests()[0].Body), "linked content") {
		t.Error("the model does not see the linked file")
	}
	for _, bad := range []object{
		{"type": "resource_link", "name": "x"},
		{"type": "resource_link", "uri": "file:///x"},
		{"type": "hologram"},
		{"type": "text"},
		{"type": "resource"},
		{"type": "resource", "resource": object{"uri": "file:///x"}},
		{"type": "resource", "resource": object{"uri": "file:///x", "blob": "!!!"}},
	} {
		if m := a.promptBlocks(s, textBlock("D:SAY ok"), bad); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%v: %s %+v", bad, m.Result, m.Error)
		}
	}
	for _, params := range []string{`""`, `[]`, `5`, `null`, `{}`, `[{"type":"text","text":""}]`} {
		m := a.Call("session/prompt", object{"sessionId": s, "prompt": json.RawMessage(params)})
		if m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("prompt %s: %s %+v", params, m.Result, m.Error)
		}
	}
}

// unescape decodes JSON strings, so that texts can be looked for in them.
func unescape(t testing.TB, body []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

func TestC4Images(t *testing.T) {
	w := NewWorld(t)
	w.Configure(fmt.Sprintf(`
[providers.fake]
kind = "anthropic"
base_url = "%s"
api_key = "sk-fake"
[agents.main]
provider = "fake"
`, w.URL))
	a, s := w.Opened()
	var buf bytes.Buffer
	if err := png.Encode(&buf, image.NewRGBA(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	clean := base64.StdEncoding.EncodeToString(buf.Bytes())
	for name, c := range map[string]struct {
		block object
		ok    bool
	}{
		"client uri":  {object{"type": "image", "mimeType": "image/png", "data": clean, "uri": "zed:///x"}, true},
		"newlines":    {object{"type": "image", "mimeType": "image/png", "data": clean[:10] + "\r\n" + clean[10:] + "\n"}, true},
		"data prefix": {object{"type": "image", "mimeType": "image/png", "data": "data:image/png;base64," + clean}, true},
		"url safe":    {object{"type": "image", "mimeType": "image/png", "data": strings.NewReplacer("+", "-", "/", "_").Replace(clean)}, true},
		"no padding":  {object{"type": "image", "mimeType": "image/png", "data": strings.TrimRight(clean, "=")}, true},
		"mislabelled": {object{"type": "image", "mimeType": "image/jpeg", "data": clean}, true},
		"garbage":     {object{"type": "image", "mimeType": "image/png", "data": "!!!!"}, false},
		"not a image": {object{"type": "image", "mimeType": "image/png", "data": "aGVsbG8gd29ybGQ="}, false},
		"no data":     {object{"type": "image", "mimeType": "image/png"}, false},
	} {
		before := len(w.Model.Requests())
		m := a.promptBlocks(s, textBlock("D:SAY ok"), c.block)
		if (m.Error == nil) != c.ok || (m.Error != nil && m.Error.Code != -32602) {
			t.Errorf("%s: %s %+v", name, m.Result, m.Error)
			continue
		}
		if !c.ok {
			continue
		}
		body := string(w.Model.Requests()[before].Body)
		if !strings.Contains(body, clean) || !strings.Contains(body, `"image/png"`) || strings.Contains(body, "image/jpeg") {
			t.Errorf("%s: the model got something else: %.300s", name, body)
		}
	}
	if got := a.Prompt(s, "D:SAY ok").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

func TestEmbeddedBlobs(t *testing.T) {
	w := NewWorld(t)
	a, s := w.Opened()
	m := a.promptBlocks(s, textBlock("D:SAY ok"), object{
		"type":     "resource",
		"resource": object{"uri": "file:///tmp/report.pdf", "mimeType": "application/pdf", "blob": base64.StdEncoding.EncodeToString([]byte("%PDF-1.4 x"))},
	})
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	files, _ := filepath.Glob(filepath.Join(w.Cwd, "uploads", "*.pdf"))
	if len(files) != 1 {
		t.Fatalf("uploads: %v", files)
	}
	if !strings.Contains(unescape(t, w.Model.Requests()[0].Body), "[Document: report.pdf] "+files[0]) {
		t.Error("the model is not told where the file is")
	}
	big := base64.StdEncoding.EncodeToString(make([]byte, 10<<20+1))
	m = a.promptBlocks(s, textBlock("D:SAY ok"), object{"type": "resource", "resource": object{"uri": "file:///x.bin", "blob": big}})
	if m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("an oversize blob: %s %+v", m.Result, m.Error)
	}
}

func TestM1ModesAndOptionsAgree(t *testing.T) {
	w := NewWorld(t)
	a := w.Start()
	a.Init()
	m := a.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}})
	var r struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Fatal(err)
	}
	got := currentValues(t, m.Result)
	if got["mode"] == "" || got["mode"] != got["legacy mode"] {
		t.Errorf("new: %v", got)
	}
	m = a.Call("session/set_config_option", object{"sessionId": r.SessionID, "configId": "mode", "value": "accept-edits"})
	if got := currentValues(t, m.Result); got["mode"] != "accept-edits" {
		t.Errorf("set_config_option answered %v", got)
	}
	a.AwaitUpdate(r.SessionID, 0, "current_mode_update", func(u Update) bool { return u.Kind == "current_mode_update" })
	for _, bad := range []object{
		{"configId": "mode", "value": "nonsense"},
		{"configId": "nonsense", "value": "x"},
		{"configId": "mode", "value": 5},
		{"configId": "mode"},
		{"configId": "mode", "value": "full"},
	} {
		bad["sessionId"] = r.SessionID
		if m := a.Call("session/set_config_option", bad); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%v: %s %+v", bad, m.Result, m.Error)
		}
	}
	if m := a.Call("session/set_mode", object{"sessionId": r.SessionID, "modeId": "full"}); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("set_mode beyond the level: %s %+v", m.Result, m.Error)
	}
	l := a.Call("session/load", w.LoadParams(r.SessionID))
	if got := currentValues(t, l.Result); got["mode"] != "accept-edits" || got["legacy mode"] != "accept-edits" {
		t.Errorf("load: %v", got)
	}
}

func TestM4NoNullWhereAnArrayBelongs(t *testing.T) {
	w := NewWorld(t, "[autonomy]", `allowed_commands = ["true"]`)
	a, s := w.Opened()
	a.Prompt(s, "D:TOOL shell true ; D:TOOL read missing ; D:TOOL list_dir {} ; D:SAY x")
	a.Must("session/list", object{}, nil)
	for _, m := range a.Messages() {
		for _, name := range []string{"authMethods", "sessions", "content", "locations", "entries", "configOptions", "availableCommands", "options", "availableModes"} {
			if strings.Contains(string(m.Params)+string(m.Result), `"`+name+`":null`) {
				t.Errorf("%s is null in %.300s%.300s", name, m.Params, m.Result)
			}
		}
	}
}

func TestU1U3Credentials(t *testing.T) {
	w := NewWorld(t)
	key := filepath.Join(t.TempDir(), "key")
	w.Configure(fmt.Sprintf(`
[providers.fake]
kind = "openai-chat"
base_url = "%s/v1"
api_key = "file:%s"
model = "fake-model"
[agents.main]
provider = "fake"
`, w.URL, key))
	a := w.Start()
	a.Init()
	s := a.New()
	if m := a.Prompt(s, "D:SAY hi"); m.Error == nil || m.Error.Code != -32000 || !strings.Contains(m.Error.Message, "grapnel setup") {
		t.Errorf("without a key: %s %+v", m.Result, m.Error)
	}
	if m := a.Call("authenticate", object{"methodId": "api-key"}); m.Error == nil || m.Error.Code != -32000 {
		t.Errorf("authenticate without a key: %s %+v", m.Result, m.Error)
	}
	if err := os.WriteFile(key, []byte("sk-fake\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Must("authenticate", object{"methodId": "api-key"}, nil)
	if got := a.Prompt(s, "D:SAY hi").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	a.Must("logout", object{}, nil)
	if m := a.Prompt(s, "D:SAY hi"); m.Error == nil || m.Error.Code != -32000 {
		t.Errorf("after logout: %s %+v", m.Result, m.Error)
	}
	if m := a.Call("authenticate", object{"methodId": "nonsense"}); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("unknown method: %s %+v", m.Result, m.Error)
	}
}

// TestServerThatIsNotRunning: editors show a login where they are told that one
// would help, and not the reason; against a server that is down none does.
func TestServerThatIsNotRunning(t *testing.T) {
	w := NewWorld(t)
	w.Configure("[providers.desk]\nkind = 'openai-chat'\nbase_url = 'http://127.0.0.1:1/v1'\n[agents.main]\nprovider = 'desk'\n")
	a := w.Start()
	a.Init()
	m := a.Prompt(a.New(), "D:SAY hi")
	if m.Error == nil || m.Error.Code != -32603 || !strings.Contains(m.Error.Message, "does not answer or has none; start it") {
		t.Errorf("answered with %s %+v", m.Result, m.Error)
	}
}

// TestE6NothingReachesOutBeforeThePrompt: initialize and session/new ask no
// provider, no server and no model list.
func TestE6NothingReachesOutBeforeThePrompt(t *testing.T) {
	w := NewWorld(t)
	a, _ := w.Opened()
	for range 9 {
		a.New()
	}
	if n := len(w.Model.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

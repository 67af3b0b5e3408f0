package fieldtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// delivery is a delivered file as a client finds it in an update.
type delivery struct {
	Title, Status, URI, MimeType string
	Data                         string
	RawOutput                    json.RawMessage
}

// deliveries finds the delivered files among the updates of a session.
func (a *Agent) deliveries(session string, from int) []delivery {
	a.t.Helper()
	var list []delivery
	for _, u := range a.Updates(session, from) {
		var content []struct {
			Type    string `json:"type"`
			Content struct {
				Type     string `json:"type"`
				Resource struct {
					URI      string `json:"uri"`
					MimeType string `json:"mimeType"`
					Blob     []byte `json:"blob"`
				} `json:"resource"`
			} `json:"content"`
		}
		if u.Kind != "tool_call_update" || json.Unmarshal(u.Raw["content"], &content) != nil {
			continue
		}
		for _, c := range content {
			if r := c.Content.Resource; c.Content.Type == "resource" {
				list = append(list, delivery{
					Title: u.Title, Status: u.Status, URI: r.URI, MimeType: r.MimeType, Data: string(r.Blob),
					RawOutput: u.Raw["rawOutput"],
				})
			}
		}
	}
	return list
}

// TestDeliverFile: the completing update carries the file, byte for byte, under
// the address the model was told; a load shows the same again.
func TestDeliverFile(t *testing.T) {
	w := NewWorld(t)
	content := "%PDF-1.4 " + strings.Repeat("\x00\xff", 1000)
	if err := os.WriteFile(filepath.Join(w.Cwd, "report.pdf"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	a, s := w.Opened()
	if got := a.Prompt(s, `D:TOOL deliver_file {"path":"report.pdf","title":"The report"} ; D:SAY done`).StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	sum := sha256.Sum256([]byte(content))
	uri := "attachment://deliver/" + hex.EncodeToString(sum[:]) + ".pdf"
	live := a.deliveries(s, 0)
	if len(live) != 1 {
		t.Fatalf("delivered %d: %s", len(live), a.Transcript())
	}
	d := live[0]
	if d.URI != uri || d.MimeType != "application/pdf" || d.Title != "The report" || d.Status != "completed" || d.Data != content {
		t.Errorf("delivered %+v", d)
	}
	if !strings.Contains(string(d.RawOutput), uri) || len(d.RawOutput) > 1000 {
		t.Errorf("the structured result is %s", d.RawOutput)
	}
	if seen := w.seen(); !strings.Contains(seen, uri) || strings.Contains(seen, base64.StdEncoding.EncodeToString([]byte(content))) {
		t.Error("the model is to get the address, and not the file")
	}
	if files := w.uploads(); len(files) != 1 || filepath.Base(files[0]) != strings.TrimPrefix(uri, "attachment://deliver/") {
		t.Errorf("kept %v", files)
	}
	a.Quit()

	b := w.Start()
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	again := b.deliveries(s, 0)
	if len(again) != 1 || again[0].URI != uri || again[0].Data != content || again[0].Title != d.Title {
		t.Errorf("a load shows %+v", again)
	}
}

// TestDeliverFileDialect: clients of the dialect get it in the same form.
func TestDeliverFileDialect(t *testing.T) {
	w := NewWorld(t)
	if err := os.WriteFile(filepath.Join(w.Cwd, "a.txt"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := w.Start()
	a.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	a.Response("1")
	var opened struct {
		SessionID string `json:"sessionId"`
	}
	a.Must("session/new", object{"cwd": w.Cwd}, &opened)
	m := a.Call("session/prompt", object{"sessionId": opened.SessionID, "prompt": `D:TOOL deliver_file {"path":"a.txt"} ; D:SAY done`})
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	got := a.deliveries(opened.SessionID, 0)
	if len(got) != 1 || got[0].Title != "a.txt" || got[0].Data != "hello" || got[0].Status != "completed" {
		t.Errorf("delivered %+v", got)
	}
	for _, u := range a.Updates(opened.SessionID, 0) {
		if u.Kind == "tool_call" && u.Tool != "other" {
			t.Errorf("a read is shown as %q", u.Tool)
		}
	}
}

// TestDeliverLargestFile: 10 MiB go through, one byte more is said to be too
// much, and the session goes on.
func TestDeliverLargestFile(t *testing.T) {
	w := NewWorld(t)
	for name, size := range map[string]int{"most.bin": 10 << 20, "more.bin": 10<<20 + 1} {
		if err := os.WriteFile(filepath.Join(w.Cwd, name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a, s := w.Opened()
	if got := a.Prompt(s, `D:TOOL deliver_file {"path":"most.bin"} ; D:TOOL deliver_file {"path":"more.bin"} ; D:SAY done`).StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	if got := a.deliveries(s, 0); len(got) != 1 || len(got[0].Data) != 10<<20 {
		t.Errorf("%d delivered", len(got))
	}
	failed := a.AwaitUpdate(s, 0, "the refusal", func(u Update) bool { return u.Status == "failed" })
	if text := string(failed.Raw["content"]); !strings.Contains(text, "larger than 10485760 bytes") {
		t.Errorf("refused with %s", text)
	}
}

// TestDeliverFileOutside: what file_read may not read cannot be delivered.
func TestDeliverFileOutside(t *testing.T) {
	w := NewWorld(t)
	if err := os.Symlink("/etc/passwd", filepath.Join(w.Cwd, "link")); err != nil {
		t.Fatal(err)
	}
	a, s := w.Opened()
	a.Prompt(s, `D:TOOL deliver_file {"path":"/etc/passwd"} ; D:TOOL deliver_file {"path":"link"} ; D:TOOL deliver_file {"path":"../x"} ; D:SAY done`)
	if got := a.deliveries(s, 0); len(got) != 0 || len(w.uploads()) != 0 {
		t.Errorf("delivered %+v, kept %v", got, w.uploads())
	}
}

package native_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const known = "SEKRET-known-value-0123456789"

// secretive is a world where one secret is known, and is in a file.
func secretive(t *testing.T) *world {
	w := newWorld(t)
	w.redact = secret.NewRedactor(known)
	w.agent.Policy.AllowedCommands = append(w.agent.Policy.AllowedCommands, "head", "sleep", "printf")
	w.agent.Policy.AutoApprove = []string{"shell"}
	w.restart()
	w.write("env", "A=1\nKEY="+known+"\n")
	return w
}

// pieces are the parts of known of more than a few bytes.
func leaked(text string) bool {
	for i := 0; i+8 <= len(known); i++ {
		if strings.Contains(text, known[i:i+8]) {
			return true
		}
	}
	return false
}

func TestToolOutputIsRedacted(t *testing.T) {
	for name, prompt := range map[string]string{
		"a file":           "D:TOOL read env",
		"a command":        "D:TOOL shell cat env",
		"cut by a command": "D:TOOL shell head -c 20 env",
	} {
		t.Run(name, func(t *testing.T) {
			w := secretive(t)
			c := w.open()
			c.Say(prompt + " ; D:SAY done")
			for _, e := range c.Events {
				if e.Kind != session.KindUserMessage && leaked(string(e.Body)) {
					t.Errorf("%s shows it: %s", e.Kind, e.Body)
				}
			}
			for i, m := range w.messages() {
				if i > 0 && leaked(m.text()) && m.Role == "tool" {
					t.Errorf("the model reads it: %s", m.text())
				}
			}
		})
	}
}

// What is cut in the middle by a limit on output leaves no large piece.
func TestTruncatedOutputIsRedacted(t *testing.T) {
	for shift := range 40 {
		w := secretive(t)
		w.agent.Limits.OutputBytes, w.agent.Limits.ModelBytes = 200, 100
		w.restart()
		w.write("out", strings.Repeat("x", shift)+strings.Repeat(" "+known, 40))
		c := w.open()
		c.Say("D:TOOL shell cat out ; D:SAY done")
		for _, e := range c.Events {
			if leaked(string(e.Body)) {
				t.Fatalf("shifted by %d, %s shows it: %s", shift, e.Kind, e.Body)
			}
		}
		for _, m := range w.messages() {
			if leaked(m.text()) {
				t.Fatalf("shifted by %d, the model reads it: %s", shift, m.text())
			}
		}
	}
}

func TestWhatIsAskedIsRedacted(t *testing.T) {
	w := secretive(t)
	c := w.open()
	p := c.Send("D:TOOL write x.txt " + known)
	req := c.UntilKind(session.KindPermission)
	if bytes.Contains(req.Body, []byte(known)) {
		t.Errorf("the request shows it: %s", req.Body)
	}
	if _, err := c.Answer(t.Context(), session.Verdict{Request: req.ID, Outcome: session.Selected, Option: "allow-once"}); err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	if info := c.Info(); strings.Contains(info.Title, known) {
		t.Errorf("the title shows it: %s", info.Title)
	}
}

// A provider that quotes the key it refuses does not show it.
func TestErrorIsRedacted(t *testing.T) {
	w := secretive(t)
	w.agent.Provider = func(context.Context) (model.Provider, error) { return nil, errors.New("no key like " + known) }
	end := w.open().Say("D:SAY x")
	if end.Error == nil || end.Error.Message != "no key like [redacted]" {
		t.Errorf("ended with %+v", end.Error)
	}
}

// A file whose secret the model was not shown is not written without it.
func TestSecretIsNotOverwritten(t *testing.T) {
	w := secretive(t)
	w.agent.Policy.AutoApprove = []string{"file_write"}
	p, dir := &points{}, t.TempDir()
	w.agent.Points, w.audit = p, audit.New(audit.Options{Dir: dir})
	w.restart()
	c := w.open()
	c.Say("D:TOOL write fresh.txt a-[redacted]-word ; D:SAY done") // the user's own word for it
	if _, err := os.Stat(filepath.Join(w.cwd, "fresh.txt")); err != nil {
		t.Error(err)
	}
	c.Say("D:TOOL read env ; D:TOOL write env A=2,KEY=[redacted] ; D:SAY done")
	if got, err := os.ReadFile(filepath.Join(w.cwd, "env")); err != nil || !strings.Contains(string(got), known) {
		t.Errorf("the file is now %q, %v", got, err)
	}
	if m := w.messages(); !strings.Contains(m[len(m)-1].text(), "which stands for a secret") {
		t.Errorf("the model is told %s", m[len(m)-1].text())
	}
	if !slices.Contains(p.seen, "settled file_write deny by policy") {
		t.Errorf("the points were told %q", p.seen)
	}
	if got := records(t, dir); !slices.Contains(got, "call file_write env deny policy") {
		t.Errorf("records %q", got)
	}
}

// What the model reads without a tool is kept from secrets like what it reads
// with one.
func TestPromptIsRedacted(t *testing.T) {
	w := secretive(t)
	w.write("AGENTS.md", "Use the key "+known+" here.")
	c := w.open()
	p, err := c.Prompt(t.Context(), session.PromptRequest{Content: []jsontext.Value{
		jsontext.Value(`{"type":"text","text":"D:SAY done"}`),
		jsontext.Value(`{"type":"resource_link","name":"env","uri":"file://` + filepath.ToSlash(filepath.Join(w.cwd, "env")) + `"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.End(p.Turn)
	reqs := w.model.Requests()
	body := string(reqs[len(reqs)-1].Body)
	if leaked(body) || strings.Count(body, secret.Redacted) != 2 {
		t.Errorf("the model gets %s", body)
	}
}

// Progress that ends in the middle of a secret does not show the half of it.
func TestProgressIsRedacted(t *testing.T) {
	w := secretive(t)
	w.write("half", "x "+known[:20])
	w.write("rest", known[20:]+" y")
	c := w.open()
	c.Say("D:TOOL shell cat half; sleep 0.4; cat rest ; D:SAY done")
	progress := 0
	for _, e := range c.Events {
		if leaked(string(e.Body)) {
			t.Errorf("%s shows it: %s", e.Kind, e.Body)
		}
		if strings.Contains(string(e.Body), "x [redacted]") {
			progress++
		}
	}
	if progress < 2 {
		t.Errorf("%d updates show the output: it was to be one in progress, and the last", progress)
	}
}

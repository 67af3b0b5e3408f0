package fieldtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestConsole replays testdata/console.txtar, as that script says, over a
// WebSocket whose token is among the subprotocols.
func TestConsole(t *testing.T) {
	w := NewWorld(t, "[acp]", "max_sessions = 2", `default_agent = "main"`)
	g := w.Gateway()
	c := g.Connect(Dial{Anonymous: true, Protocols: []string{"zeroclaw.acp.v1", "bearer." + Token}})
	if c.Protocol != "zeroclaw.acp.v1" {
		t.Errorf("the gateway chose the subprotocol %q", c.Protocol)
	}
	script, err := txtar.ParseFile(filepath.Join("testdata", "console.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	p := &replay{t: t, c: c, names: make(map[string]string)}
	for _, section := range script.Files {
		for line := range strings.Lines(string(section.Data)) {
			if line = strings.TrimSpace(line); line != "" && !p.play(line) {
				t.Fatalf("this was in %q", section.Name)
			}
		}
	}
	for name, want := range map[string]bool{"allowed.txt": true, "refused.txt": false} {
		if _, err := os.Stat(filepath.Join(p.names["$dir"], name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}

// replay is a script under way.
type replay struct {
	t     *testing.T
	c     *Client
	next  int               // first message not looked at
	said  string            // since the last prompt
	names map[string]string // what $names stand for
}

func (p *replay) play(line string) bool {
	p.t.Helper()
	kind, rest := line[0], line[2:]
	switch kind {
	case '>':
		if strings.Contains(rest, `"session/prompt"`) {
			p.said = ""
		}
		for name, text := range p.names {
			rest = strings.ReplaceAll(rest, `"`+name+`"`, quote(text))
		}
		p.c.Send(rest)
		return true
	case '~':
		for p.said != rest {
			p.step(line)
		}
		return true
	}
	m := p.step(line)
	for m.Method == "session/update" {
		m = p.step(line)
	}
	var want, got any
	if err := json.Unmarshal([]byte(rest), &want); err != nil {
		p.t.Fatalf("%s: %v", line, err)
	}
	if err := json.Unmarshal([]byte(p.c.Raw(m.Line)), &got); err != nil {
		p.t.Fatal(err)
	}
	if err := p.match(want, got); err != nil {
		p.t.Errorf("%v: want %s\ngot %s", err, rest, p.c.Raw(m.Line))
		return false
	}
	return true
}

// step takes the next message and looks at updates.
func (p *replay) step(line string) Message {
	p.t.Helper()
	m, ok := p.c.Next(p.next, patience)
	if !ok {
		p.t.Fatalf("nothing came for %s\n%s", line, p.c.Transcript())
	}
	p.next++
	u, ok := m.Update()
	if !ok {
		return m
	}
	switch {
	case u.Kind == "agent_message_chunk":
		p.said += u.Text
	case u.Kind == "agent_thought_chunk", u.Kind == "tool_call":
	case u.Kind == "tool_call_update" && (u.Status == "completed" || u.Status == "failed"):
	default:
		p.t.Errorf("the console was sent %s %s, which it prints as it is", u.Kind, u.Status)
	}
	return m
}

// match holds a message against what is wanted of it.
func (p *replay) match(want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%v is no object", got)
		}
		for name, value := range want {
			if err := p.match(value, got[name]); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			return fmt.Errorf("%d entries, want %d", len(list), len(want))
		}
		for i := range want {
			if err := p.match(want[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	case string:
		return p.text(want, got)
	}
	if !reflect.DeepEqual(want, got) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

func (p *replay) text(want string, got any) error {
	text, ok := got.(string)
	if want == "$said" {
		want = p.said
	} else if strings.HasPrefix(want, "$") {
		if _, bound := p.names[want]; !bound && text != "" {
			p.names[want] = text
		}
		want = p.names[want]
	}
	if !ok || text != want {
		return fmt.Errorf("got %v, want %q", got, want)
	}
	return nil
}

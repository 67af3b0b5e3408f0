package serve_test

import (
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// A command is answered while the turn of another prompt runs, after its words and
// before that turn's end; the other client sees both.
func TestCommandBesideATurn(t *testing.T) {
	h := newHouse(t)
	a, b := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
	id := a.open()
	b.must("session/load", `{"sessionId":"`+id+`","cwd":"`+h.dir+`","mcpServers":[]}`)
	done := make(chan string, 1)
	go func() {
		v, _ := a.call("session/prompt", prompt(id, "say first\nwait here\nsay last"))
		done <- string(v)
	}()
	a.until("agent_message_chunk", "first")
	answer := string(b.must("session/prompt", prompt(id, "/echo hello")))
	if !strings.Contains(answer, `"stopReason":"end_turn"`) || !strings.Contains(answer, `"content":"hello: running true`) {
		t.Errorf("the command was answered with %s", answer)
	}
	if !b.saw("agent_message_chunk", "hello: running true") {
		t.Error("its response came before its words")
	}
	a.until("user_message_chunk", "/echo hello")
	a.until("agent_message_chunk", "hello: running true")
	h.script.Go("here")
	if got := <-done; !strings.Contains(got, `"content":"firstlast"`) {
		t.Errorf("the turn was answered with %s", got)
	}
}

// A dialect client, which may not prompt twice at a time, may stop.
func TestCommandOfADialectClient(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	text := func(words string) string { return `{"sessionId":"` + id + `","prompt":"` + words + `"}` }
	done := make(chan string, 1)
	go func() {
		v, _ := a.call("session/prompt", text("wait here"))
		done <- string(v)
	}()
	h.script.UntilSeen(1)
	a.code("session/prompt", text("say busy"))
	if got := string(a.must("session/prompt", text("/halt now"))); !strings.Contains(got, `"stopReason":"end_turn"`) {
		t.Errorf("the command was answered with %s", got)
	}
	if got := <-done; !strings.Contains(got, `"stopReason":"cancelled"`) {
		t.Errorf("the turn was answered with %s", got)
	}
}

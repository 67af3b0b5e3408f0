package soak

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// update is a session/update with its place in the session.
type update struct {
	SessionID string          `json:"sessionId"`
	Update    json.RawMessage `json:"update"`
	Meta      struct {
		Grapnel struct {
			Seq uint64 `json:"seq"`
		} `json:"grapnel"`
	} `json:"_meta"`
}

// head is what the soaks need to know of an update's content.
type head struct {
	Kind    string `json:"sessionUpdate"`
	Call    string `json:"toolCallId"`
	Status  string `json:"status"`
	Content struct {
		Text string `json:"text"`
	}
}

func (u update) head() head {
	var h head
	_ = json.Unmarshal(u.Update, &h) // a tool call's content is a list; the rest is read all the same
	return h
}

// transcript is what was shown of a session that a load shows again, by place.
type transcript struct {
	session string
	last    uint64
	lines   map[uint64]string
	// loading is set while a load is under way: what was under way before may
	// still come first, and then all of it comes from the beginning, once.
	loading bool
}

func newTranscript(session string) *transcript {
	return &transcript{session: session, lines: make(map[uint64]string)}
}

// transient are the kinds that a load does not repeat.
var transient = []string{
	"usage_update", "session_info_update", "current_mode_update", "config_option_update",
	"available_commands_update", "notice",
}

// show takes the next update. Places grow, and none comes twice.
func (t *transcript) show(u update) error {
	seq := u.Meta.Grapnel.Seq
	h := u.head()
	if slices.Contains(transient, h.Kind) {
		return nil
	}
	if seq == 0 {
		return fmt.Errorf("%s has no place: %s", h.Kind, u.Update)
	}
	if seq <= t.last && t.loading {
		*t = *newTranscript(t.session)
	}
	if seq <= t.last {
		return fmt.Errorf("%s at %d came after %d", h.Kind, seq, t.last)
	}
	t.last = seq
	t.lines[seq] = string(u.Update)
	return nil
}

// compare checks what was shown earlier against t, shown later: all of it must
// be there, at its place, byte for byte.
func (t *transcript) compare(earlier *transcript) error {
	lost, example := 0, ""
	for _, seq := range slices.Sorted(maps.Keys(earlier.lines)) {
		if now := t.lines[seq]; now != earlier.lines[seq] {
			if lost++; lost == 1 {
				example = fmt.Sprintf("%d was %s and is %q", seq, earlier.lines[seq], now)
			}
		}
	}
	if lost == 0 {
		return nil
	}
	return fmt.Errorf("session %s: of %d updates shown to %d, %d are not in the %d shown later to %d, such as %s",
		t.session, len(earlier.lines), earlier.last, lost, len(t.lines), t.last, example)
}

// whole checks what a client was shown against t, the ledger: nothing is missing
// but what it said itself, as prompts that begin with a line of own, and nothing
// is different.
func (t *transcript) whole(shown *transcript, own []string) error {
	if err := t.compare(shown); err != nil {
		return err
	}
	for seq, line := range t.lines {
		if _, ok := shown.lines[seq]; ok {
			continue
		}
		h := update{Update: json.RawMessage(line)}.head()
		said, _, _ := strings.Cut(h.Content.Text, "\n")
		if h.Kind != "user_message_chunk" || !slices.Contains(own, said) {
			return fmt.Errorf("session %s: %d was never shown: %s", t.session, seq, line)
		}
	}
	return nil
}

// merge adds what was shown to t.
func (t *transcript) merge(more *transcript) {
	maps.Copy(t.lines, more.lines)
	t.last = max(t.last, more.last)
}

// heads lists what is known of the updates, in order.
func (t *transcript) heads() []head {
	var list []head
	for _, seq := range slices.Sorted(maps.Keys(t.lines)) {
		list = append(list, update{Update: json.RawMessage(t.lines[seq])}.head())
	}
	return list
}

// openCalls are the tool calls without an end.
func (t *transcript) openCalls() []string {
	open := make(map[string]bool)
	for _, h := range t.heads() {
		switch {
		case h.Kind != "tool_call" && h.Kind != "tool_call_update":
		case h.Status == "completed", h.Status == "failed":
			delete(open, h.Call)
		case h.Kind == "tool_call":
			open[h.Call] = true
		}
	}
	return slices.Sorted(maps.Keys(open))
}

// asked counts how often the user's words hold a text.
func (t *transcript) asked(text string) int {
	n := 0
	for _, h := range t.heads() {
		if h.Kind == "user_message_chunk" {
			n += strings.Count(h.Content.Text+"\n", text+"\n")
		}
	}
	return n
}

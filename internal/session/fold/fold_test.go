package fold

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// say adds a chunk of a message.
func say(f *Fold, seq session.Seq, kind session.Kind, message, text string) {
	body := fmt.Sprintf(`{"update":{"sessionUpdate":%q,"messageId":%q,"content":{"type":"text","text":%q}}}`, kind, message, text)
	f.Event(session.Event{Seq: seq, Kind: kind, Body: jsontext.Value(body)})
}

func TestFold(t *testing.T) {
	var f Fold
	say(&f, 1, session.KindUserMessage, "u", "first block")
	say(&f, 2, session.KindUserMessage, "u", "second block")
	say(&f, 3, session.KindAgentMessage, "m1", "the quick br")
	say(&f, 4, session.KindAgentThought, "th", "not searched")
	say(&f, 5, session.KindAgentMessage, "m1", "own fox")
	say(&f, 6, session.KindAgentMessage, "m2", "another")
	f.Event(session.Event{Seq: 7, Kind: session.KindAgentMessage, Body: jsontext.Value(`{"update":{"content":{"type":"image"}}}`)})
	f.Event(session.Event{Seq: 8, Kind: session.KindAgentMessage, Body: jsontext.Value(`broken`)})
	want := []session.Doc{
		{Seq: 1, Role: "user", Text: "first block\nsecond block"},
		{Seq: 3, Role: "assistant", Text: "the quick brown fox"},
		{Seq: 6, Role: "assistant", Text: "another"},
	}
	if d := cmp.Diff(want, f.Take()); d != "" {
		t.Error(d)
	}
	if docs := f.Take(); docs != nil {
		t.Errorf("taken twice: %v", docs)
	}
}

func TestFoldIsBounded(t *testing.T) {
	var f Fold
	part := strings.Repeat("x", 100_000)
	for i := range 5 {
		say(&f, session.Seq(i+1), session.KindAgentMessage, "m", part)
	}
	if n := len(f.Take()[0].Text); n > foldMessage {
		t.Errorf("one message keeps %d bytes", n)
	}
	for i := range 60 {
		say(&f, session.Seq(i+1), session.KindAgentMessage, fmt.Sprint(i), part)
	}
	total := 0
	for _, d := range f.Take() {
		total += len(d.Text)
	}
	if total > foldTurn {
		t.Errorf("a turn keeps %d bytes", total)
	}
}

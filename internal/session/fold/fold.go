// Package fold joins the chunks of a session's messages into whole ones, for
// search.
package fold

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// Bounds on what is kept of a turn's messages for search: the rest of a longer
// one is in the ledger, but is not found by its words.
const (
	foldMessage = 256 << 10
	foldTurn    = 4 << 20
)

// Fold gathers the messages of a turn, so that a phrase split over many chunks
// is found. The zero Fold is empty.
type Fold struct {
	docs    []session.Doc // whole messages
	text    []byte
	doc     session.Doc // the one that grows; Seq 0 when none
	message string      // its id
	size    int
}

// Chunk adds a message chunk that was looked at; seq is the number it will have.
func (f *Fold) Chunk(e session.Event, facts ingest.Facts, seq session.Seq) {
	role := "assistant"
	if e.Kind == session.KindUserMessage {
		role = "user"
	}
	message := ingest.Raw(e.Body, facts.Marks.MessageID)
	if f.doc.Seq == 0 || f.doc.Role != role || f.message != string(message) {
		f.close()
		f.doc = session.Doc{Seq: seq, Role: role}
		f.message = string(message)
	}
	text := ingest.Raw(e.Body, facts.Text)
	if len(text) == 0 || len(f.text)+len(text) > foldMessage || f.size+len(text) > foldTurn {
		return
	}
	if role == "user" && len(f.text) > 0 {
		f.text = append(f.text, '\n') // blocks of a prompt are apart
	}
	if more, err := jsontext.AppendUnquote(f.text, text); err == nil {
		f.text = more
		f.size += len(text)
	}
}

// Event adds an event read back from the ledger; what is no message is left out.
func (f *Fold) Event(e session.Event) {
	if e.Kind != session.KindUserMessage && e.Kind != session.KindAgentMessage {
		return
	}
	if facts, err := ingest.Look(e.Body); err == nil {
		f.Chunk(e, facts, e.Seq)
	}
}

func (f *Fold) close() {
	if f.doc.Seq != 0 && len(f.text) > 0 {
		f.doc.Text = string(f.text)
		f.docs = append(f.docs, f.doc)
	}
	f.doc = session.Doc{}
	f.text = f.text[:0]
}

// Take returns the messages and starts over.
func (f *Fold) Take() []session.Doc {
	f.close()
	docs := f.docs
	*f = Fold{}
	return docs
}

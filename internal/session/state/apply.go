package state

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// Apply takes the next committed event. Chunks are not decoded. A body that
// does not decode changes nothing but the position: it was checked when it
// entered, so it can only come from a damaged store.
func (s *State) Apply(e session.Event) {
	s.Seq = e.Seq
	s.Epoch = max(s.Epoch, e.Epoch)
	switch e.Kind {
	case session.KindAgentMessage:
		keepID(&s.LastMessage, e)
	case session.KindAgentThought:
		keepID(&s.LastThought, e)
	case session.KindToolCall, session.KindToolUpdate:
		s.toolCall(e)
	case session.KindTurnStart:
		s.startTurn(e)
	case session.KindTurnEnd:
		s.endTurn(e)
	case session.KindQueued:
		s.enqueue(e)
	case session.KindPermission, session.KindElicitation:
		s.Requests = append(s.Requests, Requested{ID: e.ID, Seq: e.Seq, Kind: e.Kind, Turn: e.Turn})
	case session.KindVerdict:
		s.settle(e)
	default:
		s.setup(e)
	}
}

// keepID keeps the message id of a chunk; chunk after chunk of one message
// costs a comparison.
func keepID(dst *string, e session.Event) {
	raw := ingest.Raw(e.Body, e.Marks.MessageID)
	if len(raw) < 2 || len(raw) > maxText || *dst == string(raw[1:len(raw)-1]) {
		return
	}
	*dst = ingest.Text(e.Body, e.Marks.MessageID)
}

func (s *State) startTurn(e session.Event) {
	var b session.TurnStart
	if json.Unmarshal(e.Body, &b) != nil {
		return
	}
	s.Turn = &Turn{ID: b.Turn, Key: b.Key, By: e.By, Start: e.Seq}
	s.dequeue(b.Turn)
	s.keepKey(b.Key, b.Turn)
}

func (s *State) endTurn(e session.Event) {
	var b session.TurnEnd
	if json.Unmarshal(e.Body, &b) != nil {
		return
	}
	if s.Turn != nil && s.Turn.ID == b.Turn {
		s.Turn = nil
	}
	s.dequeue(b.Turn)
	if s.Turn == nil { // else it is the end of a prompt beside the running turn
		s.LastEnd = e.Seq
	}
	if i := slices.IndexFunc(s.Keys, func(k Key) bool { return k.Turn == b.Turn }); i >= 0 {
		if len(e.Body) > maxText {
			b = brief(b)
		}
		s.Keys[i].End = &b
	}
	s.trimKeys()
}

// brief is the end of a turn without what may be long.
func brief(end session.TurnEnd) session.TurnEnd {
	end.Usage = nil
	if end.Error != nil {
		f := *end.Error
		f.Data = nil
		if len(f.Message) > maxText {
			f.Message = strings.ToValidUTF8(f.Message[:maxText], "")
		}
		end.Error = &f
	}
	return end
}

func (s *State) enqueue(e session.Event) {
	var b struct {
		Turn string `json:"turn"`
		Key  string `json:"key"`
	}
	if json.Unmarshal(e.Body, &b) != nil {
		return
	}
	s.Queue = append(s.Queue, Queued{Turn: b.Turn, Key: b.Key, By: e.By, Seq: e.Seq})
	s.keepKey(b.Key, b.Turn)
}

func (s *State) dequeue(turn string) {
	s.Queue = slices.DeleteFunc(s.Queue, func(q Queued) bool { return q.Turn == turn })
}

func (s *State) keepKey(key, turn string) {
	if key == "" || len(key) > maxText {
		return
	}
	if _, ok := s.Key(key); !ok {
		s.Keys = append(s.Keys, Key{Key: key, Turn: turn})
	}
}

// trimKeys forgets the oldest ended turns beyond the bound.
func (s *State) trimKeys() {
	for i := 0; len(s.Keys) > maxKeys && i < len(s.Keys); {
		if s.Keys[i].End == nil {
			i++
			continue
		}
		s.Keys = slices.Delete(s.Keys, i, i+1)
	}
}

func (s *State) settle(e session.Event) {
	var v session.Verdict
	if json.Unmarshal(e.Body, &v) != nil {
		return
	}
	s.Requests = slices.DeleteFunc(s.Requests, func(r Requested) bool { return r.ID == v.Request })
}

func (s *State) toolCall(e session.Event) {
	id := ingest.Text(e.Body, e.Marks.ToolCallID)
	if id == "" {
		return
	}
	if terminal(e.Body) {
		s.Calls = slices.DeleteFunc(s.Calls, func(c Call) bool { return c.ID == id })
		s.Finished.add(id)
		return
	}
	switch {
	case s.Open(id), len(s.Calls) >= maxOpen:
	case e.Kind == session.KindToolUpdate && s.Finished.Has(id):
		// A late word on a call that is over does not open it again.
	default:
		s.Calls = append(s.Calls, Call{ID: id, Start: e.Seq, Turn: e.Turn})
	}
}

func terminal(body jsontext.Value) bool {
	f, err := ingest.Look(body)
	return err == nil && f.Terminal(body)
}

// setup keeps what a client that attaches late needs to know of the agent.
func (s *State) setup(e session.Event) {
	switch e.Kind {
	case session.KindPlan:
		keepRaw(&s.Plan, e)
	case session.KindUsage:
		keepRaw(&s.Usage, e)
	case session.KindCommands:
		keepRaw(&s.Commands, e)
	case session.KindMode:
		keepRaw(&s.Mode, e)
		s.modeChanged(e)
	case session.KindConfig:
		keepRaw(&s.Options, e)
		s.optionsChanged(e)
	case session.KindInfo:
		s.infoChanged(e)
	case session.KindSet:
		var b session.SetOption
		if json.Unmarshal(e.Body, &b) == nil {
			s.choose(b.Option, b.Value)
		}
	}
}

// keepRaw keeps the update object of an event, or nothing when it is over the
// bound: a newer state that cannot be kept must not leave an older one behind.
func keepRaw(dst *jsontext.Value, e session.Event) {
	var b struct {
		Update jsontext.Value `json:"update"`
	}
	if json.Unmarshal(e.Body, &b) != nil {
		return
	}
	if len(b.Update) > maxRaw {
		*dst = nil
		return
	}
	*dst = bytes.Clone(b.Update)
	_ = dst.Compact() // as a snapshot would write it
}

func (s *State) choose(option, value string) {
	if len(option)+len(value) > maxText {
		return
	}
	if s.Config == nil {
		s.Config = make(map[string]string)
	}
	s.Config[option] = value
}

func (s *State) modeChanged(e session.Event) {
	var b struct {
		Update struct {
			Mode string `json:"currentModeId"`
		} `json:"update"`
	}
	if json.Unmarshal(e.Body, &b) == nil && b.Update.Mode != "" {
		s.choose("mode", b.Update.Mode)
	}
}

// optionsChanged follows the agent where it changes an option that was chosen;
// its defaults are not choices.
func (s *State) optionsChanged(e session.Event) {
	var b struct {
		Update struct {
			Options []struct {
				ID      string         `json:"id"`
				Current jsontext.Value `json:"currentValue"`
			} `json:"configOptions"`
		} `json:"update"`
	}
	if json.Unmarshal(e.Body, &b) != nil {
		return
	}
	for _, o := range b.Update.Options {
		if _, chosen := s.Config[o.ID]; chosen {
			s.choose(o.ID, optionValue(o.Current))
		}
	}
}

// optionValue writes a select's id plainly and a boolean as its JSON.
func optionValue(v jsontext.Value) string {
	if v.Kind() == jsontext.KindString {
		s, _ := jsontext.AppendUnquote(nil, v)
		return string(s)
	}
	return string(v)
}

func (s *State) infoChanged(e session.Event) {
	var b struct {
		Update struct {
			Title jsontext.Value `json:"title"`
		} `json:"update"`
	}
	if json.Unmarshal(e.Body, &b) != nil || b.Update.Title == nil {
		return
	}
	title := ""
	if b.Update.Title.Kind() == jsontext.KindString {
		title = optionValue(b.Update.Title)
	}
	if len(title) <= maxText {
		s.Title = title
	}
}

package transcript

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Call is one tool call of a session: what was asked for, and what became of
// it.
type Call struct {
	ID      string
	Turn    string
	Tool    string // the tool's name; "" where its agent does not say
	Title   string
	Input   jsontext.Value // as the agent wrote it; nil for none
	Asked   bool           // people were asked
	Verdict session.Verdict
	Ran     bool   // it was begun, as far as was shown
	Status  string // the last one; "" when it has none
	Said    string // what it said at its end, as people saw it
}

// Calls collects the tool calls of a session from its events, in order. Its zero
// value is ready; it is for one goroutine.
type Calls struct {
	list     []*Call
	byID     map[string]*Call
	requests map[string]*Call // by event id of the request
}

// List returns the calls there were, in the order they were announced.
func (c *Calls) List() []Call {
	list := make([]Call, len(c.list))
	for i, call := range c.list {
		list[i] = *call
	}
	return list
}

// Add takes the next event.
func (c *Calls) Add(e session.Event) {
	if c.byID == nil {
		c.byID, c.requests = map[string]*Call{}, map[string]*Call{}
	}
	switch e.Kind {
	case session.KindToolCall, session.KindToolUpdate:
		c.update(e)
	case session.KindPermission:
		if id := object(object(e.Body)["toolCall"]).str("toolCallId"); c.byID[id] != nil {
			c.byID[id].Asked = true
			c.requests[e.ID] = c.byID[id]
		}
	case session.KindVerdict:
		var v session.Verdict
		if json.Unmarshal(e.Body, &v) == nil && c.requests[v.Request] != nil {
			c.requests[v.Request].Verdict = v
		}
	}
}

func (c *Calls) update(e session.Event) {
	u := update(e)
	id := u.str("toolCallId")
	if id == "" {
		return
	}
	call := c.byID[id]
	if call == nil {
		call = &Call{ID: id, Turn: e.Turn}
		c.byID[id] = call
		c.list = append(c.list, call)
	}
	for name, field := range map[string]*string{"name": &call.Tool, "title": &call.Title, "status": &call.Status} {
		if s := u.str(name); s != "" {
			*field = s
		}
	}
	if in := u["rawInput"]; in != nil {
		call.Input = in
	}
	call.Ran = call.Ran || call.Status == "in_progress" || call.Status == "completed"
	if said := outputs(list(u["content"])); said != "" {
		call.Said = said
	}
}

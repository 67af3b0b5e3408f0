package actor

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// Content frames of one tool call are spaced: nobody reads more than four a
// second, and each may carry all of the output so far. A large frame keeps the
// next one away for as long as it takes to earn its bytes, so that what is
// stored stays near the final size.
const (
	frameEvery = 250 * time.Millisecond
	frameBytes = 32 << 10 // a second
)

// spacing is how long after a frame of n bytes the next one may come.
func spacing(n int) time.Duration {
	return max(frameEvery, time.Duration(n)*time.Second/frameBytes)
}

// The statuses a call ends with.
const (
	statusCompleted = "completed"
	statusFailed    = "failed"
)

// calls is what an epoch's tool calls need before they are committed.
type calls struct {
	names   map[string]string // ids of ours by the driver's, for those it reused
	waiting map[string][]frame
	timers  map[string]*timer
	next    map[string]time.Time // when a call may have its next content frame
	closed  map[string]struct{}  // ended by the hub, not by the driver
}

// frame is an update that waits.
type frame struct {
	event session.Event
	facts ingest.Facts
}

func newCalls() calls {
	return calls{
		names: make(map[string]string), waiting: make(map[string][]frame), timers: make(map[string]*timer),
		next: make(map[string]time.Time), closed: make(map[string]struct{}),
	}
}

func (c *calls) reset() {
	for _, t := range c.timers {
		t.stop()
	}
	*c = newCalls()
}

func (c *calls) renamed() bool { return len(c.names) > 0 }

// rename gives an event the ids its calls are known by.
func (c *calls) rename(e session.Event) session.Event {
	e.Body = ingest.RenameCalls(e.Body, func(id string) (string, bool) {
		to, ok := c.names[id]
		return to, ok
	})
	if facts, err := ingest.Look(e.Body); err == nil {
		e.Marks = facts.Marks
	}
	return e
}

// toolCall takes a tool call or an update of one.
func (a *Actor) toolCall(e session.Event, facts ingest.Facts) {
	theirs := ingest.Text(e.Body, facts.Marks.ToolCallID)
	id := theirs
	if ours, ok := a.calls.names[theirs]; ok {
		id = ours
	}
	if e.Kind == session.KindToolCall && !a.next.Open(id) && a.next.Finished.Has(id) {
		id = session.NewID("call")
		a.calls.names[theirs] = id
	}
	if a.calls.renamed() {
		e = a.calls.rename(e)
		facts, _ = ingest.Look(e.Body)
	}
	if e.Kind == session.KindToolCall {
		a.flushCall(id)
		a.stage(e)
		return
	}
	if !a.next.Open(id) && !a.next.Finished.Has(id) {
		a.introduce(id, e)
	}
	a.toolUpdate(id, e, facts)
}

// introduce announces a call whose driver only sends updates of it: many clients
// ignore an id they were not told of.
func (a *Actor) introduce(id string, e session.Event) {
	var body struct {
		Update struct {
			Title string `json:"title"`
		} `json:"update"`
	}
	if json.Unmarshal(e.Body, &body) != nil || body.Update.Title == "" {
		body.Update.Title = id
	}
	a.stageCall(e.Turn, callUpdate{
		Kind: session.KindToolCall, Call: id, Title: body.Update.Title, Status: "pending",
	})
}

// toolUpdate stages an update, or keeps it while the call has had its share of
// frames. A newer update of the same members makes a waiting one worthless.
func (a *Actor) toolUpdate(id string, e session.Event, facts ingest.Facts) {
	c := &a.calls
	if facts.Terminal(e.Body) {
		a.dropCovered(id, frame{e, facts})
		a.flushCall(id)
		delete(c.next, id)
		a.stage(e)
		return
	}
	if _, over := c.closed[id]; over {
		return // a late word on a call that was ended for it
	}
	if !contentFrame(facts) && len(c.waiting[id]) == 0 {
		a.stage(e)
		return
	}
	now := a.now()
	wait := c.next[id].Sub(now)
	if wait <= 0 && len(c.waiting[id]) == 0 {
		c.next[id] = now.Add(spacing(len(e.Body)))
		a.stage(e)
		return
	}
	a.dropCovered(id, frame{e, facts})
	c.waiting[id] = append(c.waiting[id], frame{e, facts})
	if c.timers[id] == nil {
		c.timers[id] = a.after(max(wait, 0), func() { a.flushWaiting(id) })
	}
	a.boundWaiting(id)
}

// contentFrame reports whether an update carries output.
func contentFrame(f ingest.Facts) bool {
	return f.Fields&(ingest.FieldContent|ingest.FieldRawOutput) != 0
}

// dropCovered forgets waiting updates all of whose members a newer one sets.
func (a *Actor) dropCovered(id string, by frame) {
	frames := a.calls.waiting[id]
	kept := frames[:0]
	for _, f := range frames {
		if !by.covers(f) {
			kept = append(kept, f)
		}
	}
	clear(frames[len(kept):])
	a.calls.waiting[id] = kept
}

// covers reports whether f says all that an older update does. Of a _meta that
// differs, and of members not known here, it is not certain that a newer value
// replaces an older one.
func (f frame) covers(older frame) bool {
	fields := older.facts.Fields
	if fields&ingest.FieldOther != 0 || !f.facts.Fields.Has(fields) {
		return false
	}
	return bytes.Equal(ingest.Raw(f.event.Body, f.facts.Meta), ingest.Raw(older.event.Body, older.facts.Meta)) ||
		!fields.Has(ingest.FieldMeta)
}

// maxWaiting bounds the updates of one call that cannot replace one another.
const maxWaiting = 64

func (a *Actor) boundWaiting(id string) {
	if len(a.calls.waiting[id]) > maxWaiting {
		a.flushCall(id)
	}
}

// flushWaiting stages what has waited long enough.
func (a *Actor) flushWaiting(id string) {
	size := 0
	for _, f := range a.calls.waiting[id] {
		size += len(f.event.Body)
	}
	a.flushCall(id)
	a.calls.next[id] = a.now().Add(spacing(size))
}

// flushCall stages what waits of a call.
func (a *Actor) flushCall(id string) {
	c := &a.calls
	c.timers[id].stop()
	delete(c.timers, id)
	frames := c.waiting[id]
	delete(c.waiting, id)
	for _, f := range frames {
		a.stage(f.event)
	}
}

// flushCalls stages what waits of all calls, in order of their start.
func (a *Actor) flushCalls() {
	for _, call := range a.next.Calls {
		a.flushCall(call.ID)
	}
	for id := range a.calls.waiting {
		a.flushCall(id)
	}
}

// closeCalls ends the tool calls that are open.
func (a *Actor) closeCalls(status string) {
	for len(a.next.Calls) > 0 {
		call := a.next.Calls[0]
		a.stageCall(call.Turn, callUpdate{Kind: session.KindToolUpdate, Call: call.ID, Status: status})
		if a.next.Open(call.ID) {
			return // cannot be; a loop must end all the same
		}
		a.calls.closed[call.ID] = struct{}{}
		delete(a.calls.next, call.ID)
	}
}

// callUpdate is what the hub itself says of a tool call.
type callUpdate struct {
	Kind   session.Kind `json:"sessionUpdate"`
	Call   string       `json:"toolCallId"`
	Title  string       `json:"title,omitzero"`
	Status string       `json:"status"`
	Meta   hubMeta      `json:"_meta"`
}

// hubMeta marks what the hub concluded and no driver said.
type hubMeta struct {
	Grapnel struct {
		Inferred bool `json:"inferred"`
	} `json:"grapnel"`
}

// stageCall stages what the hub says of a tool call.
func (a *Actor) stageCall(turn string, u callUpdate) {
	u.Meta.Grapnel.Inferred = true
	body, err := json.Marshal(struct {
		SessionID string     `json:"sessionId"`
		Update    callUpdate `json:"update"`
	}{a.info.ID, u})
	if err != nil {
		return // an id that is no valid text was refused when it came
	}
	e := a.own(u.Kind, session.History, turn, jsontext.Value(body))
	facts, _ := ingest.Look(body)
	e.Version, e.Marks = 1, facts.Marks
	a.stage(e)
}

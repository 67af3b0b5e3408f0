// Package ask settles requests to people: permissions, elicitations and
// questions. It says who may answer, which answers count and when nobody is
// left to give one. It does no I/O and keeps no time; a session's actor owns it.
package ask

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Reasons of verdicts that no person gave.
const (
	Expired     = "expired"       // nobody answered in time
	CancelledBy = "cancelled"     // the turn was cancelled
	NobodyAble  = "nobody_able"   // no attachment can answer this kind
	BadAnswer   = "bad_answer"    // every answer was broken or dismissed
	TurnOver    = "turn_over"     // the turn ended first
	Superseded  = "superseded"    // the agent needs no answer any more
	DriverGone  = "driver_gone"   // the agent that asked is gone
	Interrupted = "interrupted"   // the process that asked is gone
	StoreFailed = "store_failure" // the request or verdict could not be recorded
)

// Request is an open request to people.
type Request struct {
	session.Request
	Reply  func(session.Verdict, error) // tells the driver, once
	Closed func()                       // called when it is closed; may be nil

	kinds  map[string]string // permission: kind by option id
	failed map[string]string // attachments whose answer did not count, and why
}

// New reads what a request offers. Options of a permission that is malformed
// are not offered, so that they cannot be chosen.
func New(r session.Request, reply func(session.Verdict, error)) *Request {
	q := &Request{Request: r, Reply: reply}
	if r.Kind == session.KindPermission {
		q.readOptions(r.Body)
	}
	return q
}

func (q *Request) readOptions(body jsontext.Value) {
	var b struct {
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	if json.Unmarshal(body, &b) != nil {
		return
	}
	q.kinds = make(map[string]string)
	for _, o := range b.Options {
		if kind, twice := q.kinds[o.ID]; twice && kind != o.Kind {
			q.kinds[o.ID] = "" // one id for two meanings means neither
			continue
		}
		q.kinds[o.ID] = o.Kind
		q.Options = append(q.Options, o.ID)
	}
}

// Desk holds the open requests of a session, oldest first.
type Desk struct{ open []*Request }

// Add opens a request.
func (d *Desk) Add(q *Request) { d.open = append(d.open, q) }

// Len is the number of open requests.
func (d *Desk) Len() int { return len(d.open) }

// All lists the open requests.
func (d *Desk) All() []*Request { return slices.Clone(d.open) }

// Find returns an open request.
func (d *Desk) Find(id string) (*Request, bool) {
	i := slices.IndexFunc(d.open, func(q *Request) bool { return q.ID == id })
	if i < 0 {
		return nil, false
	}
	return d.open[i], true
}

// Close removes a request; false when it was not open.
func (d *Desk) Close(id string) (*Request, bool) {
	q, ok := d.Find(id)
	if !ok {
		return nil, false
	}
	d.open = slices.DeleteFunc(d.open, func(o *Request) bool { return o == q })
	if q.Closed != nil {
		q.Closed()
	}
	return q, true
}

// Answer judges an answer given by one of the attachments able to answer. A
// valid one settles the request. One that is not leaves it to the others able,
// and withdraws it when there are none: a broken client neither allows anything
// nor decides for somebody else.
func (q *Request) Answer(v session.Verdict, by string, able []string) (verdict session.Verdict, settled bool) {
	if !slices.Contains(able, by) || q.failed[by] != "" {
		return session.Verdict{}, false
	}
	verdict, ok := q.judge(v)
	verdict.Request, verdict.By = q.ID, by
	if ok {
		return verdict, true
	}
	if q.failed == nil {
		q.failed = make(map[string]string)
	}
	q.failed[by] = verdict.Reason
	if !q.Answerable(able) {
		return verdict, true
	}
	return session.Verdict{}, false
}

// Answerable reports whether any of those able has not answered in vain.
func (q *Request) Answerable(able []string) bool {
	return slices.ContainsFunc(able, func(id string) bool { return q.failed[id] == "" })
}

// judge turns an answer into the verdict it stands for, and reports whether it
// is a person's decision.
func (q *Request) judge(v session.Verdict) (session.Verdict, bool) {
	broken := session.Verdict{Outcome: session.Withdrawn, Reason: BadAnswer}
	if v.Outcome == session.Withdrawn && v.Reason != "" {
		broken.Reason = v.Reason
	}
	if q.Kind == session.KindPermission {
		if v.Outcome != session.Selected && v.Outcome != session.Declined {
			return broken, false
		}
		return q.judgeOption(v, broken)
	}
	switch v.Outcome {
	case session.Accepted:
		return session.Verdict{Outcome: session.Accepted, Content: v.Content}, true
	case session.Declined:
		return session.Verdict{Outcome: session.Declined}, true
	}
	return broken, false
}

func (q *Request) judgeOption(v, broken session.Verdict) (session.Verdict, bool) {
	kind, offered := q.kinds[v.Option]
	switch {
	case v.Outcome == session.Declined && v.Option == "":
		return session.Verdict{Outcome: session.Declined}, true
	case !offered:
		return broken, false
	case kind == "reject_once", kind == "reject_always":
		return session.Verdict{Outcome: session.Declined, Option: v.Option}, true
	case v.Outcome == session.Selected && (kind == "allow_once" || kind == "allow_always"):
		return session.Verdict{Outcome: session.Selected, Option: v.Option}, true
	}
	return broken, false
}

package native

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/price"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// recordVersion is the version of the private bytes below.
const recordVersion = 1

// record is one private event of this driver: a message of the conversation as
// the model gets it, a compaction that history starts from, or what a model
// step cost.
type record struct {
	Version int             `json:"v"`
	Message *model.Message  `json:"message,omitzero"`
	Compact []model.Message `json:"compact,omitzero"`
	Reset   bool            `json:"reset,omitzero"` // history starts from nothing
	Usage   *model.Usage    `json:"usage,omitzero"`
	Cost    price.Bill      `json:"cost,omitzero"`
	Window  uint64          `json:"window,omitzero"` // tokens the step filled
	// Spent is what a subagent's model steps cost.
	Spent *spent `json:"spent,omitzero"`
	// Told is what people were told of broken MCP servers, by name, and of options
	// that are gone.
	Told *map[string]string `json:"told,omitzero"`
}

// history is the projection of the private events: what the model is sent.
// One goroutine at a time uses it.
type history struct {
	messages []model.Message
	tally
	callIDs map[string]bool // tool-call ids in messages
	told    map[string]string
}

// tally is what a session has used so far.
type tally struct {
	usage  model.Usage
	cost   price.Bill
	window uint64 // tokens of the window filled by the last step
}

func newHistory() *history { return &history{callIDs: make(map[string]bool)} }

// count lets others see what the session has used. The goroutine of the turn calls
// it, or whoever opens the handle.
func (h *handle) count() {
	t := h.past.tally
	h.used.Store(&t)
}

// readHistory rebuilds the projection of a restored session. A turn that was
// interrupted between a tool call and its result gets the result it lacks.
func readHistory(ctx context.Context, events func(context.Context, func(session.Event) error) error) (*history, error) {
	h := newHistory()
	err := events(ctx, func(e session.Event) error {
		var r record
		if err := json.Unmarshal(e.Body, &r); err != nil {
			return fmt.Errorf("the conversation of this session cannot be read at event %d: %w", e.Seq, err)
		}
		if r.Version > recordVersion {
			return fmt.Errorf("this session was written by a newer Grapnel (record version %d): update to open it", r.Version)
		}
		h.apply(&r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.pairUp()
	return h, nil
}

func (h *history) apply(r *record) {
	if r.Compact != nil || r.Reset {
		h.messages = nil
		h.window = 0 // known again after the next step
		for _, m := range r.Compact {
			h.add(m)
		}
	}
	if r.Message != nil {
		h.add(*r.Message)
	}
	if r.Told != nil {
		h.told = *r.Told
	}
	if r.Spent != nil {
		h.usage = h.usage.Add(r.Spent.Usage)
		h.cost = h.cost.Add(r.Spent.Cost)
	}
	if r.Usage != nil {
		h.usage = h.usage.Add(*r.Usage)
		h.cost = h.cost.Add(r.Cost)
		h.window = r.Window
	}
}

// add takes the next message. Results follow their calls at once, or never
// came: what an earlier process left without them gets them here, each time it
// is read.
func (h *history) add(m model.Message) {
	if len(m.Parts) == 0 || m.Parts[0].ToolResult == nil {
		h.pairUp()
	}
	for _, c := range m.ToolCalls() {
		h.callIDs[c.ID] = true
	}
	h.messages = append(h.messages, m)
}

// noResult is the result of a call that has none.
const noResult = "interrupted: the process ended before this call had a result"

// pairUp gives every tool call of the last message a result that says why it
// has none.
func (h *history) pairUp() {
	if len(h.messages) == 0 {
		return
	}
	last := h.messages[len(h.messages)-1]
	calls := last.ToolCalls()
	if last.Role != model.RoleAssistant || len(calls) == 0 {
		return
	}
	h.add(resultsMessage(calls, nil, noResult))
}

// resultsMessage answers calls with the results there are, and with why where
// there is none.
func resultsMessage(calls []*model.ToolCall, results map[string]model.ToolResult, why string) model.Message {
	m := model.Message{Role: model.RoleUser}
	for _, c := range calls {
		r, ok := results[c.ID]
		if !ok {
			r = model.ToolResult{CallID: c.ID, IsError: true, Parts: []model.Part{model.Text(why)}}
		}
		m.Parts = append(m.Parts, model.Part{ToolResult: &r})
	}
	return m
}

// renameReused gives tool calls whose id was used before in the session an id
// of their own, so that every result has one call.
func (h *history) renameReused(m *model.Message) {
	seen := make(map[string]bool)
	for _, c := range m.ToolCalls() {
		if c.ID == "" || h.callIDs[c.ID] || seen[c.ID] {
			c.ID = session.NewID("call")
		}
		seen[c.ID] = true
	}
}

// keep appends records to the session and to the projection.
func (h *handle) keep(ctx context.Context, records ...record) error {
	drafts := make([]session.Draft, 0, len(records))
	for _, r := range records {
		r.Version = recordVersion
		body, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode conversation: %w", err)
		}
		drafts = append(drafts, session.Draft{
			Kind: session.KindDriverPrivate, Retention: session.Private, Body: jsontext.Value(body),
		})
	}
	if err := h.sink.Emit(ctx, drafts...); err != nil {
		return err
	}
	for i := range records {
		h.past.apply(&records[i])
	}
	h.count()
	return nil
}

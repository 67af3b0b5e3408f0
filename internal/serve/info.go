package serve

import (
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
)

// infoUpdate is ACP SessionInfoUpdate, as far as we make it.
type infoUpdate struct {
	Kind      session.Kind `json:"sessionUpdate"`
	Title     raw          `json:"title,omitzero"`
	UpdatedAt raw          `json:"updatedAt,omitzero"`
	Meta      rowMeta      `json:"_meta"`
}

// infoParams are the params of a session_info_update with what the session's list
// row says now. What body, the params of one that was recorded, says itself stays.
func (v *view) infoParams(body raw) raw {
	ctx := v.conn.context()
	info, err := v.conn.hub().Info(ctx, v.id)
	if err != nil {
		info = v.att().Info() // as it was last known
	}
	u := infoUpdate{
		Kind: session.KindInfo, Title: lookup(body, "update", "title"), UpdatedAt: lookup(body, "update", "updatedAt"),
		Meta: v.conn.fullMeta(ctx, info),
	}
	if u.Title == nil && info.Title != "" {
		u.Title, _ = json.Marshal(info.Title)
	}
	if u.UpdatedAt == nil {
		u.UpdatedAt, _ = json.Marshal(info.UpdatedAt.UTC().Format(time.RFC3339Nano))
	}
	params, err := json.Marshal(struct {
		SessionID string     `json:"sessionId"`
		Update    infoUpdate `json:"update"`
	}{v.id, u})
	if err != nil {
		return body // a title is always valid text
	}
	return params
}

// infoEvent is a recorded session_info_update as this client is to see it.
func (v *view) infoEvent(e *session.Event) *session.Event {
	body := v.infoParams(e.Body)
	facts, err := ingest.Look(body)
	if err != nil {
		return e
	}
	fresh := *e
	fresh.Body, fresh.Marks = body, facts.Marks
	return &fresh
}

// report sends an update to this client alone: a notice, or words where it knows
// no notices.
func (v *view) report(update raw) {
	params, err := json.Marshal(struct {
		SessionID string `json:"sessionId"`
		Update    raw    `json:"update"`
	}{v.id, update})
	if err != nil {
		return
	}
	message := append(append(raw(updateHead), params...), '}')
	if v.conn.dialect.Load() || !v.conn.capabilities().notices {
		message = noticeAsText(v.id, params)
	}
	_ = v.conn.peer.WriteRaw(v.conn.context(), message) // fails only with the connection
}

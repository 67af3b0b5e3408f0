package serve

import (
	"bytes"
	"context"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// updateHead opens a session/update notification; params and a brace follow.
const updateHead = `{"jsonrpc":"2.0","method":"session/update","params":`

// frame returns the session/update that shows an event to this client, or nil
// when it is not to see it.
func (c *conn) frame(v *view, e *session.Event, replayed bool) raw {
	if e.Version != protocolVersion {
		return nil // the hub's own, or private
	}
	if c.dialect.Load() {
		return dialectFrame(v, e, replayed)
	}
	caps := c.capabilities()
	switch e.Kind {
	case session.KindCustom:
		return nil
	case session.KindNotice:
		if !caps.notices {
			return noticeAsText(v.id, e.Body)
		}
	case session.KindCompaction, session.KindCompactChunk:
		if !caps.compaction {
			return nil
		}
	}
	msg := make([]byte, 0, len(updateHead)+len(e.Body)+64)
	msg = append(msg, updateHead...)
	msg = appendSpliced(msg, e, v.id)
	return append(msg, '}')
}

// write sends a frame. A client that takes nothing for the stall limit ends
// the attachment; half a message must never be abandoned, so the connection
// goes with it.
func (c *conn) write(ctx context.Context, msg raw) error {
	if c.server.opts.StallTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.server.opts.StallTimeout)
		defer cancel()
	}
	return c.peer.WriteRaw(ctx, msg)
}

// appendSpliced appends an event's params with this hop's session id and with
// _meta.grapnel.seq; every other byte is as its origin wrote it. An event the
// store could not take has no number and is shown without one.
func appendSpliced(dst []byte, e *session.Event, id string) []byte {
	body := []byte(e.Body)
	seq := sequence(e.Seq)
	sid, meta := e.Marks.SessionID, e.Marks.Meta
	first, second := sid, meta
	if !meta.IsZero() && meta.From < sid.From {
		first, second = meta, sid
	}
	at := uint32(0)
	for _, span := range []session.Span{first, second} {
		if span.IsZero() {
			continue
		}
		dst = append(dst, body[at:span.From]...)
		if span == sid {
			dst = append(append(append(dst, '"'), id...), '"')
		} else {
			dst = appendMeta(dst, body[span.From:span.To], seq)
		}
		at = span.To
	}
	rest := body[at:]
	if meta.IsZero() && len(seq) > 0 {
		end := bytes.LastIndexByte(rest, '}')
		dst = append(dst, rest[:end]...)
		dst = append(append(append(dst, `,"_meta":{`...), seq...), "}}"...)
		return dst
	}
	return append(dst, rest...)
}

// sequence is the member of _meta that carries a number; nil for none.
func sequence(n session.Seq) []byte {
	if n == 0 {
		return nil
	}
	return append(strconv.AppendUint([]byte(`"grapnel":{"seq":`), uint64(n), 10), '}')
}

// appendMeta puts seq into a _meta value, which may be null or empty.
func appendMeta(dst, meta, seq []byte) []byte {
	inner := bytes.TrimSpace(meta)
	if len(seq) == 0 {
		return append(dst, inner...)
	}
	if len(inner) < 2 || inner[0] != '{' {
		return append(append(append(dst, '{'), seq...), '}')
	}
	dst = append(append(dst, '{'), seq...)
	if rest := bytes.TrimSpace(inner[1:]); rest[0] != '}' {
		dst = append(dst, ',')
	}
	return append(dst, inner[1:]...)
}

// noticeAsText shows a warning or an error to a client that does not know
// notices; news of less weight is left out.
func noticeAsText(id string, body raw) raw {
	var p struct {
		Update struct {
			Severity    string `json:"severity"`
			Title       string `json:"title"`
			Description string `json:"description"`
		} `json:"update"`
	}
	if json.Unmarshal(body, &p) != nil || (p.Update.Severity != "warning" && p.Update.Severity != "error") {
		return nil
	}
	text := p.Update.Title
	if p.Update.Description != "" {
		text += ": " + p.Update.Description
	}
	return updateMessage(id, chunkUpdate{string(session.KindAgentMessage), textBlock{"text", text + "\n"}})
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type chunkUpdate struct {
	Kind    string    `json:"sessionUpdate"`
	Content textBlock `json:"content"`
}

// updateMessage encodes a session/update of our own making.
func updateMessage(id string, update any) raw {
	params, err := json.Marshal(struct {
		SessionID string `json:"sessionId"`
		Update    any    `json:"update"`
	}{id, update})
	if err != nil {
		return nil // update is always one of our own structs
	}
	return append(append(raw(updateHead), params...), '}')
}

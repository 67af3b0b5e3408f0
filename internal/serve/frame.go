package serve

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// updateHead opens a session/update notification; params and a brace follow.
const updateHead = `{"jsonrpc":"2.0","method":"session/update","params":`

// appendFrame appends the session/update that shows an event to this client, or
// nothing when it is not to see it.
func (v *view) appendFrame(dst []byte, e *session.Event, replayed bool) []byte {
	if e.Version != protocolVersion {
		return dst // the hub's own, or private
	}
	if v.conn.dialect.Load() {
		return appendDialectFrame(dst, v.id, e, replayed)
	}
	switch e.Kind {
	case session.KindCustom:
		return dst
	case session.KindNotice:
		if !v.conn.capabilities().notices {
			return append(dst, noticeAsText(v.id, e.Body)...)
		}
	case session.KindInfo:
		e = v.infoEvent(e)
	case session.KindCompaction, session.KindCompactChunk:
		if !v.conn.capabilities().compaction {
			return dst
		}
	}
	return appendUpdate(dst, v.id, e)
}

// appendUpdate appends the session/update of an event as it is.
func appendUpdate(dst []byte, id string, e *session.Event) []byte {
	return append(appendSpliced(append(dst, updateHead...), e, id), '}')
}

// appendSpliced appends an event's params with this hop's session id and with
// _meta.grapnel.seq; every other byte is as its origin wrote it. An event the
// store could not take has no number and is shown without one.
func appendSpliced(dst []byte, e *session.Event, id string) []byte {
	body := []byte(e.Body)
	sid, meta := e.Marks.SessionID, e.Marks.Meta
	first, second := sid, meta
	if !meta.IsZero() && meta.From < sid.From {
		first, second = meta, sid
	}
	at := uint32(0)
	for _, span := range [...]session.Span{first, second} {
		if span.IsZero() {
			continue
		}
		dst = append(dst, body[at:span.From]...)
		if span == sid {
			dst = append(append(append(dst, '"'), id...), '"')
		} else {
			dst = appendMeta(dst, body[span.From:span.To], e.Seq)
		}
		at = span.To
	}
	rest := body[at:]
	if meta.IsZero() && e.Seq != 0 {
		end := bytes.LastIndexByte(rest, '}')
		dst = append(dst, rest[:end]...)
		return append(appendMeta(append(dst, `,"_meta":`...), nil, e.Seq), '}')
	}
	return append(dst, rest...)
}

// appendMeta puts a number, if it is one, into a _meta value, which may be null,
// empty or missing.
func appendMeta(dst, meta []byte, seq session.Seq) []byte {
	inner := bytes.TrimSpace(meta)
	if seq == 0 {
		return append(dst, inner...)
	}
	dst = strconv.AppendUint(append(dst, `{"grapnel":{"seq":`...), uint64(seq), 10)
	dst = append(dst, '}')
	if len(inner) < 2 || inner[0] != '{' {
		return append(dst, '}')
	}
	if rest := bytes.TrimSpace(inner[1:]); rest[0] != '}' {
		dst = append(dst, ',')
	}
	return append(dst, inner[1:]...)
}

// noticeAsText shows a warning or an error to a client that does not know
// notices; news of less weight is left out.
func noticeAsText(id string, body raw) raw {
	text := noticeText(body)
	if text == "" {
		return nil
	}
	return updateMessage(id, chunkUpdate{string(session.KindAgentMessage), textBlock{"text", text}})
}

func noticeText(body raw) string {
	var p struct {
		Update struct {
			Severity    string `json:"severity"`
			Title       string `json:"title"`
			Description string `json:"description"`
		} `json:"update"`
	}
	if json.Unmarshal(body, &p) != nil || (p.Update.Severity != "warning" && p.Update.Severity != "error") {
		return ""
	}
	text := p.Update.Title
	if p.Update.Description != "" {
		text += ": " + p.Update.Description
	}
	return text + "\n"
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

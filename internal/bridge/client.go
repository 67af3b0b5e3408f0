package bridge

import (
	"context"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
)

// fromClient takes one message of the client.
func (b *Bridge) fromClient(ctx context.Context, msg []byte) {
	if !jsontext.Value(msg).IsValid() { // the gateway says what is wrong with it
		b.send(ctx, &call{msg: msg})
		return
	}
	m := scan(msg)
	switch {
	case m.method.isZero() && !m.id.isZero():
		b.answered(ctx, msg, m)
	case m.id.isZero():
		b.notified(ctx, msg, m)
	case text(msg, m.method) == "initialize" && b.greeted(msg, m):
		signal(b.wanted)
	default:
		b.asked(ctx, msg, m)
	}
}

// greeted takes the client's first initialize. It is answered when the gateway
// is there, or cannot be reached. One that comes behind other requests, or
// again, is a request like them.
func (b *Bridge) greeted(msg []byte, m message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.init != nil {
		return false
	}
	params := []byte("{}")
	if !m.params.isZero() {
		params = m.params.of(msg)
	}
	b.init = &greeting{
		params: b.opts.introduce(params, b.origin), asked: string(m.id.of(msg)),
		protocol: max(1, number(msg, find(msg, m.params, "protocolVersion"))),
	}
	if b.now != nil { // made for what came before
		b.init.asked = ""
		return false
	}
	return true
}

// asked takes any other request.
func (b *Bridge) asked(ctx context.Context, msg []byte, m message) {
	c := &call{
		id: string(m.id.of(msg)), method: text(msg, m.method),
		session: text(msg, find(msg, m.params, "sessionId")),
	}
	c.msg = b.dress(c, msg)
	b.send(ctx, c)
}

// dress adds to a request what the options say.
func (b *Bridge) dress(c *call, msg []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch c.method {
	case "initialize":
		params := b.opts.introduce(find(msg, object(msg), "params").of(msg), b.origin)
		if b.now != nil && b.now.far && !b.opts.ClientFs && !b.opts.ToolsClient {
			params = withoutHands(params)
		}
		return set(msg, string(params), "params")
	case "session/new":
		return b.choose(msg)
	case "session/prompt":
		b.prompts++
		msg = set(msg, quote(b.origin.bridge+"/"+strconv.Itoa(b.prompts)), "params", "_meta", "grapnel", "key")
		return b.accompany(c.session, msg)
	case "session/load", "session/resume":
		b.state.session(c.session).keep(msg)
	}
	return msg
}

// keep remembers what a session needs when it is resumed.
func (s *session) keep(msg []byte) {
	params := find(msg, object(msg), "params")
	if at := find(msg, params, "mcpServers"); !at.isZero() {
		s.servers = string(at.of(msg))
	}
	if at := find(msg, params, "additionalDirectories"); !at.isZero() {
		s.roots = string(at.of(msg))
	}
	if cwd := text(msg, find(msg, params, "cwd")); cwd != "" {
		s.cwd = cwd
	}
}

// notified takes a notification.
func (b *Bridge) notified(ctx context.Context, msg []byte, m message) {
	b.mu.Lock()
	switch text(msg, m.method) {
	case "session/cancel":
		b.state.cancel(text(msg, find(msg, m.params, "sessionId")))
	case "$/cancel_request":
		id := string(find(msg, m.params, "requestId").of(msg))
		for _, c := range b.state.calls {
			c.cancelled = c.cancelled || c.id != "" && c.id == id
		}
	}
	b.mu.Unlock()
	b.send(ctx, &call{method: text(msg, m.method), msg: msg})
}

// answered takes the client's answer to a request of the gateway.
func (b *Bridge) answered(ctx context.Context, msg []byte, m message) {
	b.mu.Lock()
	key := string(m.id.of(msg))
	a, known := b.state.asks[key]
	if !known || a.answer != nil {
		b.mu.Unlock()
		return // withdrawn, or never asked
	}
	if a.id != key {
		msg = replace(msg, m.id, []byte(a.id))
	}
	a.answer = msg
	l := b.now
	if a.offered != b.number {
		l = nil // it is sent when the request is offered again
	}
	if !a.lasting {
		delete(b.state.asks, key)
	}
	b.mu.Unlock()
	if l != nil {
		b.sending.Lock()
		defer b.sending.Unlock()
		l.write(ctx, msg)
	}
}

// send puts a message at the end of what goes to the gateway, and writes it
// where there is a connection.
func (b *Bridge) send(ctx context.Context, c *call) {
	b.sending.Lock()
	defer b.sending.Unlock()
	b.mu.Lock()
	l := b.now
	if !b.up {
		l = nil
	}
	if c.id != "" || l == nil {
		b.state.calls = append(b.state.calls, c)
	}
	if s := b.state.sessions[c.session]; s != nil && l != nil && c.restores() {
		s.floor = 0 // the client wants the past again
	}
	b.mu.Unlock()
	if l == nil {
		signal(b.wanted)
		return
	}
	b.put(ctx, l, c, c.msg)
}

// put writes a call to a link. One that could not be written waits for the next.
func (b *Bridge) put(ctx context.Context, l *link, c *call, msg []byte) {
	b.mu.Lock()
	c.sent = true // before the answer can come
	b.mu.Unlock()
	err := l.write(ctx, msg)
	if errors.Is(err, acp.ErrInvalidMessage) {
		b.malformed(c)
		return
	}
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c.sent = c.repeated
	if c.id == "" {
		b.state.calls = append(b.state.calls, c)
	}
}

// malformed answers what the connection does not take: text that is not UTF-8.
func (b *Bridge) malformed(c *call) {
	b.mu.Lock()
	id := "null"
	if c.id != "" && b.state.take(c.id) != nil {
		id = c.id
	}
	b.mu.Unlock()
	b.tell(failure(id, int(acp.CodeParseError), "Parse error: the message is not valid JSON", ""))
}

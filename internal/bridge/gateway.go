package bridge

import (
	"context"
	"strings"
)

// ownPrefix begins the ids of requests that the bridge makes itself.
const ownPrefix = `"gp-bridge-`

// fromGateway takes one message of the gateway.
func (b *Bridge) fromGateway(ctx context.Context, l *link, msg []byte) {
	m := scan(msg)
	switch {
	case !m.method.isZero() && !m.id.isZero():
		msg = b.offered(ctx, l, msg, m)
	case !m.method.isZero():
		msg = b.told(msg, m)
	case !m.id.isZero():
		msg = b.replied(msg, m)
	}
	if msg != nil {
		l.used.Store(true)
		b.tell(msg)
		if !m.id.isZero() && m.method.isZero() {
			b.tellNews()
		}
	}
}

// offered takes a request for the client. It returns what the client is to see.
func (b *Bridge) offered(ctx context.Context, l *link, msg []byte, m message) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := string(m.id.of(msg))
	key := id
	if a, open := b.state.asks[key]; open {
		if a.lasting {
			a.offered = b.number
			if a.answer != nil {
				go b.again(ctx, l, a.answer) // reading must not wait for writing
			}
			return nil
		}
		key = b.ownID() // the client still works on one that another connection asked
		msg = replace(msg, m.id, []byte(key))
	}
	b.state.asks[key] = &ask{
		id: id, lasting: lasting(id), offered: b.number,
		session: text(msg, find(msg, m.params, "sessionId")),
	}
	return msg
}

func (b *Bridge) again(ctx context.Context, l *link, answer []byte) {
	b.sending.Lock()
	defer b.sending.Unlock()
	l.write(ctx, answer)
}

// told takes a notification.
func (b *Bridge) told(msg []byte, m message) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch text(msg, m.method) {
	case "session/update":
		if b.shown(msg, m) || b.echo(msg, m) {
			return nil
		}
	case "$/cancel_request":
		at := find(msg, m.params, "requestId")
		id := string(at.of(msg))
		for key, a := range b.state.asks {
			if a.id != id || a.offered != b.number {
				continue
			}
			delete(b.state.asks, key)
			if a.answer != nil {
				return nil
			}
			if key != id {
				msg = replace(msg, at, []byte(key))
			}
			break
		}
	}
	return msg
}

// shown counts an update, and reports whether the client has it already.
func (b *Bridge) shown(msg []byte, m message) bool {
	seq := number(msg, find(msg, m.params, "_meta", "grapnel", "seq"))
	if seq == 0 {
		return false
	}
	id := text(msg, find(msg, m.params, "sessionId"))
	s := b.state.session(id)
	if seq <= s.floor {
		return true
	}
	if c := b.state.restoring(id); c != nil && (seq <= s.last || s.last == 0) {
		c.begun = true
	}
	s.last = seq
	return false
}

// echo reports whether an update is a part of a prompt that this client sent on
// an earlier connection: the gateway takes who comes back for somebody else.
func (b *Bridge) echo(msg []byte, m message) bool {
	id := text(msg, find(msg, m.params, "sessionId"))
	for _, c := range b.state.calls {
		if c.method != "session/prompt" || c.session != id || !c.repeated {
			continue
		}
		update := find(msg, m.params, "update")
		if text(msg, find(msg, update, "sessionUpdate")) != "user_message_chunk" {
			return false
		}
		if c.takeBlock(find(msg, update, "content").of(msg)) {
			return true
		}
	}
	return false
}

// replied takes an answer.
func (b *Bridge) replied(msg []byte, m message) []byte {
	b.mu.Lock()
	defer func() {
		b.mu.Unlock()
		b.checkIdle()
	}()
	id := string(m.id.of(msg))
	if strings.HasPrefix(id, ownPrefix) {
		if waits, ok := b.own[id]; ok {
			delete(b.own, id)
			waits <- msg
		}
		return nil
	}
	c := b.state.take(id)
	if c == nil {
		return msg
	}
	if b.moves(c, msg, m) {
		b.state.calls = append(b.state.calls, c)
		if b.up {
			go b.again(context.Background(), b.now, c.msg) // reading must not wait for writing
		}
		return nil
	}
	msg = b.settled(c, msg, m)
	if c.moved != "" && !m.result.isZero() {
		id := c.session
		if id == "" {
			id = text(msg, find(msg, m.result, "sessionId"))
		}
		b.news = append(b.news, moved{id, c.moved})
	}
	return msg
}

// moves reports whether a session was refused only because the client's directory
// is not on the gateway's host. It is asked for again without one: the agent then
// works in its workspace there, and the client is told. mu is held.
func (b *Bridge) moves(c *call, msg []byte, m message) bool {
	elsewhere := b.now != nil && b.now.far && !b.opts.ClientFs && !b.opts.ToolsClient
	if !elsewhere || c.moved != "" || !m.result.isZero() || c.method != "session/new" && !c.restores() {
		return false
	}
	dir := text(c.msg, find(c.msg, object(c.msg), "params", "cwd"))
	why := text(msg, find(msg, m.failed, "message"))
	if string(find(msg, m.failed, "code").of(msg)) != "-32602" || len(dir) < 2 || !strings.Contains(why, dir) {
		return false
	}
	c.moved = dir
	c.msg = set(c.msg, `"."`, "params", "cwd")
	return true
}

// moved is a session whose directory is not the client's.
type moved struct{ id, dir string }

// tellNews tells the client what comes behind an answer.
func (b *Bridge) tellNews() {
	b.mu.Lock()
	news := b.news
	b.news = nil
	b.mu.Unlock()
	for _, n := range news {
		b.tell(b.notice(n.id, "warning", "Another directory", n.dir+" is not there on the gateway's host: the agent works in its own workspace"))
	}
}

// settled follows the answer to a request of the client.
func (b *Bridge) settled(c *call, msg []byte, m message) []byte {
	failed := m.result.isZero()
	switch c.method {
	case "session/new", "session/fork":
		if failed {
			b.unmark(c)
		}
		if id := text(msg, find(msg, m.result, "sessionId")); id != "" {
			s := b.state.session(id)
			s.live = true
			s.keep(c.msg)
			s.prefix = string(find(msg, m.result, "_meta", "grapnel", "toolsInCwd").of(msg)) == "false"
		}
	case "session/load", "session/resume":
		s := b.state.session(c.session)
		s.live = s.live || !failed
		if !s.live {
			delete(b.state.sessions, c.session)
		}
	case "session/close", "session/delete", "session/stop", "session/archive":
		if failed && c.repeated && string(find(msg, m.failed, "code").of(msg)) == "-32002" {
			failed, msg = false, response(c.id, "{}") // the one before did it
		}
		if !failed {
			delete(b.state.sessions, c.session)
		}
	case "session/prompt":
		b.state.settleAnswered(c.session)
	}
	return msg
}

package bridge

import (
	"bytes"
	"slices"
	"strings"
)

// call is something the client sent that may have to be sent again: a request
// until it is answered, a notification until it is sent.
type call struct {
	id        string // as the client wrote it; "" for a notification
	method    string
	session   string
	msg       []byte
	sent      bool   // whole, on a connection that there was
	repeated  bool   // it was sent before
	cancelled bool   // the client wants it to end
	moved     string // the client's directory, where another was asked for instead
	begun     bool   // a load whose history has begun to come

	echoed  [][]byte // blocks of a prompt that may come back to its sender
	blocked bool     // echoed is filled
}

// takeBlock reports whether a block is one of the prompt's, each once.
func (c *call) takeBlock(block []byte) bool {
	if !c.blocked {
		c.blocked = true
		for item := range items(c.msg, find(c.msg, object(c.msg), "params", "prompt")) {
			c.echoed = append(c.echoed, item.of(c.msg))
		}
	}
	i := slices.IndexFunc(c.echoed, func(own []byte) bool { return bytes.Equal(own, block) })
	if i < 0 {
		return false
	}
	c.echoed = slices.Delete(c.echoed, i, i+1)
	return true
}

// restores reports whether it attaches to a session.
func (c *call) restores() bool { return c.method == "session/load" || c.method == "session/resume" }

// repeatable reports whether it may be sent again when the connection was lost:
// what only reads, what sets a value and what has a key cannot be done twice.
func (c *call) repeatable() bool {
	switch c.method {
	case "session/prompt", "session/list", "session/load", "session/resume", "session/status",
		"session/set_mode", "session/set_model", "session/set_config_option", "session/set_title",
		"session/archive", "session/unarchive", "session/close", "session/delete", "session/stop",
		"initialize", "authenticate", "logout":
		return true
	case "session/new":
		return (c.meta("sessionKey") || c.meta("sessionLabel")) && !c.resets()
	}
	return false
}

// meta reports whether the params have a member of _meta.
func (c *call) meta(name string) bool {
	return !find(c.msg, object(c.msg), "params", "_meta", name).isZero()
}

// resets reports whether it begins a session anew.
func (c *call) resets() bool {
	return string(find(c.msg, object(c.msg), "params", "_meta", "resetSession").of(c.msg)) == "true"
}

// session is a session that the client has, or is getting.
type session struct {
	live    bool   // a new, load or resume succeeded
	last    uint64 // number of the update that came last
	floor   uint64 // numbers up to here were shown before the connection was made
	servers string // mcpServers of the client, JSON; "" for none
	roots   string // additionalDirectories, likewise
	prefix  bool   // prompts say the working directory
	cwd     string
}

// ask is a request of the gateway that the client has. It is kept until it is
// settled, so that the answer reaches the gateway although the connection breaks.
type ask struct {
	id      string // as the gateway wrote it
	session string
	lasting bool   // has the same id on every connection
	answer  []byte // of the client, nil while it is open
	offered int    // the connection it was offered on last
}

// lasting reports whether a request keeps its id when it is offered anew.
func lasting(id string) bool {
	return strings.HasPrefix(id, `"gp-out-`) || strings.HasPrefix(id, `"zc-out-`)
}

// state is what has to outlive a connection.
type state struct {
	calls    []*call             // in the order they came
	sessions map[string]*session // by id
	asks     map[string]*ask     // by the id the client knows
}

func newState() state {
	return state{sessions: make(map[string]*session), asks: make(map[string]*ask)}
}

// take removes and returns the call with an id, nil when there is none.
func (s *state) take(id string) *call {
	i := slices.IndexFunc(s.calls, func(c *call) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	c := s.calls[i]
	s.calls = slices.Delete(s.calls, i, i+1)
	return c
}

func (s *state) session(id string) *session {
	found := s.sessions[id]
	if found == nil {
		found = &session{}
		s.sessions[id] = found
	}
	return found
}

// live reports whether a session hangs on the connection.
func (s *state) live() bool {
	for _, one := range s.sessions {
		if one.live {
			return true
		}
	}
	return false
}

// restoring returns the load or resume of a session that waits for its answer.
func (s *state) restoring(id string) *call {
	for _, c := range s.calls {
		if c.session == id && c.sent && c.restores() {
			return c
		}
	}
	return nil
}

// cancel marks the prompts of a session that were sent so far.
func (s *state) cancel(id string) {
	for _, c := range s.calls {
		if c.session == id && c.method == "session/prompt" {
			c.cancelled = true
		}
	}
}

func (s *state) prompts(id string) bool {
	return slices.ContainsFunc(s.calls, func(c *call) bool {
		return c.session == id && c.method == "session/prompt"
	})
}

// settleAnswered forgets what the client answered in a session where nothing
// runs any more.
func (s *state) settleAnswered(id string) {
	if s.prompts(id) {
		return
	}
	for key, a := range s.asks {
		if a.session == id && a.answer != nil {
			delete(s.asks, key)
		}
	}
}

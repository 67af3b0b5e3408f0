package soak

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// How long a seat hears nothing before it asks whether the gateway is still
// there, and how long that may take to answer.
const (
	seatQuiet = 200 * time.Millisecond
	seatPing  = 500 * time.Millisecond
)

// seat is a client of one session that loses its connection again and again,
// and comes back for what it has not been shown. One goroutine runs it.
type seat struct {
	d       *drops
	session string
	name    string
	role    string
	prompts bool // it prompts, besides following
	proxy   *chaos

	shown  *transcript
	cursor uint64 // the last place of any update
	own    []string
	asked  *request // the prompt without an answer yet
	n      int      // prompts so far
	turns  int
	idle   atomic.Bool // no prompt is open, and none will be sent
	at     atomic.Uint64

	link  *fieldtest.Client
	next  int  // first message of the link not looked at
	ready bool // the session is resumed
	id    int  // of the last request on the link
}

// request is a prompt that is sent until it is answered.
type request struct {
	key, text string
	id        int // on the link of now; 0 is not sent
}

// run connects and follows until everything is shown.
func (s *seat) run() {
	for !s.finished() {
		link, _, err := s.d.gateway.TryConnect(fieldtest.Dial{Addr: s.proxy.addr()})
		if err != nil {
			continue // it was cut during the handshake
		}
		s.link, s.next, s.ready, s.id = link, 0, false, 0
		if s.asked != nil {
			s.asked.id = 0
		}
		s.send("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": s.name, "version": "0"}})
		s.send("session/resume", object{
			"sessionId": s.session, "cwd": s.d.Cwd, "mcpServers": []any{},
			"_meta": object{"grapnel": object{"after": s.cursor, "role": s.role}},
		})
		s.follow()
		link.Drop()
		s.d.connections.Add(1)
	}
}

// send sends a request and returns its id. A connection that is gone shows when
// it is read.
func (s *seat) send(method string, params object) int {
	s.id++
	_ = s.link.TrySend(fieldtest.Request(fmt.Sprint(s.id), method, params))
	return s.id
}

// finished reports whether all there is was shown.
func (s *seat) finished() bool {
	last := s.d.last(s.session)
	return s.d.t.Failed() || last > 0 && s.shown.last >= last && s.asked == nil
}

// follow looks at messages until the connection is gone or all is shown.
func (s *seat) follow() {
	for !s.finished() {
		s.prompt()
		m, ok := s.link.Next(s.next, seatQuiet)
		if !ok {
			if s.link.Over() || s.link.Ping(seatPing) != nil {
				return
			}
			continue
		}
		s.next++
		if !s.take(m) {
			return
		}
	}
}

// prompt sends the open prompt, or makes one.
func (s *seat) prompt() {
	if !s.prompts || !s.ready {
		return
	}
	if s.asked == nil {
		if s.d.stopping.Load() {
			s.idle.Store(true)
			return
		}
		s.n++
		token := fmt.Sprintf("%s-%d", s.name, s.n)
		s.own = append(s.own, token)
		s.asked = &request{key: token, text: token + "\n" + s.d.script()}
	}
	if s.asked.id == 0 {
		params := fieldtest.PromptParams(s.session, s.asked.text)
		params["_meta"] = object{"grapnel": object{"key": s.asked.key}}
		s.asked.id = s.send("session/prompt", params)
	}
}

// take looks at a message and reports whether the session goes on.
func (s *seat) take(m fieldtest.Message) bool {
	switch m.Method {
	case "":
		return s.answered(m)
	case "session/update":
		return s.update(m)
	case "session/request_permission":
		s.permit(m)
	}
	return true
}

func (s *seat) answered(m fieldtest.Message) bool {
	id := string(m.ID)
	if m.Error != nil {
		s.d.t.Errorf("%s: request %s failed: %d %s %s", s.name, id, m.Error.Code, m.Error.Message, m.Error.Data)
		return false
	}
	if id == "2" {
		s.ready = true
	}
	if s.asked != nil && id == fmt.Sprint(s.asked.id) {
		if stop := m.StopReason(); stop != "end_turn" {
			s.d.t.Errorf("%s: the turn of %s ended with %s", s.name, s.asked.key, stop)
		}
		s.asked = nil
		s.turns++
	}
	return true
}

func (s *seat) update(m fieldtest.Message) bool {
	var u update
	err := json.Unmarshal(m.Params, &u)
	if seq := u.Meta.Grapnel.Seq; err == nil && seq != 0 {
		if seq <= s.cursor {
			err = fmt.Errorf("%s at %d came after %d", u.head().Kind, seq, s.cursor)
		}
		s.cursor = seq
	}
	if err == nil {
		err = s.shown.show(u)
	}
	if err != nil {
		s.d.t.Errorf("%s: %v", s.name, err)
		return false
	}
	s.at.Store(s.cursor)
	return true
}

// permit says yes, as the others do.
func (s *seat) permit(m fieldtest.Message) {
	if s.role != "approver" {
		s.d.t.Errorf("%s, a %s, is asked for a permission", s.name, s.role)
		return
	}
	_ = s.link.TrySend(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow-once"}}}`, m.ID))
}

// whole compares all the seat was shown with the ledger.
func (s *seat) whole(ledger *transcript) error {
	if err := ledger.whole(s.shown, s.own); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

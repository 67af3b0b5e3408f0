package bridge

import (
	"fmt"

	"github.com/grapnel-ai/grapnel/acp"
)

// dropLargest fails the request that the gateway found too large, which would
// end the next connection, too.
func (b *Bridge) dropLargest(reason string) {
	b.mu.Lock()
	var largest *call
	for _, c := range b.state.calls {
		if c.sent && (largest == nil || len(c.msg) > len(largest.msg)) {
			largest = c
		}
	}
	if largest != nil {
		b.state.take(largest.id)
	}
	b.mu.Unlock()
	if largest != nil {
		b.fail([]*call{largest}, func(c *call) []byte {
			return failure(c.id, int(acp.CodeInvalidRequest), fmt.Sprintf(
				"the message has %d bytes, and the gateway takes fewer (%s): raise acp.max_message_bytes there", len(c.msg), reason), "")
		})
	}
}

// giveUp fails what waits for a gateway that is not there. Sessions are kept:
// the next request tries again.
func (b *Bridge) giveUp(err error) {
	b.greetAlone(err)
	b.sending.Lock()
	defer b.sending.Unlock()
	b.mu.Lock()
	first := b.fault == nil
	b.fault = err
	calls := b.state.calls
	b.state.calls = nil
	var told []string
	for id, s := range b.state.sessions {
		if s.live && first {
			told = append(told, id)
		}
	}
	b.mu.Unlock()
	b.opts.Logger.Error(err.Error())
	for _, id := range told {
		b.tell(b.notice(id, "error", "The gateway cannot be reached", err.Error()))
	}
	b.fail(calls, func(c *call) []byte {
		return failure(c.id, int(acp.CodeInternalError), err.Error(), dataUnreachable)
	})
}

// fail answers requests that are given up.
func (b *Bridge) fail(calls []*call, answer func(*call) []byte) {
	for _, c := range calls {
		if c.id == "" {
			continue
		}
		b.mu.Lock()
		b.lost++
		b.unmark(c)
		b.mu.Unlock()
		b.tell(answer(c))
	}
	b.checkIdle()
}

// greetAlone answers initialize for a gateway that is not there.
func (b *Bridge) greetAlone(why error) {
	b.mu.Lock()
	id := ""
	if b.init != nil {
		id = b.init.asked
		b.init.asked = ""
	}
	b.mu.Unlock()
	if id == "" {
		return
	}
	b.opts.Logger.Debug("initialize is answered without the gateway", "err", why)
	b.tell(response(id, b.opts.initializeResult()))
	b.checkIdle()
}

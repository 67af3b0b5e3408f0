package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/tool"
)

// maxTools is how many tools all servers of a session may offer: with the
// agent's own they stay below what providers take in one request.
const maxTools = 110

// maxOffered bounds the descriptions and schemas of all tools of a session, in
// bytes: each request carries them, beside the conversation.
const maxOffered = 256 << 10

// Servers are the MCP servers of one session. Its methods are safe for
// concurrent use.
type Servers struct {
	list   []*server
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	notices []Notice
	version uint64      // of tools: grows with each change at a server
	built   uint64      // the version that tools was built of
	tools   []tool.Tool // of all servers; nil before the first is built
	over    bool        // a notice said that there are too many
}

// Open begins to connect the configured servers and those a client passed (ACP
// McpServer), and returns at once. Close has to be called.
func Open(configured []Server, client []jsontext.Value, o Options) *Servers {
	ctx, cancel := context.WithCancel(context.Background())
	list, notices := join(configured, client)
	s := &Servers{cancel: cancel, version: 1, notices: notices}
	for i, prefix := range prefixes(list) {
		s.list = append(s.list, newServer(list[i], prefix, o, s))
	}
	for _, srv := range list {
		if !srv.FromClient {
			continue
		}
		if secrets, err := srv.Secrets(ctx); err == nil { // they are at hand
			secrets.teach(o.Redact)
		}
	}
	for _, srv := range s.list {
		s.done.Go(func() { srv.run(ctx) })
	}
	return s
}

// Wait waits until every server has been connected or has failed to, for the
// first time, or until ctx ends. It returns the names of those still on their
// way.
func (s *Servers) Wait(ctx context.Context) []string {
	var late []string
	for _, srv := range s.list {
		select {
		case <-srv.settled:
			continue
		default:
		}
		select {
		case <-srv.settled:
		case <-ctx.Done():
			late = append(late, srv.conf.Name)
		}
	}
	return late
}

// Tools returns the tools there are now. The version is the same as long as they
// are. The caller must not change the list.
func (s *Servers) Tools() (tools []tool.Tool, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.built != s.version {
		s.built, s.tools = s.version, s.gather()
	}
	return s.tools, s.version
}

// gather takes the servers' tools in their order as far as there is room.
func (s *Servers) gather() []tool.Tool {
	var list []tool.Tool
	var left []string
	size := 0
	for _, srv := range s.list {
		out := 0
		for _, t := range srv.offered() {
			if len(list) == maxTools || size+t.size() > maxOffered {
				out++
				continue
			}
			size += t.size()
			list = append(list, t)
		}
		if out > 0 {
			left = append(left, fmt.Sprintf("%d of %s", out, srv.conf.Name))
		}
	}
	if len(left) > 0 && !s.over {
		s.over = true
		s.notices = append(s.notices, Notice{Title: "Too many MCP tools", Text: fmt.Sprintf(
			"The MCP servers of this session offer more than %d tools or more than %d KiB of what there is to say of them; left out: %s. Use fewer servers at once.",
			maxTools, maxOffered>>10, strings.Join(left, ", "))})
	}
	return list
}

// Notices returns what there is to tell since it was last asked.
func (s *Servers) Notices() []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.notices
	s.notices = nil
	return n
}

// tell keeps a notice until it is asked for. It takes the place of an older one
// of its kind: a server can come and go many times before anybody looks.
func (s *Servers) tell(n Notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notices = slices.DeleteFunc(s.notices, func(o Notice) bool { return o.Server == n.Server && o.Title == n.Title })
	s.notices = append(s.notices, n)
}

// changed says that a server's tools are others than before.
func (s *Servers) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
}

// Instructions returns what the connected servers want models to know.
func (s *Servers) Instructions() []Instructions {
	var list []Instructions
	for _, srv := range s.list {
		if text := srv.instructions(); text != "" {
			list = append(list, Instructions{srv.conf.Name, text})
		}
	}
	return list
}

// Connected reports whether the server of that name is connected now.
func (s *Servers) Connected(name string) bool {
	for _, srv := range s.list {
		if srv.conf.Name == name {
			return srv.connected() != nil
		}
	}
	return false
}

// Close ends all servers. It returns when they are gone or ctx ends; what is
// left then is ended all the same, in its own time.
func (s *Servers) Close(ctx context.Context) error {
	s.cancel()
	gone := make(chan struct{})
	go func() {
		s.done.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

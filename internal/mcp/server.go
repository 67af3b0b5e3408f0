package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/mcp/allowance"
)

const (
	// connectBound is how long a server may take to be ready; programs that are
	// fetched from a registry at their first start take long.
	connectBound = 2 * time.Minute
	// maxTries is how often in a row a server is connected in vain.
	maxTries = 6
	// firstPause is the time before the second try; it doubles up to lastPause.
	firstPause = time.Second
	lastPause  = 30 * time.Second
	// healthyAfter is how long a server has to hold for its tries to count anew.
	healthyAfter = time.Minute
	// listBurst and listRate bound how often a server that says that its tools
	// changed is asked for them: at once, and per second after that.
	listBurst = 5
	listRate  = 2
)

// server keeps one server connected.
type server struct {
	conf    Server
	prefix  string
	opts    Options
	owner   *Servers
	settled chan struct{} // closed when the first try has come to something

	mu    sync.Mutex
	conn  *connection // nil while there is none
	tools []*remoteTool
	left  []string // tools that cannot be offered, as people were told
	why   string   // why there is no connection, a sentence
	told  bool     // people know of it
}

func newServer(conf Server, prefix string, o Options, owner *Servers) *server {
	return &server{
		conf: conf, prefix: prefix, opts: o, owner: owner,
		settled: make(chan struct{}), why: "it is still being connected",
	}
}

// run connects the server and connects it again when it is lost, until ctx ends
// or it has failed too often.
func (s *server) run(ctx context.Context) {
	settle := sync.OnceFunc(func() { close(s.settled) })
	defer settle()
	pause := firstPause
	for tries := 0; ctx.Err() == nil; {
		tries++
		since := time.Now()
		err := s.hold(ctx, settle)
		if ctx.Err() != nil {
			return
		}
		if time.Since(since) >= healthyAfter {
			tries, pause = 1, firstPause
		}
		final := tries >= maxTries || errors.As(err, new(*finalError))
		s.lost(err, final)
		settle()
		if final {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause = min(2*pause, lastPause)
	}
}

// finalError is a failure that trying again does not mend.
type finalError struct{ error }

func (e *finalError) Unwrap() error { return e.error }

// hold connects, keeps the list of tools up to date and returns why it ended.
func (s *server) hold(ctx context.Context, settle func()) error {
	c, err := connect(ctx, s.conf, s.opts)
	if err != nil {
		return err
	}
	defer c.close()
	ended := make(chan error, 1)
	go func() { ended <- c.wait() }()
	lists := allowance.Allowance{Burst: listBurst, Rate: listRate}
	for {
		if err := s.refresh(ctx, c); err != nil {
			return c.explain(err)
		}
		settle()
		err := await(ctx, ended, time.After(lists.Take(1, time.Now())))
		if err == nil {
			err = await(ctx, ended, c.changed)
		}
		if err != nil {
			return c.explain(err)
		}
	}
}

// await waits for what is due. The error is why it will not come: how the
// connection has ended, or ctx.
func await[T any](ctx context.Context, ended <-chan error, due <-chan T) error {
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-due:
		return nil
	}
}

// refresh reads the server's tools.
func (s *server) refresh(ctx context.Context, c *connection) error {
	found := s.offers()
	if err := c.list(ctx, found.add); err != nil {
		return err
	}
	tools, left := found.tools, found.left
	if c.hasResources() && !slices.ContainsFunc(tools, func(t *remoteTool) bool { return t.own == readResource }) {
		tools = append(tools, s.resourceTool())
	}
	s.mu.Lock()
	again := s.conn == nil && s.told
	news := len(left) > 0 && !slices.Equal(left, s.left)
	s.conn, s.tools, s.left, s.why, s.told = c, tools, left, "", false
	s.mu.Unlock()
	s.owner.changed()
	if again {
		s.owner.tell(Notice{Server: s.conf.Name, Title: "MCP server connected again", Text: fmt.Sprintf("The tools of %s are back.", s.conf.Name)})
	}
	if news {
		s.owner.tell(Notice{Server: s.conf.Name, Title: "MCP tools left out", Text: fmt.Sprintf(
			"%s offers tools that no model can be given: %s.", s.conf.Name, strings.Join(left, ", "))})
	}
	return nil
}

// lost notes that there is no connection, and tells people the first time and
// when it is given up.
func (s *server) lost(err error, final bool) {
	s.mu.Lock()
	s.conn, s.tools, s.why = nil, nil, err.Error()
	tell := !s.told
	s.told = true
	s.mu.Unlock()
	s.owner.changed()
	if !tell {
		return
	}
	text := fmt.Sprintf("The tools of %s are not available: %s.", s.conf.Name, strings.TrimRight(err.Error(), "."))
	if !final {
		text += " It is being tried again."
	}
	s.owner.tell(Notice{Server: s.conf.Name, Title: "MCP server not connected", Text: text, Failed: true})
}

// offered are the server's tools now.
func (s *server) offered() []*remoteTool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// connected returns the connection there is now, or nil.
func (s *server) connected() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

func (s *server) instructions() string {
	if c := s.connected(); c != nil {
		return c.instructions()
	}
	return ""
}

// current returns the connection and the tool as the server offers it now.
func (s *server) current(t *remoteTool) (*connection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == nil {
		return nil, fmt.Errorf("MCP server %s is not connected: %s", s.conf.Name, s.why)
	}
	for _, now := range s.tools {
		if now.own != t.own {
			continue
		}
		if now.definition != t.definition {
			return nil, fmt.Errorf("MCP server %s has changed its tool %s since this call was made: look at the tool again and repeat the call", s.conf.Name, t.own)
		}
		return s.conn, nil
	}
	return nil, fmt.Errorf("MCP server %s no longer offers %s", s.conf.Name, t.own)
}

package serve_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// unreadable is a ledger whose events cannot be read while broken is set.
type unreadable struct {
	session.Ledger
	broken atomic.Bool
}

func (u *unreadable) Read(ctx context.Context, id string, after session.Seq, limit int) ([]session.Event, error) {
	if u.broken.Load() {
		return nil, errors.New("disk on fire")
	}
	return u.Ledger.Read(ctx, id, after, limit)
}

// on puts the house on another ledger.
func (h *house) on(ledger session.Ledger, o serve.Options) {
	h.hub = hub.New(hub.Options{Ledger: ledger, Drivers: func(string) (session.Driver, error) {
		if h.driver != nil {
			return h.driver, nil
		}
		return h.script, nil
	}})
	o.Hub, o.Auth = h.hub, noAuth{}
	if o.Agents == nil {
		o.Agents = oneAgent{h.dir}
	}
	h.server = serve.New(o)
	h.Cleanup(func() { _ = h.hub.Drain(context.Background()) })
}

func TestLoadOfWhatCannotBeRead(t *testing.T) {
	h := newHouse(t)
	ledger := &unreadable{Ledger: memory.New()}
	h.on(ledger, serve.Options{Persistent: true})
	a, b := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
	id := a.open()
	// More than the newest events that are kept in memory.
	a.must("session/prompt", prompt(id, "say "+strings.Repeat("x", 2<<20)))
	ledger.broken.Store(true)
	if _, err := b.call("session/load", h.loadParams(id)); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("load: %v", err)
	}
	if code := b.code("session/prompt", prompt(id, "say x")); code != acp.CodeResourceNotFound {
		t.Errorf("prompt after a failed load: %d", code)
	}
	ledger.broken.Store(false)
	b.must("session/load", h.loadParams(id))
	b.must("session/prompt", prompt(id, "say x"))
}

func TestStopAndLoadAtOnce(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	prompted := a.begin("session/prompt", prompt(id, "say one\nwait go"))
	a.until("agent_message_chunk", "one")
	stopped := a.begin("session/stop", `{"sessionId":"`+id+`"}`)
	loaded := a.begin("session/load", h.loadParams(id))
	h.script.Go("go")
	for name, c := range map[string]<-chan answer{"prompt": prompted, "stop": stopped, "load": loaded} {
		if got := <-c; got.err != nil {
			t.Errorf("%s: %v", name, got.err)
		}
	}
}

// Without a store there is nothing to load, resume or close.
func TestWithoutAStore(t *testing.T) {
	h := newHouse(t)
	h.on(memory.New(), serve.Options{})
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	a.must("session/prompt", prompt(id, "say x"))
	for _, method := range []string{"session/load", "session/resume", "session/close"} {
		if code := a.code(method, h.loadParams(id)); code != acp.CodeResourceNotFound {
			t.Errorf("%s: %d", method, code)
		}
	}
	a.must("session/prompt", prompt(id, "say x"))
}

// A placeholder for the directory does not move a stored session.
func TestLoadWithPlaceholder(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	project := realDir(t)
	var r struct {
		SessionID string `json:"sessionId"`
	}
	if err := json.Unmarshal(a.must("session/new", `{"cwd":"`+project+`","mcpServers":[]}`), &r); err != nil {
		t.Fatal(err)
	}
	a.must("session/load", `{"sessionId":"`+r.SessionID+`","cwd":".","mcpServers":[]}`)
	if got := string(a.must("session/prompt", prompt(r.SessionID, "where"))); !strings.Contains(got, project) {
		t.Errorf("the session works in %s, want %s", got, project)
	}
	forked := a.must("session/fork", `{"sessionId":"`+r.SessionID+`"}`)
	if !strings.Contains(string(forked), project) {
		t.Errorf("the fork is %s", forked)
	}
}

func realDir(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A directory is found by whatever name it has.
func TestListByDirectory(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	link := filepath.Join(realDir(t), "link")
	if err := os.Symlink(h.dir, link); err != nil {
		t.Skip(err)
	}
	id := a.open()
	for _, cwd := range []string{h.dir, link, link + "/"} {
		if got := string(a.must("session/list", `{"cwd":"`+cwd+`"}`)); !strings.Contains(got, id) {
			t.Errorf("in %s: %s", cwd, got)
		}
	}
	if got := string(a.must("session/list", `{"cwd":"/nowhere"}`)); got != `{"sessions":[]}` {
		t.Errorf("elsewhere: %s", got)
	}
}

package serve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// TestObserver asks for everything that changes something, once with a credential
// that may only watch and once with one that asks for no more.
func TestObserver(t *testing.T) {
	h := newHouse(t)
	owner := h.connect(session.Approver, `{}`)
	id := owner.open()
	owner.must("session/prompt", prompt(id, "say hello"))
	for name, o := range map[string]*client{
		"by its credential": h.connect(session.Observer, `{}`),
		"by its own wish":   h.connect(session.Approver, `{}`),
	} {
		o.must("session/load", `{"sessionId":"`+id+`","cwd":"`+h.dir+`","mcpServers":[],"_meta":{"grapnel":{"role":"observer"}}}`)
		o.until("agent_message_chunk", "hello")
		on := `{"sessionId":"` + id + `"`
		for method, params := range map[string]string{
			"session/prompt":            prompt(id, "say no"),
			"_session/steering":         prompt(id, "say no"),
			"session/cancel":            on + `}`,
			"session/close":             on + `}`,
			"session/stop":              on + `}`,
			"session/delete":            on + `}`,
			"session/archive":           on + `}`,
			"session/fork":              on + `,"cwd":"` + h.dir + `"}`,
			"session/set_title":         on + `,"title":"no"}`,
			"session/set_mode":          on + `,"modeId":"ask"}`,
			"session/set_model":         on + `,"modelId":"m"}`,
			"session/set_config_option": on + `,"configId":"model","value":"m"}`,
			"session/update":            on + `,"update":{"sessionUpdate":"x"}}`,
			"_grapnel/session/revoke":   on + `,"grants":[]}`,
			"_grapnel/session/label":    on + `,"label":"no"}`,
			"_grapnel/session/share":    on + `,"owner":"eve","role":"approver"}`,
		} {
			if _, err := o.call(method, params); err == nil || !strings.Contains(err.Error(), "role does not allow") {
				t.Errorf("%s %s: %v", name, method, err)
			}
		}
		for _, method := range []string{"session/status", "session/resume"} {
			o.must(method, on+`,"cwd":"`+h.dir+`"}`)
		}
	}
	watcher := h.connect(session.Observer, `{}`)
	for method, params := range map[string]string{
		"session/new": `{"cwd":"` + h.dir + `","mcpServers":[]}`, "logout": `{}`, "authenticate": `{"methodId":"x"}`,
	} {
		if _, err := watcher.call(method, params); err == nil || !strings.Contains(err.Error(), "role does not allow") {
			t.Errorf("%s: %v", method, err)
		}
	}
	owner.must("session/prompt", prompt(id, "say still here"))
}

// TestPrompterIsNotAsked: who may prompt gets turns, and no permission requests.
func TestPrompterIsNotAsked(t *testing.T) {
	h := newHouse(t)
	a, p := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
	id := a.open()
	p.must("session/resume", `{"sessionId":"`+id+`","cwd":"`+h.dir+`","_meta":{"grapnel":{"role":"prompter"}}}`)
	done := p.begin("session/prompt", prompt(id, "ask"))
	q := a.request(0)
	if err := q.Reply(jsontext.Value(`{"outcome":{"outcome":"selected","optionId":"yes"}}`)); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.err != nil {
		t.Fatal(r.err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) > 0 {
		t.Error("a prompter was asked")
	}
}

func TestShares(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	b := h.connectAs(serve.ConnOptions{Owner: "bob", Role: session.Approver}, `{}`)
	id := a.open()
	load := `{"sessionId":"` + id + `","cwd":"/nowhere/at/all","mcpServers":[]}`
	if code := b.code("session/load", load); code != acp.CodeResourceNotFound {
		t.Errorf("before it is shared: %d", code)
	}
	for params, want := range map[string]string{
		`"owner":"","role":"observer"`:      "owner",
		`"owner":"a b","role":"observer"`:   "owner",
		`"owner":"bob","role":"king"`:       "role",
		`"owner":"bob"`:                     "role",
		`"owner":"local","role":"prompter"`: "own",
	} {
		if _, err := a.call("_grapnel/session/share", `{"sessionId":"`+id+`",`+params+`}`); codeOf(err) != acp.CodeInvalidParams || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", params, err)
		}
	}
	a.must("_grapnel/session/share", `{"sessionId":"`+id+`","owner":"bob","role":"prompter"}`)
	load = strings.Replace(load, "/nowhere/at/all", h.dir, 1)
	b.must("session/load", load)
	b.must("session/prompt", prompt(id, "say from bob"))
	a.until("agent_message_chunk", "from bob")
	row := b.rows(`{}`)[id]
	if row["owner"] != "local" || row["role"] != "prompter" || row["sessionKey"] != nil {
		t.Errorf("bob's row: %v", row)
	}
	for _, method := range []string{"session/delete", "session/archive"} {
		if _, err := b.call(method, `{"sessionId":"`+id+`"}`); err == nil || !strings.Contains(err.Error(), "role") {
			t.Errorf("bob's %s: %v", method, err)
		}
	}
	if _, err := b.call("_grapnel/session/share", `{"sessionId":"`+id+`","owner":"eve","role":"observer"}`); err == nil {
		t.Error("bob shares it further")
	}
	waiting := b.begin("session/prompt", prompt(id, "wait never"))
	a.until("user_message_chunk", "wait never")
	a.must("_grapnel/session/share", `{"sessionId":"`+id+`","owner":"bob","revoke":true}`)
	if r := <-waiting; r.err == nil {
		t.Errorf("bob's prompt is answered %s", r.result)
	}
	a.must("session/cancel", `{"sessionId":"`+id+`"}`)
	a.must("session/prompt", prompt(id, "say secret"))
	if b.saw("secret") {
		t.Error("bob hears on")
	}
	if code := b.code("session/prompt", prompt(id, "say no")); code != acp.CodeResourceNotFound {
		t.Errorf("bob prompts on: %d", code)
	}
	if len(b.rows(`{}`)) != 0 {
		t.Error("bob lists it still")
	}
}

func TestListPages(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	for range 5 {
		a.open()
	}
	type page struct {
		Sessions []struct {
			SessionID string `json:"sessionId"`
		} `json:"sessions"`
		NextCursor string `json:"nextCursor"`
	}
	get := func(params string) page {
		t.Helper()
		var p page
		if err := json.Unmarshal(a.must("session/list", params), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	seen := map[string]bool{}
	p := get(`{"_meta":{"limit":2}}`)
	first := p.NextCursor
	for pages := 1; ; pages++ {
		for _, s := range p.Sessions {
			seen[s.SessionID] = true
		}
		if p.NextCursor == "" {
			if pages != 3 || len(seen) != 5 {
				t.Errorf("%d pages, %d sessions", pages, len(seen))
			}
			break
		}
		p = get(`{"_meta":{"limit":2},"cursor":"` + p.NextCursor + `"}`)
	}
	if got := get(`{"_meta":{"limit":1000}}`); len(got.Sessions) != 5 {
		t.Errorf("%d sessions", len(got.Sessions))
	}
	for _, params := range []string{
		`{"_meta":{"limit":0}}`, `{"_meta":{"limit":-1}}`, `{"_meta":{"limit":"2"}}`, `{"_meta":{"limit":1.5}}`,
		`{"cwd":"relative"}`, `{"cwd":"."}`, `{"cursor":"x"}`,
		`{"cursor":"` + first + `","cwd":"` + h.dir + `"}`, `{"cursor":"` + first + `","archived":"include"}`, `{"cursor":"A` + first + `"}`,
	} {
		if code := a.code("session/list", params); code != acp.CodeInvalidParams {
			t.Errorf("%s: %d", params, code)
		}
	}
	eve := h.connectAs(serve.ConnOptions{Owner: "eve", Role: session.Approver}, `{}`)
	if code := eve.code("session/list", `{"cursor":"`+first+`"}`); code != acp.CodeInvalidParams {
		t.Errorf("somebody else's cursor: %d", code)
	}
}

func TestSearch(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	a.must("session/prompt", prompt(id, "say needle in hay"))
	got := string(a.must("_grapnel/session/search", `{"text":"needle hay","limit":1,"cwd":"`+h.dir+`"}`))
	if !strings.Contains(got, `"sessionId":"`+id+`"`) || !strings.Contains(got, "«needle»") || strings.Count(got, `"snippet"`) != 1 {
		t.Errorf("found %s", got)
	}
	for params, hits := range map[string]bool{`{"text":"absent"}`: false, `{"text":"needle","agentAlias":"other"}`: false, `{"text":"needle","agentAlias":"main"}`: true} {
		if got := string(a.must("_grapnel/session/search", params)); strings.Contains(got, id) != hits {
			t.Errorf("%s: %s", params, got)
		}
	}
	if code := a.code("_grapnel/session/search", `{"text":"x","limit":0}`); code != acp.CodeInvalidParams {
		t.Errorf("no limit: %d", code)
	}
}

func TestInfoUpdates(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	a.until("session_info_update", `"_meta":{"sessionKey":"agent:main:acp:`, `"state":"idle"`)
	a.must("session/set_title", `{"sessionId":"`+id+`","title":"Mine"}`)
	a.until(`"session_info_update","title":"Mine","updatedAt":"`, `"kind":"acp"`, `"seq":`)
	a.must("_grapnel/session/label", `{"sessionId":"`+id+`","label":"desk"}`)
	a.until("session_info_update", `"label":"desk"`, `"title":"Mine"`)
	for _, params := range []string{`{"sessionId":"` + id + `"}`, `{"sessionId":"` + id + `","label":" x"}`, `{"sessionId":"` + id + `","label":7}`} {
		if code := a.code("_grapnel/session/label", params); code != acp.CodeInvalidParams {
			t.Errorf("%s: %d", params, code)
		}
	}
}

// TestCloseTwice: what a client has closed it does not have any more.
func TestCloseTwice(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	id := a.open()
	on := `{"sessionId":"` + id + `","cwd":"` + h.dir + `"}`
	a.must("session/close", on)
	if code := a.code("session/close", on); code != acp.CodeResourceNotFound {
		t.Errorf("closed again: %d", code)
	}
	if code := a.code("session/resume", `{"sessionId":"s_none","cwd":"`+h.dir+`"}`); code != acp.CodeResourceNotFound {
		t.Errorf("resume of none: %d", code)
	}
	a.must("session/resume", on)
	a.must("session/close", on)
}

// TestProvenance: where a prompt comes from stays with it, live and later.
func TestProvenance(t *testing.T) {
	h := newHouse(t)
	a, b := h.connect(session.Approver, `{}`), h.connect(session.Approver, `{}`)
	id := a.open()
	b.must("session/resume", `{"sessionId":"`+id+`","cwd":"`+h.dir+`"}`)
	with := func(meta string) string {
		return strings.TrimSuffix(prompt(id, "say hello"), "}") + `,"_meta":` + meta + `}`
	}
	a.must("session/prompt", with(`{"provenance":{"bridge":"b1","originCwd":"/x"},"grapnel":{"key":"k"}}`))
	b.until(`"user_message_chunk"`, `"_meta":{"grapnel":{"seq":`, `},"provenance":{"bridge":"b1","originCwd":"/x"}}`)
	late := h.connect(session.Approver, `{}`)
	late.must("session/load", h.loadParams(id))
	late.until(`"user_message_chunk"`, `"provenance":{"bridge":"b1","originCwd":"/x"}`)
	for _, meta := range []string{`{"provenance":"b1"}`, `{"provenance":{"x":"` + strings.Repeat("x", 16<<10) + `"}}`} {
		if code := a.code("session/prompt", with(meta)); code != acp.CodeInvalidParams {
			t.Errorf("%.30s: %d", meta, code)
		}
	}
	a.must("session/prompt", with(`{"provenance":null}`))
}

// TestInfoOfASubagent: who started it, and how deep it is.
func TestInfoOfASubagent(t *testing.T) {
	h := newHouse(t)
	a := h.connect(session.Approver, `{}`)
	parent := a.open()
	key, _ := a.rows(`{}`)[parent]["sessionKey"].(string)
	for depth, id := range []string{"s_child", "s_grandchild"} {
		att, err := h.hub.Spawn(t.Context(), session.Info{ID: id, Parent: parent, Owner: "local", Agent: "main", Cwd: h.dir}, session.AttachRequest{})
		if err != nil {
			t.Fatal(err)
		}
		a.must("session/resume", `{"sessionId":"`+id+`","cwd":"`+h.dir+`"}`)
		a.until("session_info_update", `"sessionId":"`+id+`"`, `"kind":"subagent"`, `"spawnedBy":"`+key+`"`, fmt.Sprintf(`"spawnDepth":%d`, depth+1))
		parent, key = id, att.Info().Key
	}
	rows := a.rows(`{"_meta":{"grapnel":{"subagents":true}}}`)
	if rows["s_grandchild"]["parentSessionId"] != "s_child" || rows["s_grandchild"]["kind"] != "subagent" {
		t.Errorf("row %v", rows["s_grandchild"])
	}
}

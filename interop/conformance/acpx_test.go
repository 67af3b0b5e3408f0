package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/interop/peer"
	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// runner is the client of acpx's cases: it offers files, confined to the
// session's directory, and answers permissions by the case's mode.
type runner struct {
	*client
	deny bool
}

// codeDenied is how the runner refuses an operation on a file.
const codeDenied = -32001

// acpxCase is a case of the profile. Prompts are in the words of our fake
// model where acpx's mock agent has words of its own.
type acpxCase struct {
	id   string
	deny bool
	test func(t *testing.T, r *runner)
}

func TestACPXCases(t *testing.T) {
	for _, c := range acpxCases() {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			r := &runner{start(t, testbed.New(t, testbed.Anthropic)), c.deny}
			r.Handle("session/request_permission", r.permit)
			r.Handle("fs/read_text_file", r.readFile)
			r.Handle("fs/write_text_file", r.writeFile)
			p := initializeParams(1)
			p["clientCapabilities"] = object{"fs": object{"readTextFile": true, "writeTextFile": true}}
			r.Must("initialize", p, &r.can)
			c.test(t, r)
			r.end()
		})
	}
}

func acpxCases() []acpxCase {
	return []acpxCase{
		{"acp.v1.initialize.handshake", false, func(t *testing.T, r *runner) {
			m := r.Must("initialize", initializeParams(1), nil)
			if v := member(m.Result, "protocolVersion"); v != "1" {
				t.Errorf("protocolVersion is %s", v)
			}
			if v := member(m.Result, "agentCapabilities"); v != "" && v[0] != '{' {
				t.Errorf("agentCapabilities is %s", v)
			}
		}},
		{"acp.v1.session.new.basic", false, func(_ *testing.T, r *runner) { r.newSession() }},
		{"acp.v1.session.prompt.single_turn", false, func(_ *testing.T, r *runner) { r.echo("hello") }},
		{"acp.v1.session.update.termination", false, func(_ *testing.T, r *runner) { r.echo("the end") }},
		{"acp.v1.session.cancel.in_flight", false, func(_ *testing.T, r *runner) { r.cancelInFlight() }},
		{"acp.v1.session.cancel.idle", false, cancelIdle},
		{"acp.v1.session.prompt.multi_turn", false, func(_ *testing.T, r *runner) {
			session := r.newSession()
			r.say(session, "one", text("D:SAY one"))
			r.say(session, "two", text("D:SAY two"))
		}},
		{"acp.v1.errors.invalid_params", false, func(_ *testing.T, r *runner) {
			r.wantCode(r.Call("session/new", object{"cwd": 123, "mcpServers": []any{}}), -32602)
		}},
		{"acp.v1.errors.invalid_params.cwd_null", false, func(_ *testing.T, r *runner) {
			r.wantCode(r.Call("session/new", object{"cwd": nil, "mcpServers": []any{}}), -32602)
		}},
		{"acp.v1.errors.invalid_prompt_session_type", false, func(_ *testing.T, r *runner) {
			r.wantCode(r.Call("session/prompt", object{"sessionId": 5, "prompt": []any{text("hi")}}), -32602)
		}},
		{"acp.v1.errors.unknown_session", false, func(_ *testing.T, r *runner) {
			r.wantCode(r.Call("session/prompt", promptParams("unknown", text("hi"))), -32002)
		}},
		{"acp.v1.errors.permission_denied", true, func(t *testing.T, r *runner) {
			r.wantTool("failed", "D:TOOL read README.md")
		}},
		{"acp.v1.errors.permission_denied.write", true, func(t *testing.T, r *runner) {
			r.wantTool("failed", "D:TOOL write denied.txt text")
			r.wantFile("denied.txt", "")
		}},
		{"acp.v1.permissions.read.approved", false, func(t *testing.T, r *runner) {
			r.wantTool("completed", "D:TOOL read README.md")
		}},
		{"acp.v1.permissions.write.approved", false, func(t *testing.T, r *runner) {
			r.wantTool("completed", "D:TOOL write approved.txt approved")
			r.wantFile("approved.txt", "approved")
		}},
		{"acp.v1.session.prompt.echo_empty", false, func(_ *testing.T, r *runner) {
			r.say(r.newSession(), "", text("D:EMPTY"))
		}},
		{"acp.v1.session.prompt.unrecognized", false, func(_ *testing.T, r *runner) {
			r.say(r.newSession(), "Hello", text("nothing the fake model knows"))
		}},
		{"acp.v1.session.prompt.structured_blocks", false, func(_ *testing.T, r *runner) {
			link := object{"type": "resource_link", "name": "README.md", "uri": "file://" + filepath.Join(r.bed.Work, "README.md")}
			r.say(r.newSession(), "both", text("D:SAY both parts"), text("came"), link)
		}},
		{"acp.v1.session.prompt.background_completion", false, func(t *testing.T, r *runner) {
			session := r.newSession()
			id := r.Request("session/prompt", promptParams(session, text("D:SAY later")))
			r.list(object{}) // other work meanwhile
			r.wantStop(r.Response(id))
		}},
		{"acp.v1.session.cancel.followup_prompt", false, func(_ *testing.T, r *runner) {
			r.say(r.cancelInFlight(), "still here", text("D:SAY still here"))
		}},
		{"acp.v1.session.prompt.post_success_drain", false, nothingIsLate},
		{"two sessions are kept apart", false, sessionsAreKeptApart},
	}
}

// permit answers by the mode of the case.
func (r *runner) permit(params jsontext.Value) (any, *peer.Error) {
	if !r.deny {
		return allow(params)
	}
	return object{"outcome": object{"outcome": "selected", "optionId": "reject-once"}}, nil
}

// fileParams are those of both operations on files.
type fileParams struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// file reads params and finds out whether the operation is allowed.
func (r *runner) file(params jsontext.Value) (p fileParams, denied *peer.Error) {
	if err := json.Unmarshal(params, &p); err != nil {
		return p, &peer.Error{Code: -32602, Message: err.Error()}
	}
	if r.deny || !strings.HasPrefix(p.Path, r.bed.Work+string(filepath.Separator)) {
		return p, &peer.Error{Code: codeDenied, Message: "permission denied"}
	}
	return p, nil
}

func (r *runner) readFile(params jsontext.Value) (any, *peer.Error) {
	p, denied := r.file(params)
	if denied != nil {
		return nil, denied
	}
	content, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, &peer.Error{Code: -32002, Message: err.Error()}
	}
	return object{"content": string(content)}, nil
}

func (r *runner) writeFile(params jsontext.Value) (any, *peer.Error) {
	p, denied := r.file(params)
	if denied != nil {
		return nil, denied
	}
	if err := os.WriteFile(p.Path, []byte(p.Content), 0o600); err != nil {
		return nil, &peer.Error{Code: -32603, Message: err.Error()}
	}
	return object{}, nil
}

// echo runs a turn in a new session that says words.
func (r *runner) echo(words string) {
	r.t.Helper()
	r.say(r.newSession(), words, text("D:SAY "+words))
}

// say runs a turn that shows something before it ends, with words in it.
func (r *runner) say(session, words string, blocks ...object) {
	r.t.Helper()
	from := len(r.Messages())
	m := r.prompt(session, blocks...)
	said, updates := "", 0
	for _, u := range r.Messages()[from:m.N] {
		if u, ok := u.Update(); ok && u.SessionID == session {
			updates++
			said += u.Text()
		}
	}
	if updates == 0 || !strings.Contains(said, words) || stopReason(m) != "end_turn" {
		r.t.Errorf("want %q and end_turn, got %q in %d updates and %s", words, said, updates, m.Line)
	}
}

// wantTool runs a turn whose tool call ends with a status.
func (r *runner) wantTool(status, prompt string) {
	r.t.Helper()
	session := r.newSession()
	m := r.prompt(session, text(prompt))
	last := ""
	for _, u := range r.Messages()[:m.N] {
		if u, ok := u.Update(); ok && strings.HasPrefix(u.Kind, "tool_call") {
			last = member(u.Body, "status")
		}
	}
	if last != quote(status) {
		r.t.Errorf("the tool call ends as %s, not %s", last, status)
	}
}

// wantFile looks at a file in the session's directory; text "" means that it
// must not exist.
func (r *runner) wantFile(name, text string) {
	r.t.Helper()
	got, err := os.ReadFile(filepath.Join(r.bed.Work, name))
	if strings.TrimSpace(string(got)) != text || (err == nil) != (text != "") {
		r.t.Errorf("%s holds %q (%v)", name, got, err)
	}
}

func (r *runner) cancelInFlight() (session string) {
	r.t.Helper()
	session = r.newSession()
	id := r.begin(session)
	r.Notify("session/cancel", object{"sessionId": session})
	if stop := stopReason(r.Response(id)); stop != "cancelled" {
		r.t.Errorf("the turn ends with %q", stop)
	}
	return session
}

func cancelIdle(t *testing.T, r *runner) {
	session := r.newSession()
	r.Notify("session/cancel", object{"sessionId": session})
	r.say(session, "as before", text("D:SAY as before"))
	r.end()
	if n := countResponses(r.all); n != 3 {
		t.Errorf("3 requests had %d responses", n)
	}
}

// nothingIsLate holds us to more than the case does: it lets an agent's tool
// updates come after the response.
func nothingIsLate(t *testing.T, r *runner) {
	session := r.newSession()
	m := r.prompt(session, text("D:TOOL read README.md ; D:SAY read"))
	before, after := r.updates(session, m.N)
	seen := kinds(before)
	if seen["tool_call"] == 0 || seen["tool_call_update"] == 0 || history(after) != 0 {
		t.Errorf("before the response come %v, after it %v", seen, kinds(after))
	}
}

func sessionsAreKeptApart(t *testing.T, r *runner) {
	a, b := r.newSession(), r.newSession()
	ofA := r.Request("session/prompt", promptParams(a, text("D:SAY aaaa")))
	ofB := r.Request("session/prompt", promptParams(b, text("D:SAY bbbb")))
	r.wantStop(r.Response(ofA))
	r.wantStop(r.Response(ofB))
	r.end()
	said := map[string]string{}
	for _, m := range r.all {
		if u, ok := m.Update(); ok {
			said[u.SessionID] += u.Text()
		}
	}
	if said[a] != "aaaa" || said[b] != "bbbb" || len(said) != 2 {
		t.Errorf("the sessions %s and %s said %q", a, b, said)
	}
}

//go:build interop

package interop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// TestTypeScriptSDK has the client of @agentclientprotocol/sdk drive grapnel
// acp, on each wire of the model providers. Every message is held against the
// official schema and the SDK's own parser.
func TestTypeScriptSDK(t *testing.T) {
	for _, wire := range testbed.Wires() {
		t.Run(string(wire), func(t *testing.T) {
			t.Parallel()
			bed := testbed.New(t, wire)
			play(t, bed, slices.Concat(basics(), permissions(bed), cancels(), lasting(), clientSide(bed), models()))
		})
	}
}

// turn is a prompt's outcome as client.mjs tells it.
type turn struct {
	StopReason string   `json:"stopReason"`
	Text       string   `json:"text"`
	Thought    string   `json:"thought"`
	User       string   `json:"user"`
	Kinds      []string `json:"kinds"`
	MessageIDs []string `json:"messageIds"`
	Tools      []call   `json:"tools"`
}

// call is a tool call with everything that was said about it.
type call struct {
	ID        string         `json:"toolCallId"`
	Title     string         `json:"title"`
	Name      string         `json:"name"`
	Kind      string         `json:"kind"`
	Status    string         `json:"status"`
	Statuses  []string       `json:"statuses"`
	RawInput  jsontext.Value `json:"rawInput"`
	RawOutput jsontext.Value `json:"rawOutput"`
	Content   []content      `json:"content"`
	Locations jsontext.Value `json:"locations"`
}

// content is what a tool call shows.
type content struct {
	Type       string         `json:"type"`
	TerminalID string         `json:"terminalId"`
	Content    jsontext.Value `json:"content"`
}

// failure is a request's outcome that was to fail.
type failure struct {
	Result  jsontext.Value `json:"result"`
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data"`
}

// asked is a permission request.
type asked struct {
	SessionID string `json:"sessionId"`
	ToolCall  call   `json:"toolCall"`
	Options   []struct {
		ID   string `json:"optionId"`
		Kind string `json:"kind"`
	} `json:"options"`
}

func (r report) equal(what string, got, want any) {
	r.t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		r.t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func (r report) endsWell(t turn) {
	r.t.Helper()
	r.equal("stopReason", t.StopReason, "end_turn")
}

func basics() []scenario {
	return []scenario{
		{Name: "initialize", check: checkInitialize},
		{Name: "text", Prompt: "D:THINK Let me see. ; D:SAY Hello from here.", check: checkText},
		{Name: "errors", Prompt: "D:SAY still here", check: checkErrors},
		{Name: "config", Prompt: "D:SAY configured", check: checkConfig},
	}
}

func checkInitialize(r report) {
	var got struct {
		ProtocolVersion int `json:"protocolVersion"`
		AgentInfo       struct {
			Name string `json:"name"`
		} `json:"agentInfo"`
		AgentCapabilities struct {
			LoadSession         bool                      `json:"loadSession"`
			SessionCapabilities map[string]jsontext.Value `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
	}
	r.into(&got)
	r.equal("protocolVersion", got.ProtocolVersion, 1)
	r.equal("agentInfo.name", got.AgentInfo.Name, "grapnel")
	r.equal("loadSession", got.AgentCapabilities.LoadSession, true)
	for _, name := range []string{"list", "resume", "close", "delete"} {
		r.equal(name, string(got.AgentCapabilities.SessionCapabilities[name]), "{}")
	}
}

func checkText(r report) {
	var got struct {
		ID   string `json:"id"`
		Turn turn   `json:"turn"`
	}
	r.into(&got)
	r.endsWell(got.Turn)
	r.equal("text", got.Turn.Text, "Hello from here.")
	r.equal("thought", got.Turn.Thought, "Let me see.")
	r.equal("a thought and a message have ids of their own", len(got.Turn.MessageIDs), 2)
}

func checkErrors(r report) {
	var got struct {
		Failures map[string]failure `json:"failures"`
		Turn     turn               `json:"turn"`
	}
	r.into(&got)
	r.endsWell(got.Turn)
	codes := map[string]int{}
	for name, f := range got.Failures {
		codes[name] = f.Code
	}
	r.equal("codes", codes, map[string]int{
		"unknownPrompt": -32002, "unknownLoad": -32002, "traversal": -32002,
		"relativeCwd": -32602, "missingCwd": -32602, "noBlocks": -32602, "cursor": -32602,
		"unknownMethod": -32601, "extension": -32601,
	})
	r.equal("data", string(got.Failures["unknownLoad"].Data), `{"sessionId":"unknown"}`)
}

func checkConfig(r report) {
	var got struct {
		Answers []struct {
			Option  string            `json:"option"`
			Value   string            `json:"value"`
			Current map[string]string `json:"current"`
		} `json:"answers"`
		BadMode  failure `json:"badMode"`
		BadValue failure `json:"badValue"`
		Turn     turn    `json:"turn"`
	}
	r.into(&got)
	r.endsWell(got.Turn)
	if len(got.Answers) < 2 {
		r.t.Errorf("there is nothing to choose: %v", got.Answers)
	}
	for _, a := range got.Answers {
		r.equal(a.Option+" after setting it", a.Current[a.Option], a.Value)
	}
	r.equal("unknown mode", got.BadMode.Code, -32602)
	r.equal("unknown value", got.BadValue.Code, -32602)
}

// permissions are the answers a person may give. The commands are such as the
// policy asks about.
func permissions(bed *testbed.Bed) []scenario {
	touch := func(name string) string { return "D:TOOL shell touch " + name }
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join(bed.Work, name))
		return err == nil
	}
	check := func(asks, done int, status string, files map[string]bool) func(report) {
		return func(r report) {
			var got struct {
				Turns []turn  `json:"turns"`
				Asked []asked `json:"asked"`
			}
			r.into(&got)
			r.equal("times asked", len(got.Asked), asks)
			r.equal("turns", len(got.Turns), done)
			for _, t := range got.Turns {
				r.endsWell(t)
				r.equal("tool calls", len(t.Tools), 1)
				r.equal("status", t.Tools[0].Status, status)
			}
			r.equal("asked about the announced call", got.Asked[0].ToolCall.ID, got.Turns[0].Tools[0].ID)
			for name, want := range files {
				r.equal(name, exists(name), want)
			}
		}
	}
	return []scenario{
		{
			Name: "permission", Permit: "allow_once", Prompts: []string{touch("allowed")},
			check: check(1, 1, "completed", map[string]bool{"allowed": true}),
		},
		{
			Name: "permission", Permit: "allow_always", Prompts: []string{touch("always"), touch("always")},
			check: check(1, 2, "completed", map[string]bool{"always": true}),
		},
		{
			Name: "permission", Permit: "reject_once", Prompts: []string{touch("rejected")},
			check: check(1, 1, "failed", map[string]bool{"rejected": false}),
		},
		{
			Name: "permission", Permit: "cancelled", Prompts: []string{touch("unanswered")},
			check: check(1, 1, "failed", map[string]bool{"unanswered": false}),
		},
	}
}

func cancels() []scenario {
	check := func(toolStatus string) func(report) {
		return func(r report) {
			var got struct {
				Turn turn `json:"turn"`
				Next turn `json:"next"`
			}
			r.into(&got)
			r.equal("stopReason", got.Turn.StopReason, "cancelled")
			for _, c := range got.Turn.Tools {
				r.equal("status of an open call", c.Status, toolStatus)
			}
			r.endsWell(got.Next)
			r.equal("text of the next turn", got.Next.Text, "going on")
		}
	}
	const next = "D:SAY going on"
	return []scenario{
		{Name: "cancel", Prompt: "D:SAY It begins ; D:STALL", Next: next, check: check("")},
		{Name: "cancelRequest", Prompt: "D:SAY It begins ; D:STALL", Next: next, check: check("")},
		{Name: "cancelTool", Prompt: "D:TOOL shell sleep 600", Next: next, check: check("failed")},
		{Name: "cancelPermission", Prompt: "D:TOOL shell touch never", Next: next, check: check("failed")},
	}
}

// lasting is what outlives a process.
func lasting() []scenario {
	return []scenario{
		{
			Name: "reload", Next: "D:SAY and on",
			Prompts: []string{
				"D:THINK First. ; D:SAY I will look. ; D:TOOL read README.md",
				"D:TOOL shell touch reloaded ; D:SAY That was it.",
			},
			check: checkReload,
		},
		{
			Name: "modes", Prompt: "D:TOOL write asked.txt x ; D:TOOL write unasked.txt x ; D:SAY written", Next: "D:TOOL write later.txt x ; D:SAY again",
			Answer: "accept-edits", check: checkModes,
		},
		{Name: "resume", Prompt: "D:SAY before", Next: "D:SAY after", check: checkResume},
		{Name: "sessions", Prompt: "D:SAY hello", check: checkSessions},
	}
}

// toldModel reports whether the model was sent text.
func toldModel(bed *testbed.Bed, text string) bool {
	return slices.ContainsFunc(bed.LLM.Requests(), func(q fakellm.Request) bool { return strings.Contains(string(q.Body), text) })
}

// checkModes holds that a mode settles what is asked, is told in both forms,
// and is there again in the next processes.
func checkModes(r report) {
	const mode = "accept-edits"
	type setup struct {
		Modes struct {
			Current string `json:"currentModeId"`
		} `json:"modes"`
		Options []struct {
			ID      string `json:"id"`
			Current string `json:"currentValue"`
		} `json:"configOptions"`
	}
	var got struct {
		Turn  turn `json:"turn"`
		After turn `json:"after"`
		Told  []struct {
			Kind    string `json:"sessionUpdate"`
			Current string `json:"currentModeId"`
		} `json:"told"`
		Asked   int   `json:"asked"`
		Loaded  setup `json:"loaded"`
		Resumed setup `json:"resumed"`
	}
	r.into(&got)
	r.endsWell(got.Turn)
	r.endsWell(got.After)
	r.equal("permissions asked", got.Asked, 1)
	var kinds []string
	for _, u := range got.Told {
		if u.Kind == "config_option_update" || u.Kind == "current_mode_update" && u.Current == mode {
			kinds = append(kinds, u.Kind)
		}
	}
	r.equal("updates about the mode", kinds, []string{"config_option_update", "current_mode_update"})
	for name, s := range map[string]setup{"load": got.Loaded, "resume": got.Resumed} {
		r.equal(name+": modes", s.Modes.Current, mode)
		for _, o := range s.Options {
			if o.ID == "mode" {
				r.equal(name+": option", o.Current, mode)
			}
		}
	}
}

// checkReload holds the replay against what was shown live.
func checkReload(r report) {
	var got struct {
		Turns  []turn `json:"turns"`
		Replay turn   `json:"replay"`
		Next   turn   `json:"next"`
	}
	r.into(&got)
	var live turn
	for _, t := range got.Turns {
		r.endsWell(t)
		live.Text += t.Text
		live.Thought += t.Thought
		live.Tools = append(live.Tools, t.Tools...)
		live.MessageIDs = append(live.MessageIDs, t.MessageIDs...)
	}
	r.equal("text", got.Replay.Text, live.Text)
	r.equal("thought", got.Replay.Thought, live.Thought)
	r.equal("tool calls", got.Replay.Tools, live.Tools)
	for _, id := range live.MessageIDs {
		if !slices.Contains(got.Replay.MessageIDs, id) {
			r.t.Errorf("message %s is not replayed", id)
		}
	}
	if !strings.Contains(got.Replay.User, "D:SAY That was it.") {
		r.t.Errorf("what the user said is not replayed: %q", got.Replay.User)
	}
	r.endsWell(got.Next)
	r.equal("text after the load", got.Next.Text, "and on")
}

func checkResume(r report) {
	var got struct {
		Replay turn `json:"replay"`
		Next   turn `json:"next"`
	}
	r.into(&got)
	r.equal("replayed", got.Replay.Text+got.Replay.User, "")
	r.endsWell(got.Next)
	r.equal("text", got.Next.Text, "after")
}

func checkSessions(r report) {
	var got struct {
		Kept          string                      `json:"kept"`
		Gone          string                      `json:"gone"`
		Listed        []map[string]jsontext.Value `json:"listed"`
		Elsewhere     []string                    `json:"elsewhere"`
		AfterClose    failure                     `json:"afterClose"`
		ListedClosed  []string                    `json:"listedClosed"`
		AfterLoad     turn                        `json:"afterLoad"`
		ListedDeleted []string                    `json:"listedDeleted"`
		LoadDeleted   failure                     `json:"loadDeleted"`
	}
	r.into(&got)
	var listed []string
	for _, s := range got.Listed {
		listed = append(listed, strings.Trim(string(s["sessionId"]), `"`))
	}
	r.equal("both are listed", contains(listed, got.Kept, got.Gone), true)
	r.equal("elsewhere", got.Elsewhere, []string{})
	r.equal("prompt after close", got.AfterClose.Code, -32002)
	r.equal("closed is listed", contains(got.ListedClosed, got.Kept), true)
	r.endsWell(got.AfterLoad)
	r.equal("deleted is not listed", contains(got.ListedDeleted, got.Gone), false)
	r.equal("kept is listed", contains(got.ListedDeleted, got.Kept), true)
	r.equal("load after delete", got.LoadDeleted.Code, -32002)
}

func contains(list []string, want ...string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(list, w) })
}

// clientSide is what the client does for the agent.
func clientSide(bed *testbed.Bed) []scenario {
	readme := filepath.Join(bed.Work, "README.md")
	return []scenario{
		{
			Name: "files", Buffers: map[string]string{readme: "# Not yet saved\n"},
			Prompts: []string{"D:TOOL read README.md", "D:TOOL write new.txt through the client"},
			check:   func(r report) { checkFiles(r, bed, readme) },
		},
		{Name: "terminals", Agent: append(bed.ACP(), "--agent", testbed.Bare), Prompt: "D:TOOL shell echo in the terminal", check: func(r report) { checkTerminals(r, bed) }},
		{
			Name: "question", Prompt: `D:TOOL ask_user {"question":"Which colour?","choices":["red","blue"]}`,
			Answer: map[string]any{"action": "accept", "content": map[string]any{"answer": "blue"}},
			check:  func(r report) { checkQuestion(r, bed) },
		},
	}
}

func checkFiles(r report, bed *testbed.Bed, readme string) {
	var got struct {
		Turns []turn `json:"turns"`
		Used  []struct {
			Read    string `json:"read"`
			Write   string `json:"write"`
			Content string `json:"content"`
		} `json:"used"`
	}
	r.into(&got)
	for _, t := range got.Turns {
		r.endsWell(t)
		r.equal("status", t.Tools[0].Status, "completed")
	}
	read, wrote := false, false
	for _, u := range got.Used {
		read = read || u.Read == readme
		wrote = wrote || u.Write == filepath.Join(bed.Work, "new.txt") && strings.HasPrefix(u.Content, "through the client")
	}
	r.equal("the buffer was read", read, true)
	r.equal("the client wrote", wrote, true)
	r.equal("the model saw the buffer", toldModel(bed, "Not yet saved"), true)
}

func checkTerminals(r report, bed *testbed.Bed) {
	var got struct {
		Turn turn `json:"turn"`
		Used []struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"used"`
	}
	r.into(&got)
	r.endsWell(got.Turn)
	r.equal("terminals", len(got.Used), 1)
	r.equal("status", got.Turn.Tools[0].Status, "completed")
	shown := slices.ContainsFunc(got.Turn.Tools[0].Content, func(c content) bool { return c.Type == "terminal" })
	r.equal("the call shows its terminal", shown, true)
	r.equal("the model saw the output", toldModel(bed, "in the terminal"), true)
}

func checkQuestion(r report, bed *testbed.Bed) {
	var got struct {
		Turn      turn `json:"turn"`
		Questions []struct {
			Message string `json:"message"`
		} `json:"questions"`
	}
	r.into(&got)
	r.endsWell(got.Turn)
	r.equal("questions", len(got.Questions), 1)
	r.equal("message", got.Questions[0].Message, "Which colour?")
	r.equal("the model saw the answer", toldModel(bed, "the answer is: blue"), true)
}

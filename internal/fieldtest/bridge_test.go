package fieldtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tokenFile is a file with the kit's token.
func (w *World) tokenFile() string {
	w.T.Helper()
	name := filepath.Join(w.T.TempDir(), "token")
	if err := os.WriteFile(name, []byte(Token+"\n"), 0o600); err != nil {
		w.T.Fatal(err)
	}
	return name
}

// TestBridgeSmoke is what an editor does first with a gateway elsewhere.
func TestBridgeSmoke(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway("-v")
	a := w.Start("--url", g.URL, "--token-file", w.tokenFile(), "--session", "agent:main:smoke")
	var hello struct {
		AgentCapabilities struct {
			LoadSession         bool           `json:"loadSession"`
			SessionCapabilities map[string]any `json:"sessionCapabilities"`
		} `json:"agentCapabilities"`
	}
	a.Must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}}, &hello)
	for _, name := range []string{"list", "resume", "close"} {
		if _, ok := hello.AgentCapabilities.SessionCapabilities[name]; !ok || !hello.AgentCapabilities.LoadSession {
			t.Errorf("%s is not offered: %+v", name, hello)
		}
	}
	s := a.New()
	a.AwaitUpdate(s, 0, "session_info_update", func(u Update) bool { return u.Kind == "session_info_update" })
	a.AwaitUpdate(s, 0, "available_commands_update", func(u Update) bool { return u.Kind == "available_commands_update" })
	if got := a.Prompt(s, "D:SAY hello").StopReason(); got != "end_turn" {
		t.Fatal(got)
	}
	a.AwaitUpdate(s, 0, "usage_update", func(u Update) bool { return u.Kind == "usage_update" })
	var list struct {
		Sessions []struct {
			SessionID string `json:"sessionId"`
			Meta      struct {
				SessionKey string `json:"sessionKey"`
				Kind       string `json:"kind"`
			} `json:"_meta"`
		} `json:"sessions"`
	}
	a.Must("session/list", object{"cwd": w.Cwd}, &list)
	if len(list.Sessions) != 1 || list.Sessions[0].SessionID != s || list.Sessions[0].Meta.SessionKey != "agent:main:smoke" || list.Sessions[0].Meta.Kind == "" {
		t.Errorf("the list is %+v", list)
	}
	a.Must("session/resume", object{"sessionId": s, "cwd": w.Cwd, "mcpServers": []any{}}, nil)
	a.Must("session/close", object{"sessionId": s}, nil)
	for method, id := range map[string]string{"session/close": s, "session/resume": "s_missing"} {
		if m := a.Call(method, object{"sessionId": id, "cwd": w.Cwd, "mcpServers": []any{}}); m.Error == nil || m.Error.Code != -32002 {
			t.Errorf("%s of what is not there: %+v", method, m.Error)
		}
	}
	a.Quit()
	if strings.Contains(a.Stderr()+g.Stderr(), Token) {
		t.Error("the token is in a log")
	}
	if !strings.Contains(g.Stderr(), "session/close") {
		t.Errorf("the gateway's log tells nothing of the requests:\n%s", g.Stderr())
	}
}

// TestW1TheBridgeOutlivesTheGateway kills the gateway in the middle of turns; it
// comes back on another port. What the client has is what the ledger has.
func TestW1TheBridgeOutlivesTheGateway(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	a := w.Start("--token-file", w.tokenFile())
	a.Init()
	s := a.New()
	for round := range 5 {
		from := a.Lines()
		id := a.BeginPrompt(s, "D:CHUNKS 100,5,10")
		a.AwaitUpdate(s, from, "the middle of the turn", func(u Update) bool { return strings.HasPrefix(u.Text, fmt.Sprintf("%04d", 5+10*round)) })
		g.Kill()
		g = w.Gateway()
		m := a.Response(id)
		if m.Error == nil || !strings.Contains(string(m.Error.Data), "interrupted") {
			t.Fatalf("round %d: the turn that died is answered %+v %s", round, m.Error, m.StopReason())
		}
		if got := a.Prompt(s, "D:SAY back").StopReason(); got != "end_turn" {
			t.Fatalf("round %d: the next turn: %s\n%s", round, got, a.Stderr())
		}
	}
	a.Quit()

	direct := g.Connect(Dial{})
	direct.Init()
	params := w.LoadParams(s)
	params["_meta"] = object{"grapnel": object{"after": 0}}
	direct.Must("session/load", params, nil)
	if diff := diffNumbers(shownNumbers(direct.Messages(), s), shownNumbers(a.Messages(), s)); diff != "" {
		t.Errorf("the client's transcript is not the ledger: %s", diff)
	}
}

// shownNumbers are the numbers of a session's updates but for a person's words,
// which the sender is not shown.
func shownNumbers(all []Message, session string) []uint64 {
	var list []uint64
	for _, m := range all {
		if u, ok := m.Update(); ok && u.Session == session && u.Kind != "user_message_chunk" && seqOf(m) != 0 {
			list = append(list, seqOf(m))
		}
	}
	return list
}

func diffNumbers(want, got []uint64) string {
	if slices.Equal(want, got) {
		return ""
	}
	i := 0
	for i < min(len(want), len(got)) && cmp.Compare(want[i], got[i]) == 0 {
		i++
	}
	return fmt.Sprintf("%d numbers instead of %d, different from the %dth: %v instead of %v", len(got), len(want), i+1,
		got[i:min(i+5, len(got))], want[i:min(i+5, len(want))])
}

// TestBridgeStartsBeforeItsGateway: an editor that is opened first works as soon
// as the gateway does.
func TestBridgeStartsBeforeItsGateway(t *testing.T) {
	w := NewWorld(t)
	a := w.Start("--token-file", w.tokenFile())
	a.Init()
	m := a.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}})
	if m.Error == nil || !strings.Contains(m.Error.Message, "start one with grapnel gateway") {
		t.Errorf("without a gateway: %+v", m.Error)
	}
	w.Gateway()
	if got := a.Prompt(a.New(), "D:SAY hello").StopReason(); got != "end_turn" {
		t.Error(got)
	}
}

// TestZ2TheBridgeSaysWhatIsWrong: one sentence for the client, a code at the end.
func TestZ2TheBridgeSaysWhatIsWrong(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	wrong := filepath.Join(t.TempDir(), "wrong")
	if err := os.WriteFile(wrong, []byte("gp_wrong"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, says string
		args       []string
		code       int
	}{
		{"wrong token", "the credentials are missing or wrong (HTTP 401)", []string{"--url", g.URL, "--token-file", wrong}, 2},
		{"no token", "the credentials are missing or wrong (HTTP 401)", []string{"--url", g.URL}, 2},
		{"wrong path", "the URL must be that of a grapnel gateway", []string{"--url", g.URL + "/nothing/here", "--token-file", w.tokenFile()}, 2},
		{"no TLS there", "cannot connect to wss://", []string{"--url", "wss" + strings.TrimPrefix(g.URL, "http"), "--token-file", w.tokenFile()}, 2},
		{"wrong code", "cannot pair with ", []string{"--url", g.URL, "--pair-code", "000000"}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := w.Start(tt.args...)
			a.Init()
			m := a.Call("session/new", object{"cwd": w.Cwd, "mcpServers": []any{}})
			if m.Error == nil || !strings.Contains(m.Error.Message, tt.says) || strings.Count(m.Error.Message, "\n") > 0 {
				t.Errorf("the client reads %+v", m.Error)
			}
			a.CloseInput()
			if code := a.WaitExit(); code != tt.code || !strings.Contains(a.Stderr(), tt.says) {
				t.Errorf("exit code %d, want %d; stderr:\n%s", code, tt.code, a.Stderr())
			}
		})
	}
}

// TestZ3TheBridgeKeepsItsToken: with the token in a file or the environment, nobody reads
// it from the list of processes.
func TestZ3TheBridgeKeepsItsToken(t *testing.T) {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("there is no /proc here")
	}
	w := NewWorld(t)
	g := w.Gateway()
	w.Env = append(w.Env, "GRAPNEL_ACP_BRIDGE_TOKEN="+Token)
	a := w.Start("--url", g.URL, "-v")
	a.Init()
	s := a.New()
	id := a.BeginPrompt(s, "D:CHUNKS 5,5,20")
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lines {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), Token) {
			t.Errorf("the token is in %s", name)
		}
	}
	a.Response(id)
	a.Quit()
	if strings.Contains(a.Stderr(), Token) {
		t.Error("the token is in the bridge's log")
	}
}

// TestBridgeEndsWithItsClient: a turn that is open when the editor goes does not
// hold it, and goes on.
func TestBridgeEndsWithItsClient(t *testing.T) {
	w := NewWorld(t)
	g := w.Gateway()
	a := w.Start("--token-file", w.tokenFile())
	a.Init()
	s := a.New()
	from := a.Lines()
	a.BeginPrompt(s, "D:SAY begun\nD:STALL")
	a.AwaitUpdate(s, from, "the turn", func(u Update) bool { return u.Text == "begun" })
	a.CloseInput()
	begun := time.Now()
	if code := a.WaitExit(); code != 1 || !strings.Contains(a.Stderr(), "goes on in the gateway") {
		t.Errorf("exit code %d\n%s", code, a.Stderr())
	}
	if took := time.Since(begun); took > patience/2 {
		t.Errorf("it took %v", took)
	}
	b := g.Connect(Dial{})
	b.Init()
	b.Must("session/load", w.LoadParams(s), nil)
	if !strings.Contains(b.Said(s, 0), "begun") {
		t.Error("the turn is not there")
	}
	b.Cancel(s)
}

// TestRemoteInTheConfiguration: with an address there, every editor's agent is a
// bridge; one that stands alone is not.
func TestRemoteInTheConfiguration(t *testing.T) {
	far, near := NewWorld(t), NewWorld(t)
	g := far.Gateway()
	near.Env = append(near.Env, "GRAPNEL_gateway__remote__url="+g.ACP, "GRAPNEL_gateway__remote__token="+Token)
	a := near.Start()
	a.Init()
	s := a.New()
	if got := a.Prompt(s, "D:SAY hello").StopReason(); got != "end_turn" {
		t.Error(got)
	}
	c := g.Connect(Dial{})
	c.Init()
	c.Must("session/load", far.LoadParams(s), nil)
	b := near.Start("--standalone")
	b.Init()
	if m := b.Call("session/load", near.LoadParams(s)); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("alone it knows the gateway's session: %+v", m.Error)
	}
}

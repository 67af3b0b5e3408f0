package state_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/ingest"
	"github.com/grapnel-ai/grapnel/internal/session/state"
)

// log builds a session's events.
type log struct {
	t      testing.TB
	events []session.Event
}

func (l *log) update(body string) { l.add(session.Event{}, `{"sessionId":"s","update":`+body+`}`) }

func (l *log) own(kind session.Kind, turn string, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		l.t.Fatal(err)
	}
	l.add(session.Event{Kind: kind, Turn: turn, By: "a_1"}, string(raw))
}

func (l *log) add(e session.Event, body string) {
	e.Body = jsontext.Value(body)
	f, err := ingest.Look(e.Body)
	if err != nil {
		l.t.Fatalf("%s: %v", body, err)
	}
	e.Marks = f.Marks
	if e.Kind == "" {
		e.Kind = f.Kind
	}
	e.Seq = session.Seq(len(l.events) + 1)
	e.ID = fmt.Sprintf("e_%d", e.Seq)
	l.events = append(l.events, e)
}

func (l *log) state() *state.State {
	s := new(state.State)
	for _, e := range l.events {
		s.Apply(e)
	}
	return s
}

func TestTurns(t *testing.T) {
	l := &log{t: t}
	l.own(session.KindTurnStart, "t_1", session.TurnStart{Turn: "t_1", Key: "k1"})
	l.own(session.KindQueued, "t_2", session.QueuedPrompt{Turn: "t_2", Key: "k2"})
	s := l.state()
	if s.Phase() != state.Running || s.Turn.ID != "t_1" || s.Turn.By != "a_1" || len(s.Queue) != 1 || s.Queue[0].Seq != 2 {
		t.Errorf("running: %+v", s)
	}
	l.own(session.KindPermission, "t_1", map[string]string{})
	if s := l.state(); s.Phase() != state.RequiresAction {
		t.Errorf("phase is %s", s.Phase())
	}
	l.own(session.KindVerdict, "t_1", session.Verdict{Request: "e_3"})
	l.own(session.KindTurnEnd, "t_1", session.TurnEnd{Turn: "t_1", Stop: session.EndTurn})
	s = l.state()
	if s.Phase() != state.Idle || s.LastEnd != 5 || len(s.Requests) != 0 || len(s.Queue) != 1 {
		t.Errorf("ended: %+v", s)
	}
	if k, ok := s.Key("k1"); !ok || k.End == nil || k.End.Stop != session.EndTurn {
		t.Errorf("key of the ended turn: %+v, %v", k, ok)
	}
	if k, ok := s.Key("k2"); !ok || k.End != nil || k.Turn != "t_2" {
		t.Errorf("key of the queued one: %+v, %v", k, ok)
	}
	if _, ok := s.Key(""); ok {
		t.Error("no key is a key")
	}
	l.own(session.KindTurnEnd, "t_2", session.TurnEnd{Turn: "t_2", Stop: session.Cancelled})
	if s = l.state(); len(s.Queue) != 0 {
		t.Errorf("a cancelled prompt still waits: %+v", s.Queue)
	}
}

func TestToolCalls(t *testing.T) {
	l := &log{t: t}
	l.update(`{"sessionUpdate":"tool_call","toolCallId":"a","status":"pending"}`)
	l.update(`{"sessionUpdate":"tool_call","toolCallId":"b"}`)
	l.update(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress"}`)
	l.update(`{"sessionUpdate":"tool_call_update","toolCallId":"never announced"}`)
	if s := l.state(); len(s.Calls) != 3 || !s.Open("a") || s.Finished.Has("a") {
		t.Errorf("open: %+v", s.Calls)
	}
	l.update(`{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}`)
	l.update(`{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"completed"}`)
	l.update(`{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"in_progress"}`)
	l.update(`{"sessionUpdate":"tool_call","toolCallId":"done at once","status":"completed"}`)
	s := l.state()
	if len(s.Calls) != 1 || s.Open("b") || !s.Finished.Has("a") || !s.Finished.Has("done at once") || s.Finished.Has("c") {
		t.Errorf("ended: %+v", s)
	}
}

func TestSetup(t *testing.T) {
	l := &log{t: t}
	l.update(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","currentValue":"small"},{"id":"mode","currentValue":"ask"}]}`)
	if s := l.state(); len(s.Config) != 0 {
		t.Errorf("the agent's defaults were taken for choices: %v", s.Config)
	}
	l.own(session.KindSet, "", session.SetOption{Option: "model", Value: "large"})
	l.update(`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`)
	l.update(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"model","currentValue":"huge"},{"id":"web","currentValue":true}]}`)
	l.update(`{"sessionUpdate":"session_info_update","title":"T \u00e9"}`)
	l.update(`{"sessionUpdate":"session_info_update","updatedAt":"x"}`)
	l.update(`{"sessionUpdate":"plan","entries":[ 1 ]}`)
	l.update(`{"sessionUpdate":"usage_update","used":1,"size":2}`)
	l.update(`{"sessionUpdate":"available_commands_update","availableCommands":[]}`)
	l.update(`{"sessionUpdate":"agent_message_chunk","messageId":"m\u0031","content":{"type":"text","text":"x"}}`)
	l.update(`{"sessionUpdate":"agent_thought_chunk","messageId":"th","content":{"type":"text","text":"x"}}`)
	s := l.state()
	if d := cmp.Diff(map[string]string{"model": "huge", "mode": "plan"}, s.Config); d != "" {
		t.Error(d)
	}
	got := []string{s.Title, string(s.Plan), string(s.Usage), string(s.Commands), s.LastMessage, s.LastThought}
	want := []string{
		"T é", `{"sessionUpdate":"plan","entries":[1]}`, `{"sessionUpdate":"usage_update","used":1,"size":2}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[]}`, "m1", "th",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	l.update(`{"sessionUpdate":"session_info_update","title":null}`)
	if s := l.state(); s.Title != "" {
		t.Errorf("a cleared title is %q", s.Title)
	}
}

// TestSnapshotStaysSmall feeds what an unkind driver might.
func TestSnapshotStaysSmall(t *testing.T) {
	l := &log{t: t}
	long := strings.Repeat("x", 1<<20)
	for i := range 2500 {
		l.own(session.KindTurnStart, "t", session.TurnStart{Turn: fmt.Sprint(i), Key: fmt.Sprintf("key %d", i)})
		l.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"%d"}`, i))
		l.update(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":"%d","status":"completed"}`, i))
		if i > 1200 { // more than may be open
			l.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"open %d"}`, i))
		}
		l.own(session.KindTurnEnd, "t", session.TurnEnd{Turn: fmt.Sprint(i), Error: &session.Failure{Message: long[:8<<10*(i/2300)]}})
	}
	for _, u := range []string{
		`{"sessionUpdate":"plan","x":"` + long + `"}`, `{"sessionUpdate":"session_info_update","title":"` + long + `"}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"` + long + `"}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"` + long + `"}`,
	} {
		l.update(u)
	}
	s := l.state()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 1300<<10 {
		t.Errorf("the snapshot takes %d bytes", len(b))
	}
	if !s.Finished.Has("0") || !s.Finished.Has("2499") {
		t.Error("ids that were used up are free again")
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, b := range []string{``, `null`, `{}`, `{"v":2,"state":{}}`, `{"v":1}`, `{"v":1,"state":{"seq":"x"}}`, `{"v":1,"state":{"finished":"???"}}`} {
		if s, ok := state.Decode([]byte(b)); ok {
			t.Errorf("%q decodes to %+v", b, s)
		}
	}
}

// TestRestoredIsLive cuts random histories at random places: the snapshot there
// with the events after it is the same as having been there all along.
func TestRestoredIsLive(t *testing.T) {
	for seed := range uint64(80) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		l := randomLog(t, rnd, 120)
		cut := rnd.IntN(len(l.events) + 1)
		live, early := new(state.State), new(state.State)
		for i, e := range l.events {
			live.Apply(e)
			if i < cut {
				early.Apply(e)
			}
		}
		raw, err := early.Encode()
		if err != nil {
			t.Fatal(err)
		}
		restored, ok := state.Decode(raw)
		if !ok {
			t.Fatalf("seed %d: snapshot does not decode: %s", seed, raw)
		}
		clone := early.Clone()
		for _, e := range l.events[cut:] {
			restored.Apply(e)
			clone.Apply(e)
		}
		want, got, cloned := encode(t, live), encode(t, restored), encode(t, clone)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d, cut at %d: %s", seed, cut, d)
		}
		if d := cmp.Diff(want, cloned); d != "" {
			t.Fatalf("seed %d, cloned at %d: %s", seed, cut, d)
		}
		if again := encode(t, early); again != string(raw) {
			t.Fatalf("seed %d: the clone changed its original", seed)
		}
	}
}

func encode(t testing.TB, s *state.State) string {
	t.Helper()
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func randomLog(t testing.TB, rnd *rand.Rand, n int) *log {
	l := &log{t: t}
	pick := func(words ...string) string { return words[rnd.IntN(len(words))] }
	turn := func() string { return fmt.Sprintf("t_%d", rnd.IntN(6)) }
	for range n {
		switch rnd.IntN(12) {
		case 0:
			id := turn()
			l.own(session.KindTurnStart, id, session.TurnStart{Turn: id, Key: pick("", "k1", "k2", id)})
		case 1:
			id := turn()
			l.own(session.KindTurnEnd, id, session.TurnEnd{Turn: id, Stop: session.EndTurn, Usage: jsontext.Value(`{"used":1}`)})
		case 2:
			id := turn()
			l.own(session.KindQueued, id, session.QueuedPrompt{Turn: id, Key: pick("", id)})
		case 3:
			l.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":%q}`, pick("a", "b", "c")))
		case 4:
			l.update(fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"status":%q}`, pick("a", "b", "c"), pick("in_progress", "completed", "failed")))
		case 5:
			l.own(session.KindPermission, turn(), map[string]string{})
		case 6:
			l.own(session.KindVerdict, turn(), session.Verdict{Request: fmt.Sprintf("e_%d", rnd.IntN(n))})
		case 7:
			l.update(fmt.Sprintf(`{"sessionUpdate":%q, "x" : %d}`, pick("plan", "usage_update", "available_commands_update", "future"), rnd.IntN(9)))
		case 8:
			l.update(fmt.Sprintf(`{"sessionUpdate":"session_info_update","title":%q}`, pick("one", "two", "")))
		case 9:
			l.own(session.KindSet, "", session.SetOption{Option: pick("mode", "model"), Value: pick("x", "y")})
		case 10:
			l.update(fmt.Sprintf(`{"sessionUpdate":"config_option_update","configOptions":[{"id":"mode","currentValue":%q}]}`, pick("x", "z")))
		case 11:
			l.update(fmt.Sprintf(`{"sessionUpdate":%q,"messageId":%q}`, pick("agent_message_chunk", "agent_thought_chunk"), pick("m1", "m2")))
		}
	}
	return l
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"v":1,"state":{"seq":3,"epoch":1,"finished":"*","keys":[{"key":"k","turn":"t"}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, ok := state.Decode(b)
		if !ok {
			return
		}
		if _, err := s.Encode(); err != nil {
			t.Fatalf("decoded but does not encode: %v", err)
		}
		s.Apply(session.Event{Seq: s.Seq + 1, Kind: session.KindTurnEnd, Body: jsontext.Value(`{"turn":"t"}`)})
	})
}

func BenchmarkApplyChunk(b *testing.B) {
	l := &log{t: b}
	l.update(`{"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"hello there"}}`)
	s := l.state()
	b.ReportAllocs()
	for b.Loop() {
		s.Apply(l.events[0])
	}
}

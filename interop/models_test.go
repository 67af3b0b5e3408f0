//go:build interop

package interop

import (
	"strings"
)

// models are the ways in which model providers are odd, and what stands beside
// prompts.
func models() []scenario {
	odd := oddTurns()
	prompts := make([]string, len(odd))
	for i, o := range odd {
		prompts[i] = o.prompt
	}
	news := map[string]any{"notices": map[string]any{}, "compaction": map[string]any{}}
	return []scenario{
		{Name: "turns", Prompts: prompts, check: checkOdd(odd)},
		{Name: "turns", Permit: "allow_once", Prompts: prompts, Session: news, check: checkOdd(odd)},
		{Name: "queue", Prompts: []string{"D:SAY one", "D:SAY two", "D:SAY three"}, check: checkQueue},
		{Name: "beyond", Prompt: "D:SAY hello", check: checkBeyond},
		{Name: "login", Prompt: "D:SAY logged in", check: checkLogin},
	}
}

// outcome is a turn, or how it failed.
type outcome struct {
	turn
	Failure *failure `json:"failure"`
}

// oddTurn is a prompt that makes the fake model odd, and what is to come of it.
type oddTurn struct {
	prompt string
	stop   string
	text   string // contained in what the agent says
	tools  int
	code   int // of the failure, if it is to fail
}

func oddTurns() []oddTurn {
	return []oddTurn{
		{prompt: "D:SPLITEMOJI 漢字 🎉 é", stop: "end_turn", text: "漢字 🎉 é"},
		{prompt: "D:SPLITPAIR", stop: "end_turn", text: "🎉"},
		{prompt: "D:PAR 3 true", stop: "end_turn", text: "done", tools: 3},
		{prompt: "D:REUSEID ; D:TOOL shell true ; D:TOOL shell true", stop: "end_turn", text: "done", tools: 2},
		{prompt: "D:BADJSON", stop: "end_turn", text: "done", tools: 1},
		{prompt: `D:TOOL no_such_tool {"a":1}`, stop: "end_turn", text: "done", tools: 1},
		{prompt: "D:HTTP 503 1 ; D:SAY after a retry", stop: "end_turn", text: "after a retry"},
		{prompt: "D:HTTP 401", code: -32000},
		{prompt: "D:HTTP 400", code: -32603},
		{prompt: "D:REFUSE", stop: "refusal"},
		{prompt: "D:MAXTOKENS", stop: "max_tokens", text: "This is cut"},
		{prompt: "D:EMPTY", stop: "end_turn", text: " "},
		{prompt: "D:SAY as ever", stop: "end_turn", text: "as ever"},
	}
}

func checkOdd(odd []oddTurn) func(report) {
	return func(r report) {
		var got []outcome
		r.into(&got)
		r.equal("turns", len(got), len(odd))
		for i, want := range odd {
			if want.code != 0 {
				if got[i].Failure == nil || got[i].Failure.Code != want.code {
					r.t.Errorf("%s: want error %d, got %+v", want.prompt, want.code, got[i])
				}
				continue
			}
			if got[i].Failure != nil || got[i].StopReason != want.stop || !strings.Contains(got[i].Text, want.text) || len(got[i].Tools) != want.tools {
				r.t.Errorf("%s: want %+v, got %+v", want.prompt, want, got[i])
			}
		}
	}
}

func checkQueue(r report) {
	var got []outcome
	r.into(&got)
	for i, o := range got {
		if o.Failure != nil || o.StopReason != "end_turn" {
			r.t.Errorf("prompt %d of three at once: %+v", i+1, o)
		}
	}
}

func checkBeyond(r report) {
	var got struct {
		ID     string  `json:"id"`
		Fork   string  `json:"fork"`
		Forked outcome `json:"forked"`
		Title  struct {
			Title string `json:"title"`
		} `json:"title"`
		Status []struct {
			Status string `json:"status"`
		} `json:"status"`
		Archived struct {
			Listed []string `json:"listed"`
			Only   []string `json:"only"`
		} `json:"archived"`
		Listed []string `json:"listed"`
	}
	r.into(&got)
	r.equal("a fork is another session", got.Fork != "" && got.Fork != got.ID, true)
	r.equal("the fork's turn", got.Forked.StopReason, "end_turn")
	r.equal("title", got.Title.Title, "A better name")
	r.equal("status of the open session", got.Status[0].Status, "open")
	r.equal("status of the archived one", got.Status[1].Status, "saved")
	r.equal("the archived session is listed", contains(got.Archived.Listed, got.ID), false)
	r.equal("it is listed among the archived", got.Archived.Only, []string{got.ID})
	r.equal("it is listed again", contains(got.Listed, got.ID, got.Fork), true)
}

func checkLogin(r report) {
	var got struct {
		Refused failure `json:"refused"`
		Unknown failure `json:"unknown"`
		Turn    turn    `json:"turn"`
	}
	r.into(&got)
	r.equal("prompt after logout", got.Refused.Code, -32000)
	r.equal("unknown method", got.Unknown.Code, -32602)
	r.endsWell(got.Turn)
}

//go:build interop

package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// permitted is one answer to a permission request, and whether the command it
// is about may then run.
type permitted struct {
	answer any
	runs   bool
}

func selected(id any) any {
	return map[string]any{"raw": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": id}}}
}

func raw(result any) any { return map[string]any{"raw": result} }

// matrix are the answers that the SDK's client can give, right and wrong.
func matrix() []permitted {
	return []permitted{
		{"allow_once", true},
		{"reject_once", false},
		{"cancelled", false},
		{map[string]any{"error": map[string]any{"code": -32603, "message": "allow-once"}}, false},
		{selected("allow-once"), true},
		{selected("allow_everything"), false},
		{selected("allow_once"), false},
		{selected(""), false},
		{selected(1), false},
		{raw(nil), false},
		{raw(map[string]any{}), false},
		{raw(map[string]any{"outcome": map[string]any{}}), false},
		{raw(map[string]any{"outcome": "selected", "optionId": "allow-once"}), false},
		{raw("allow-once"), false},
		{"allow_always", true},
	}
}

// TestPermissionMatrix has the SDK's client answer in every way there is.
func TestPermissionMatrix(t *testing.T) {
	t.Parallel()
	bed := testbed.New(t, testbed.Anthropic)
	file := func(name string, i int) string { return filepath.Join(bed.Work, fmt.Sprint(name, i)) }
	prompts := func(name string, n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = "D:TOOL shell touch " + file(name, i)
		}
		return list
	}
	var answers []any
	for _, p := range matrix() {
		answers = append(answers, p.answer)
	}
	check := func(name string, list []permitted) func(report) {
		return func(r report) {
			var got struct {
				Turns []turn  `json:"turns"`
				Asked []asked `json:"asked"`
			}
			r.into(&got)
			r.equal("times asked", len(got.Asked), len(list))
			for i, p := range list {
				_, err := os.Stat(file(name, i))
				r.equal(fmt.Sprintf("after %v the command ran", p.answer), err == nil, p.runs)
				r.equal(fmt.Sprintf("after %v the call", p.answer), got.Turns[i].Tools[0].Status, map[bool]string{true: "completed", false: "failed"}[p.runs])
				r.endsWell(got.Turns[i])
			}
		}
	}
	backwards := []permitted{{"allow_once", true}, {"reject_once", false}, {"allow_once", true}}
	play(t, bed, []scenario{
		{Name: "matrix", Prompts: prompts("m", len(answers)), Answers: answers, check: check("m", matrix())},
		{Name: "backwards", Prompts: prompts("b", 3), Answers: []any{"allow_once", "reject_once", "allow_once"}, check: check("b", backwards)},
		{Name: "leave", Prompt: "D:TOOL shell touch " + file("l", 0), check: func(r report) {
			var got struct {
				Turns []turn  `json:"turns"`
				Asked []asked `json:"asked"`
			}
			r.into(&got)
			_, err := os.Stat(file("l", 0))
			r.equal("the command ran", err == nil, false)
			r.equal("the call", got.Turns[0].Tools[0].Status, "failed")
			r.equal("asked again", len(got.Asked), 0)
		}},
	})
}

// TestPermissionTimesOut has the SDK's client answer when it is too late.
func TestPermissionTimesOut(t *testing.T) {
	t.Parallel()
	bed := testbed.New(t, testbed.Chat)
	bed.Env = append(bed.Env, "GRAPNEL_acp__permission_timeout_secs=1")
	target := filepath.Join(bed.Work, "late")
	play(t, bed, []scenario{{Name: "late", Prompt: "D:TOOL shell touch " + target, Next: "D:SAY still here", check: func(r report) {
		var got struct {
			Turns []turn `json:"turns"`
		}
		r.into(&got)
		for _, t := range got.Turns {
			r.endsWell(t)
		}
		r.equal("the call", got.Turns[0].Tools[0].Status, "failed")
		r.equal("text", got.Turns[1].Text, "still here")
		r.equal("the model knows", toldModel(bed, "it timed out"), true)
		_, err := os.Stat(target)
		r.equal("the command ran", err == nil, false)
	}}})
}

//go:build linux

package hostile

import (
	"encoding/json"
	"fmt"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// answerEscapes have the client answer what is no permission: a model may own
// the client, or the client be broken.
func answerEscapes() []escape {
	raw := func(result string) func(*fieldtest.Agent, fieldtest.Permission) {
		return func(a *fieldtest.Agent, p fieldtest.Permission) { a.Answer(p, json.RawMessage(result)) }
	}
	selected := func(id string) string {
		return fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%s}}`, quoted(id))
	}
	answers := []struct{ name, result string }{
		{"an option of its own", selected("allow_everything")},
		{"a kind for an option", selected("allow_once")},
		{"an option by its label", selected("Allow once")},
		{"an option in another case", selected("ALLOW-ONCE")},
		{"an option with a blank", selected("allow-once ")},
		{"an option that was not offered", selected("allow-always")},
		{"no option", `{"outcome":{"outcome":"selected"}}`},
		{"no outcome", `{"outcome":{"optionId":"allow-once"}}`},
		{"an outcome of its own", `{"outcome":{"outcome":"approved","optionId":"allow-once"}}`},
		{"a word", `"allow-once"`},
		{"yes", `true`},
		{"a list", `[{"outcome":{"outcome":"selected","optionId":"allow-once"}}]`},
		{"two outcomes", `{"outcome":{"outcome":"cancelled","outcome":"selected","optionId":"allow-once"}}`},
		{"the old form", `{"optionId":"allow-once"}`},
		{"cancelled with an option", `{"outcome":{"outcome":"cancelled","optionId":"allow-once"}}`},
	}
	var list []escape
	for _, a := range answers {
		list = append(list, escape{
			name: "answer with " + a.name, tries: sh("cp README.md ../outside/new"), why: "outside", answer: raw(a.result),
		})
	}
	return append(list,
		escape{
			name: "answer with an error", tries: sh("cp README.md ../outside/new"), why: "outside",
			answer: func(a *fieldtest.Agent, p fieldtest.Permission) {
				a.Send(`{"jsonrpc":"2.0","id":` + p.ID + `,"error":{"code":0,"message":"allow-once","data":{"optionId":"allow-once"}}}`)
			},
		},
		escape{
			name: "answer another request", tries: sh("cp README.md ../outside/new"), why: "outside",
			answer: func(a *fieldtest.Agent, p fieldtest.Permission) {
				a.Send(`{"jsonrpc":"2.0","id":"made-up","result":` + selected("allow-once") + `}`)
				a.Send(`{"jsonrpc":"2.0","id":987654,"result":` + selected("allow-once") + `}`)
				a.Choose(p, "reject_once")
			},
		},
		escape{
			name: "answer again after a no", tries: sh("cp README.md ../outside/new", "cp README.md ../outside/new"), why: "outside",
			answer: func(a *fieldtest.Agent, p fieldtest.Permission) {
				a.Choose(p, "reject_once")
				a.Choose(p, "allow_once")
			},
		},
	)
}

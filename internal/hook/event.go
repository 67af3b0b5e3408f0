package hook

import (
	"bytes"
	"errors"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/policy"
)

// eventVersion is the version of what commands read; it grows when something
// changes that a command may rely on.
const eventVersion = 1

// event is what a command reads.
type event struct {
	Version  int       `json:"version"`
	Hook     string    `json:"hook"`
	Session  string    `json:"session"`
	Turn     string    `json:"turn"`
	Agent    string    `json:"agent"`
	Owner    string    `json:"owner"`
	Cwd      string    `json:"cwd"`
	Mode     string    `json:"mode"`
	Call     *call     `json:"call,omitzero"`
	Decision *decision `json:"decision,omitzero"`
	Result   *result   `json:"result,omitzero"`
	Final    *final    `json:"final,omitzero"`
}

type call struct {
	ID    string         `json:"id"`
	Tool  string         `json:"tool"`
	Kind  string         `json:"kind"`
	Title string         `json:"title"`
	Input jsontext.Value `json:"input"`
}

type decision struct {
	Verdict string `json:"verdict"`
	Rule    string `json:"rule"`
	Reason  string `json:"reason"`
	Risk    string `json:"risk"`
	Network bool   `json:"network"`
	Outside bool   `json:"outside"` // of the sandbox
}

type result struct {
	IsError bool   `json:"isError"`
	Text    string `json:"text"`
	TookMS  int64  `json:"tookMs"`
}

type final struct {
	Text string `json:"text"`
}

// about begins the event of a call.
func about(t Call) event {
	return event{
		Version: eventVersion, Session: t.Session, Turn: t.Turn, Agent: t.Agent, Owner: t.Owner, Cwd: t.Cwd, Mode: string(t.Mode),
		Call: &call{t.ID, t.Tool, t.Kind, t.Title, object(t.Input)},
	}
}

// object is the input as JSON, whatever the model wrote.
func object(input jsontext.Value) jsontext.Value {
	if !input.IsValid() {
		return jsontext.Value("{}")
	}
	return input
}

func decided(d policy.Decision) *decision {
	return &decision{d.Verdict.String(), d.Rule, d.Reason, d.Risk.String(), d.Network, d.Outside}
}

// What commands answer, by point.
type (
	blocking struct {
		Block  bool   `json:"block"`
		Reason string `json:"reason"`
	}
	answering struct {
		Answer string `json:"answer"`
		Reason string `json:"reason"`
	}
	repeating struct {
		Again  bool   `json:"again"`
		Reason string `json:"reason"`
	}
	silent struct{}
)

// read reads an answer; printing nothing is saying nothing. A word that the
// point does not know is refused: it may be a misspelt one that does.
func read(out []byte, answer any) error {
	if len(bytes.TrimSpace(out)) == 0 {
		return nil
	}
	if out[bytes.IndexFunc(out, func(r rune) bool { return !unicode.IsSpace(r) })] != '{' {
		return errors.New("an answer is a JSON object")
	}
	return json.Unmarshal(out, answer, json.RejectUnknownMembers(true))
}

// Package demo is a model provider that needs no account and no network: a
// script that reads a few plain instructions and drives the real agent loop
// with them. It is deterministic, and it says that it is a demo.
package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model"
	"github.com/grapnel-ai/grapnel/internal/model/assemble"
)

// ModelID is the only model of the provider.
const ModelID = "demo"

// tick is the pause between two signs of life while waiting.
const tick = 100 * time.Millisecond

// Provider is the scripted model.
type Provider struct{ name string }

// New returns the demo provider under a name of the configuration.
func New(name string) *Provider { return &Provider{name: name} }

// Name implements model.Provider.
func (p *Provider) Name() string { return p.name }

// Info implements model.Provider.
func (p *Provider) Info(string) model.Info {
	return model.Info{ContextWindow: 200_000, Images: true, Thinking: []model.Level{model.LevelOff, model.LevelLow}}
}

// Stream implements model.Provider. Each step does what stands before the next
// tool call of the prompt, and that call.
func (p *Provider) Stream(ctx context.Context, req *model.Request, emit func(model.Event) error) (*model.Response, error) {
	t := &turn{ctx: ctx, req: req, msg: assemble.New(emit)}
	t.play()
	if err := t.msg.Err(); err != nil {
		return t.msg.Partial(), err
	}
	if ctx.Err() != nil {
		partial := t.msg.Partial()
		return partial, &model.Error{Kind: model.ErrCanceled, Provider: p.name, Model: ModelID, Partial: partial, Err: ctx.Err()}
	}
	resp := &model.Response{Message: t.msg.Message(), Stop: model.StopEndTurn, Usage: t.usage(), Model: ModelID}
	if len(resp.Message.ToolCalls()) > 0 {
		resp.Stop = model.StopToolUse
	}
	return resp, nil
}

// turn is one model step of the demo.
type turn struct {
	ctx  context.Context
	req  *model.Request
	msg  *assemble.Message
	next int  // index of the next piece of the message
	said bool // there is text in the message
}

func (t *turn) play() {
	prompt, results := t.past()
	steps, unknown := parse(prompt)
	switch {
	case len(steps) == 0:
		t.say(help)
		return
	case len(results) > 0 && results[len(results)-1].IsError:
		t.say("That did not work: " + strings.TrimSpace(excerpt(results[len(results)-1])) + "\n\n" + closing)
		return
	}
	for _, s := range t.remaining(steps, len(results)) {
		if t.perform(s, len(results)) {
			return
		}
	}
	t.close(results, unknown)
}

// past returns the last prompt and the results of the tools called since.
func (t *turn) past() (prompt string, results []*model.ToolResult) {
	for _, m := range t.req.Messages {
		if m.Role != model.RoleUser {
			continue
		}
		for _, p := range m.Parts {
			if p.ToolResult != nil {
				results = append(results, p.ToolResult)
			}
		}
		if text := m.Text(); strings.TrimSpace(text) != "" {
			prompt, results = text, nil
		}
	}
	return prompt, results
}

// remaining leaves out the first n tool calls that could be made and all that
// came before the last of them.
func (t *turn) remaining(steps []step, n int) []step {
	for i, s := range steps {
		if n == 0 {
			return steps[i:]
		}
		if s.tool != "" && t.offers(s.tool) {
			n--
		}
	}
	return nil
}

// perform does a step and reports whether the model step ends with it.
func (t *turn) perform(s step, n int) bool {
	switch {
	case s.tool != "":
		return t.call(s, n)
	case s.think != "":
		t.stream(s.think, t.msg.Think)
	case s.wait > 0:
		t.wait(s.wait)
	default:
		t.say(s.say)
	}
	return t.ctx.Err() != nil
}

func (t *turn) call(s step, n int) bool {
	if t.req.NoToolCalls || !t.offers(s.tool) {
		t.say(fmt.Sprintf("I would call the tool %s now, but I do not have it.", s.tool))
		return false
	}
	t.say(s.say)
	t.msg.Call(t.next, fmt.Sprintf("demo_%d", n+1), s.tool)
	t.msg.Input(t.next, assemble.Plain(string(s.input)))
	t.next++
	return true
}

func (t *turn) offers(tool string) bool {
	return slices.ContainsFunc(t.req.Tools, func(s model.ToolSpec) bool { return s.Name == tool })
}

// wait stays alive for d, with a sign of life now and then.
func (t *turn) wait(d time.Duration) {
	timer := time.NewTicker(tick)
	defer timer.Stop()
	t.say("I wait")
	t.next--
	for range int(d / tick) {
		select {
		case <-timer.C:
			t.msg.Text(t.next, assemble.Plain("."))
		case <-t.ctx.Done():
			return
		}
		if t.msg.Err() != nil {
			return
		}
	}
	t.next++
}

func (t *turn) say(s string) {
	if t.said {
		s = "\n\n" + s
	}
	t.said = true
	t.stream(s, t.msg.Text)
}

// stream tells a text word by word, as models do, as a piece of its own.
func (t *turn) stream(s string, to func(int, assemble.Delta)) {
	for _, word := range strings.SplitAfter(s, " ") {
		to(t.next, assemble.Plain(word))
	}
	t.next++
}

func (t *turn) close(results []*model.ToolResult, unknown []string) {
	text := "Done."
	if n := len(results); n > 0 {
		text = "Done. The last result begins with:\n\n" + excerpt(results[n-1])
	}
	if len(unknown) > 0 {
		text += fmt.Sprintf("\n\nI left out what I do not understand: %q.", unknown[0])
	}
	t.say(text + "\n\n" + closing)
}

// excerpt is the start of a result, as a quote.
func excerpt(r *model.ToolResult) string {
	const most = 5
	text := strings.TrimSpace(model.Message{Parts: r.Parts}.Text())
	if text == "" {
		return "(nothing)"
	}
	lines := strings.Split(text, "\n")
	if len(lines) > most {
		lines = append(lines[:most], "…")
	}
	return "    " + strings.Join(lines, "\n    ")
}

// usage counts a token for every four bytes, so that what depends on usage
// has something to show.
func (t *turn) usage() model.Usage {
	in := 0
	for _, m := range t.req.Messages {
		in += len(m.Text())
	}
	out := 0
	for i := range t.next {
		out += t.msg.Len(i)
	}
	return model.Usage{Input: uint64(in/4 + 1), Output: uint64(out/4 + 1)}
}

const closing = "(This is Grapnel's demo, a script and not a language model. Connect a real one with: grapnel setup)"

const help = `This is Grapnel's demo: a script, not a language model. It drives the real agent and its tools from a few plain instructions, one per line or joined by "then":

- list DIR
- read FILE
- search TEXT in DIR
- find PATTERN
- run COMMAND
- git ARGUMENTS
- write FILE: CONTENT
- replace OLD with NEW in FILE
- ask QUESTION: CHOICE, CHOICE
- plan STEP, STEP
- wait SECONDS
- think
- say TEXT

Connect a real model with: grapnel setup`

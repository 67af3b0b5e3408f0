package acpclient

import (
	"context"
	"fmt"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/lineedit"
	"github.com/grapnel-ai/grapnel/internal/printable"
)

// press applies keys, to whatever they are for at that moment.
func (l *loop) press(keys []lineedit.Key) {
	for i, k := range keys {
		if l.finished {
			return
		}
		if k.Code != lineedit.Interrupt {
			l.breaks = 0
		}
		switch {
		case len(l.waiting) > 0:
			l.pressForm(k)
		case l.turn == nil:
			l.pressLine(k)
		case k.Code == lineedit.Interrupt:
			l.breakTurn()
		case len(l.ahead) < maxAhead:
			l.ahead = append(l.ahead, keys[i])
		}
	}
	if !l.finished {
		l.draw()
	}
}

// breakTurn cancels what runs; the second time it quits.
func (l *loop) breakTurn() {
	if l.breaks++; l.breaks > 1 {
		l.quit(ErrInterrupted)
		return
	}
	l.ahead = nil
	l.client.view.say(warn("cancelling; Ctrl+C again quits"))
	l.stop()
}

func (l *loop) quit(ending error) {
	l.finished, l.ending = true, ending
	l.stop()
}

// pressLine edits the line.
func (l *loop) pressLine(k lineedit.Key) {
	switch l.editor.Press(k) {
	case lineedit.Submit:
		l.submit()
	case lineedit.Quit:
		l.quit(nil)
	case lineedit.Wipe:
		l.console.wipe()
	case lineedit.Choices:
		l.console.print(strings.Join(l.editor.Candidates, "  ") + "\n")
	case lineedit.Break:
		if l.editor.Text() != "" {
			l.editor.Reset()
			l.breaks = 0
			return
		}
		if l.breaks++; l.breaks > 1 {
			l.quit(ErrInterrupted)
			return
		}
		l.client.view.say(dim("Ctrl+C again or Ctrl+D quits"))
	}
}

// submit sends the line: to the agent, or to the client itself where it begins
// with a colon.
func (l *loop) submit() {
	text := l.editor.Text()
	if strings.TrimSpace(text) == "" {
		l.editor.Reset()
		return
	}
	l.console.show(&l.editor)
	l.console.leave()
	l.editor.Remember(text)
	l.editor.Reset()
	if command, ok := strings.CutPrefix(text, ":"); ok && !strings.HasPrefix(command, ":") {
		l.command(command)
		return
	} else if ok {
		text = command
	}
	ctx, stop := context.WithCancel(l.ctx)
	l.begin(stop, func() error { return l.client.prompt(ctx, text) })
}

// choose implements person.
func (l *loop) choose(ctx context.Context, q question) (int, error) {
	r := l.put(&asking{ctx: ctx, question: q, answer: make(chan reply, 1)})
	return r.chosen, r.err
}

// line implements person.
func (l *loop) line(ctx context.Context, prompt string) (string, error) {
	r := l.put(&asking{ctx: ctx, prompt: prompt, answer: make(chan reply, 1)})
	return r.text, r.err
}

// put hands a question over and waits for the reply.
func (l *loop) put(a *asking) reply {
	select {
	case l.asked <- a:
	case <-a.ctx.Done():
		return reply{err: context.Cause(a.ctx)}
	case <-l.ctx.Done():
		return reply{err: errNobody}
	}
	select {
	case r := <-a.answer:
		return r
	case <-a.ctx.Done():
		return reply{err: context.Cause(a.ctx)}
	case <-l.ctx.Done():
		return reply{err: errNobody}
	}
}

func (l *loop) enqueue(a *asking) {
	if l.waiting = append(l.waiting, a); len(l.waiting) == 1 {
		l.pose()
	}
	l.draw()
}

// pose shows the first question. What was typed before it was there is no answer
// to it.
func (l *loop) pose() {
	a := l.waiting[0]
	l.form.Reset()
	if a.prompt != "" {
		l.form.Prompt = a.prompt
		return
	}
	v := l.client.view
	v.say(warn("? "), bold(a.question.title))
	for _, d := range a.question.details {
		for line := range strings.SplitSeq(d, "\n") {
			v.say(dim("    " + line))
		}
	}
	for i, o := range a.question.options {
		letter := ""
		if o.letter != 0 {
			letter = " or " + string(o.letter)
		}
		v.say(plain(fmt.Sprintf("  %d%s: %s", i+1, letter, o.name)))
	}
	l.form.Prompt = "press a key: "
}

// answer settles the first question and goes on to the next.
func (l *loop) answer(r reply) {
	a := l.waiting[0]
	l.waiting = l.waiting[1:]
	a.answer <- r
	l.console.hide()
	if len(l.waiting) > 0 {
		l.pose()
	}
	l.draw()
}

// pressForm answers a question.
func (l *loop) pressForm(k lineedit.Key) {
	a := l.waiting[0]
	switch {
	case k.Code == lineedit.Interrupt && l.turn != nil:
		l.breakTurn()
		return
	case k.Code == lineedit.Interrupt, k.Code == lineedit.Escape:
		l.answer(reply{err: errDismissed})
		return
	case a.prompt != "":
		l.pressField(k)
		return
	}
	if k.Code != lineedit.Text || len(k.Text) != 1 { // keys that came at once are none that was pressed
		return
	}
	if i := a.question.keyed(k.Text[0]); i >= 0 {
		l.client.view.say(dim("  " + printable.Line(a.question.options[i].name)))
		l.answer(reply{chosen: i})
	}
}

// pressField edits a field of a form.
func (l *loop) pressField(k lineedit.Key) {
	switch l.form.Press(k) {
	case lineedit.Submit:
		l.console.show(&l.form)
		l.console.leave()
		l.answer(reply{text: l.form.Text()})
	case lineedit.Quit:
		l.answer(reply{err: errDismissed})
	}
}

package sessiontest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// RunRandom does random things to one session, from many clients at once:
// prompts, steering, cancels, answers, attaching and leaving, closing, kills of
// the process and failures of the store. Whatever happened, what each client saw
// is what the ledger holds for it, every prompt ended once and nothing is left
// open.
func RunRandom(t *testing.T, newLedger func(t *testing.T) session.Ledger, seed uint64, steps int) {
	t.Logf("seed %d", seed)
	r := &random{
		rnd:   rand.New(rand.NewPCG(seed, 0)),
		flaky: NewFlaky(newLedger(t)),
	}
	r.Env = NewEnv(t, r.flaky, hub.Limits{Limits: actor.Limits{
		Settle: 5 * time.Millisecond, Concurrent: []actor.Concurrent{actor.Queue, actor.Steer}[r.rnd.IntN(2)],
	}})
	r.id = r.New().Info().ID
	for range steps {
		r.step()
	}
	r.finish()
}

type random struct {
	*Env
	rnd     *rand.Rand
	flaky   *Flaky
	id      string
	gate    int
	clients []*watcher // attached now
	all     []*watcher
}

// watcher is a client that pumps on a goroutine of its own.
type watcher struct {
	*Client
	req  session.AttachRequest
	stop context.CancelFunc
	done chan struct{}
	asks chan string // requests to answer
}

func (r *random) step() {
	switch n := r.rnd.IntN(40); {
	case n < 14:
		r.prompt()
	case n < 18:
		r.gate++
		r.Script.Go(fmt.Sprint(r.gate - 1))
	case n < 22:
		r.with(func(w *watcher) { _ = w.Cancel(r.Context()) })
	case n < 28:
		r.attach()
	case n < 30:
		r.with(func(w *watcher) { r.leave(w) })
	case n < 34:
		r.with(r.answer)
	case n < 36:
		r.with(func(w *watcher) { _, _, _ = w.Steer(r.Context(), Blocks("more")) })
	case n < 37:
		_ = r.Hub.Close(r.Context(), r.id)
		r.clients = nil
	case n < 38:
		r.kill()
	default:
		r.flaky.Fail([]error{errFull, ErrLost, ErrDead, nil, nil}[r.rnd.IntN(5)])
	}
}

// with picks a client, attaching one if there is none.
func (r *random) with(f func(*watcher)) {
	if len(r.clients) == 0 {
		r.attach()
	}
	if len(r.clients) > 0 {
		f(r.clients[r.rnd.IntN(len(r.clients))])
	}
}

func (r *random) prompt() {
	lines := []string{
		"say hello", "chunks 60", "tool a", "open b", "think x", "private p", "ask", "elicit", "frames b 20 2000",
		fmt.Sprintf("wait %d", r.gate), "wait never", fmt.Sprintf("deaf %d", r.gate), "die", "panic", "fail x", "stop refusal", "title t",
	}
	text := ""
	for range 1 + r.rnd.IntN(4) {
		text += lines[r.rnd.IntN(len(lines))] + "\n"
	}
	key := ""
	if r.rnd.IntN(3) == 0 {
		key = fmt.Sprint("key ", r.rnd.IntN(10))
	}
	r.with(func(w *watcher) {
		_, _ = w.Prompt(r.Context(), session.PromptRequest{Content: Blocks(text), Key: key})
	})
}

func (r *random) answer(w *watcher) {
	select {
	case id := <-w.asks:
		v := session.Verdict{Request: id, Outcome: session.Selected, Option: []string{"yes", "no", "other"}[r.rnd.IntN(3)]}
		_, _ = w.Answer(r.Context(), v)
	default:
	}
}

func (r *random) attach() {
	req := Approver(session.Replay(r.rnd.IntN(3)))
	req.After = session.Seq(r.rnd.IntN(50))
	a, err := r.Hub.Attach(r.Context(), r.id, req)
	if err != nil {
		return // the store is failing
	}
	ctx, stop := context.WithCancel(context.Background())
	w := &watcher{Client: Pump(r.T, a), req: req, stop: stop, done: make(chan struct{}), asks: make(chan string, 100)}
	r.clients, r.all = append(r.clients, w), append(r.all, w)
	go w.pump(ctx)
}

func (w *watcher) pump(ctx context.Context) {
	defer close(w.done)
	for {
		n := len(w.Events)
		err := w.Step(ctx)
		for _, e := range w.Events[n:] {
			if e.Kind == session.KindPermission {
				select {
				case w.asks <- e.ID:
				default:
				}
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *random) leave(w *watcher) {
	w.Detach()
	<-w.done
	r.clients = slices.DeleteFunc(r.clients, func(c *watcher) bool { return c == w })
}

// kill puts a new process in the place of the old one.
func (r *random) kill() {
	for _, w := range r.clients {
		w.stop()
		<-w.done
	}
	r.clients = nil
	r.Restart()
}

func (r *random) finish() {
	r.flaky.Fail(nil)
	for i := range r.gate + 1 {
		r.Script.Go(fmt.Sprint(i))
	}
	r.attach()
	_ = r.Hub.Close(r.Context(), r.id)
	// What a failing store left open ends when the session is opened again.
	a, err := r.Hub.Attach(r.Context(), r.id, Approver(session.ReplayNone))
	if err != nil {
		r.Fatal(err)
	}
	a.Detach()
	if err := r.Hub.Close(r.Context(), r.id); err != nil {
		r.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, w := range r.all {
		wg.Go(func() { <-w.done })
	}
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		r.Fatal("a client's pump does not end")
	}
	r.CheckLedger(r.id)
	events := r.Read(r.id)
	for i, w := range r.all {
		if d := cmp.Diff(projection(events, w), w.seen()); d != "" {
			r.Errorf("client %d (replay %d, from %d, at %d): %s", i, w.req.Replay, w.Start(), w.Cursor, d)
		}
	}
}

// seen are the numbers of the events a client was shown, without requests: it
// depends on its speed which of those were still open when it met them.
func (w *watcher) seen() []session.Seq {
	var got []session.Seq
	for _, e := range w.Events {
		if e.Seq != 0 && e.Kind != session.KindPermission && e.Kind != session.KindElicitation {
			got = append(got, e.Seq)
		}
	}
	return got
}

// projection is what a client should have seen of a session, as far as it got.
func projection(events []session.Event, w *watcher) []session.Seq {
	from := map[session.Replay]session.Seq{session.ReplayNone: w.Start(), session.ReplayAfter: min(w.req.After, w.Start())}[w.req.Replay]
	told := map[string]bool{}
	for _, e := range w.Events {
		if e.Seq == 0 && e.Kind == session.KindTurnEnd {
			told[e.Turn] = true
		}
	}
	var want []session.Seq
	for _, e := range events {
		past := e.Seq <= w.Start()
		switch {
		case e.Seq <= from, e.Seq > w.Cursor, e.Retention == session.Private,
			past && w.req.Replay == session.ReplayHistory && e.Retention != session.History,
			!past && e.Kind == session.KindUserMessage && e.By == w.ID(),
			e.Kind == session.KindPermission, e.Kind == session.KindElicitation,
			e.Kind == session.KindTurnEnd && told[e.Turn]:
			continue
		}
		want = append(want, e.Seq)
	}
	return want
}

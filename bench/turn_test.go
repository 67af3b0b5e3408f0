package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/model/fakellm"
)

// turnBench runs turns through the program and, for each, makes the same calls
// to the model with nothing in between.
type turnBench struct {
	b      *testing.B
	home   *home
	agent  *agent
	client *http.Client
	turns  sample
	bare   sample // the model's own time in the same turns
	used   time.Duration
}

func newTurnBench(b *testing.B) *turnBench {
	b.Helper()
	h := newHome(b)
	if err := os.WriteFile(filepath.Join(h.cwd, "a.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	return &turnBench{b: b, home: h, agent: h.opened(b), client: &http.Client{}}
}

// run measures one turn in a session of its own, so that all are alike.
func (t *turnBench) run(prompt string) {
	t.b.StopTimer()
	s := t.agent.session(t.home)
	before := len(t.home.model.Requests())
	t.b.StartTimer()
	used := t.agent.cpu()
	t.turns.add(func() { t.agent.prompt(s, prompt) })
	t.used += t.agent.cpu() - used
	t.b.StopTimer()
	t.agent.close(s)
	calls := t.home.model.Requests()[before:]
	t.bare.add(func() {
		for _, c := range calls {
			t.replay(c)
		}
	})
	t.b.StartTimer()
}

// replay makes a call that the program made.
func (t *turnBench) replay(c fakellm.Request) {
	resp, err := t.client.Post(t.home.url+c.Path, "application/json", bytes.NewReader(c.Body))
	if err != nil {
		t.b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		t.b.Fatal(resp.Status, err)
	}
}

// overhead is what the program adds to the model's time.
func (t *turnBench) overhead() time.Duration { return t.turns.p50() - t.bare.p50() }

func (t *turnBench) report() {
	t.b.ReportMetric(ms(t.turns.p50()), "ms-p50")
	t.b.ReportMetric(ms(t.bare.p50()), "base-ms-p50")
	t.b.ReportMetric(ms(t.overhead()), "ms-over")
	t.b.ReportMetric(ms(t.used)/float64(len(t.turns)), "cpu-ms")
}

// BenchmarkTextTurn is a prompt answered with a few words.
func BenchmarkTextTurn(b *testing.B) {
	t := newTurnBench(b)
	t.run("D:SAY hello") // connections are made, pages are warm
	t.turns, t.bare, t.used = nil, nil, 0
	for b.Loop() {
		t.run("D:SAY hello")
	}
	t.report()
}

// BenchmarkToolTurn is a prompt that has a file read again and again, and what
// each of these steps adds beyond a text turn.
func BenchmarkToolTurn(b *testing.B) {
	const reads = 8
	text, tools := newTurnBench(b), newTurnBench(b)
	prompt := strings.Repeat("D:TOOL read a.txt ; ", reads) + "D:SAY done"
	for b.Loop() {
		untimed(b, func() { text.run("D:SAY hello"); b.StopTimer() })
		tools.run(prompt)
	}
	tools.report()
	b.ReportMetric(ms(tools.overhead()-text.overhead())/reads, "ms-over/tool")
}

// BenchmarkStream is a long answer in small chunks.
func BenchmarkStream(b *testing.B) {
	const chunks = 5000
	t := newTurnBench(b)
	for b.Loop() {
		t.run(fmt.Sprintf("D:CHUNKS %d,20,0", chunks))
	}
	t.report()
	b.ReportMetric(us(t.overhead())/chunks, "us-over/chunk")
	b.ReportMetric(float64(t.turns.p50())/float64(t.bare.p50()), "x-base")
}

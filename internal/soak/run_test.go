package soak

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fieldtest"
)

// part is the share of a soak that runs with the usual tests.
const part = 20

// run is one soak: its world, its chance and what it counts.
type run struct {
	*fieldtest.World
	t      *testing.T
	rand   *rand.Rand
	seed   uint64
	mark   string // in the environment of our processes and the words of their commands
	begun  time.Time
	counts []count
}

// count is a line of the report.
type count struct {
	what string
	n    int
}

// newRun begins a soak. Lines of more go to the top of config.toml.
func newRun(t *testing.T, more ...string) *run {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("GRAPNEL_SOAK_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("GRAPNEL_SOAK_SEED: %v", err)
		}
	}
	t.Logf("GRAPNEL_SOAK_SEED=%d", seed)
	r := &run{
		World: fieldtest.NewWorld(t, append(more, "[autonomy]", `allowed_commands = ["*"]`)...),
		t:     t, rand: rand.New(rand.NewPCG(seed, 0)), seed: seed, begun: time.Now(),
	}
	r.mark = fmt.Sprintf("%d%06d", os.Getpid(), r.rand.IntN(1_000_000))
	r.Env = append(r.Env, markName+"="+r.mark, "GORACE=atexit_sleep_ms=10")
	return r
}

// times is how often something is done that a full soak does n times.
func (r *run) times(n int) int {
	if os.Getenv("GRAPNEL_SOAK") == "full" {
		return n
	}
	return max(1, n/part)
}

// within returns a time of up to d, short ones more often.
func (r *run) within(d time.Duration) time.Duration {
	x := r.rand.Float64()
	return time.Duration(x * x * float64(d))
}

func (r *run) add(what string, n int) {
	for i := range r.counts {
		if r.counts[i].what == what {
			r.counts[i].n += n
			return
		}
	}
	r.counts = append(r.counts, count{what, n})
}

// report logs what was done and adds it to the report, if one is wanted and
// nothing failed.
func (r *run) report() {
	r.t.Helper()
	var parts []string
	for _, c := range r.counts {
		parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
	}
	done := strings.Join(parts, ", ")
	took := time.Since(r.begun).Round(time.Second)
	r.t.Logf("%s in %s", done, took)
	name := os.Getenv("GRAPNEL_SOAK_REPORT")
	if name == "" || r.t.Failed() {
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "| %s | %s | %s | %d |\n", strings.TrimPrefix(r.t.Name(), "TestSoak"), done, took, r.seed); err != nil {
		r.t.Fatal(err)
	}
}

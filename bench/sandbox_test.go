//go:build linux

package bench

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

// BenchmarkConfined is a command from its start to its end in the sandbox, with
// working out what it may see, against the same command in the same custody
// without.
func BenchmarkConfined(b *testing.B) {
	for _, rung := range []sandbox.Rung{sandbox.Bubblewrap, sandbox.Landlock} {
		b.Run(string(rung), func(b *testing.B) {
			box := openBox(b, rung)
			c := custody(b)
			s := proc.Spec{Argv: []string{"true"}, Dir: "/tmp"}
			var ours, base sample
			for b.Loop() {
				ours.add(func() {
					confined, err := box.Confine(b.Context(), sandbox.Want{}, s)
					if err != nil {
						b.Fatal(err)
					}
					runIn(b, c, confined)
				})
				untimed(b, func() {
					base.add(func() { runIn(b, c, s) })
				})
			}
			b.ReportMetric(ms(ours.p50()), "ms-p50")
			b.ReportMetric(ms(base.p50()), "base-ms-p50")
			b.ReportMetric(ms(ours.p50()-base.p50()), "ms-over")
		})
	}
}

func openBox(b *testing.B, rung sandbox.Rung) *sandbox.Box {
	home, err := os.UserHomeDir()
	if err != nil {
		b.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	ladder := sandbox.New(sandbox.Options{Home: home, Path: os.Getenv("PATH"), Temp: filepath.Join(dir, "tmp")})
	box := ladder.Open(sandbox.Session{
		Use: rung, Roots: []string{"/tmp"}, Forbidden: []string{"/etc", filepath.Join(home, ".ssh")}, Own: []string{dir},
		Cache: filepath.Join(dir, "cache/main"),
	})
	b.Cleanup(func() {
		_ = box.Close()
		_ = ladder.Close()
	})
	if st, err := box.Status(b.Context()); err != nil || !st.Works() {
		b.Skipf("%v, %s", err, st.Why())
	}
	return box
}

func runIn(b *testing.B, c *proc.Custody, s proc.Spec) {
	p, err := c.Start(b.Context(), s)
	if err != nil {
		b.Fatal(err)
	}
	if exit, err := p.Wait(); err != nil || exit.Code != 0 {
		b.Fatal(exit, err)
	}
}

//go:build unix

package bench

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// tree is fifty processes that hold their standard output until they end.
var tree = []string{"sh", "-c", `i=1; while [ $i -lt 50 ]; do sleep 1000 & i=$((i+1)); done; echo; wait`}

// custody is the custody an instance has.
func custody(b *testing.B) *proc.Custody {
	c := proc.NewCustody(proc.Options{Dir: b.TempDir(), ID: session.NewID("i"), Alive: func(string) bool { return false }})
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// BenchmarkKillTree is the time from asking for the end of fifty processes to
// their end, against one signal to the same processes as a group of their own.
func BenchmarkKillTree(b *testing.B) {
	for name, c := range map[string]*proc.Custody{"guard": nil, "custody": custody(b)} {
		b.Run(name, func(b *testing.B) {
			var ours, base sample
			for b.Loop() {
				untimed(b, func() {
					killBare(b, &base)
				})
				killHeld(b, c, &ours)
			}
			b.ReportMetric(ms(ours.p50()), "ms-p50")
			b.ReportMetric(ms(base.p50()), "base-ms-p50")
			b.ReportMetric(float64(ours.p50())/float64(base.p50()), "x-base")
		})
	}
}

func killHeld(b *testing.B, c *proc.Custody, took *sample) {
	r, w := pipe(b)
	p, err := c.Start(b.Context(), proc.Spec{Argv: tree, Stdout: w})
	if err != nil {
		b.Fatal(err)
	}
	waitUp(b, r, w)
	took.add(func() {
		p.Kill()
		<-p.Done()
	})
	if _, err := p.Wait(); err != nil {
		b.Error(err)
	}
}

func killBare(b *testing.B, took *sample) {
	r, w := pipe(b)
	cmd := exec.Command(tree[0], tree[1:]...)
	cmd.Stdout, cmd.SysProcAttr = w, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	waitUp(b, r, w)
	took.add(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_, _ = io.Copy(io.Discard, r) // until the last of them is gone
		_ = cmd.Wait()
	})
}

func pipe(b *testing.B) (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.Close() })
	return r, w
}

func waitUp(b *testing.B, r, w *os.File) {
	_ = w.Close()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSpawn is a command from its start to its end, against the same
// without anything that holds it.
func BenchmarkSpawn(b *testing.B) {
	c := custody(b)
	var ours, base sample
	for b.Loop() {
		ours.add(func() {
			p, err := c.Start(b.Context(), proc.Spec{Argv: []string{"true"}})
			if err != nil {
				b.Fatal(err)
			}
			<-p.Done()
		})
		untimed(b, func() {
			base.add(func() {
				if err := exec.Command("true").Run(); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
	b.ReportMetric(ms(ours.p50()), "ms-p50")
	b.ReportMetric(ms(base.p50()), "base-ms-p50")
	b.ReportMetric(ms(ours.p50()-base.p50()), "ms-over")
}

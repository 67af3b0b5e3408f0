package bench

import "testing"

// BenchmarkColdStart is the time from spawning `grapnel acp` to its answer to
// initialize, on a store that has sessions.
func BenchmarkColdStart(b *testing.B) {
	h := newHome(b)
	s := openStore(b, h.dir)
	s.filled(b, h.cwd, 1000)
	s.end(b)
	var ours, base sample
	for b.Loop() {
		var a *agent
		ours.add(func() {
			a = h.acp(b)
			a.initialize()
		})
		untimed(b, func() {
			a.end()
			base.add(func() {
				a = start(b, program(b, baseline))
				a.initialize()
			})
			a.end()
		})
	}
	b.ReportMetric(ms(ours.p50()), "ms-p50")
	b.ReportMetric(ms(base.p50()), "base-ms-p50")
	b.ReportMetric(ms(ours.at(0)), "ms-min")
	b.ReportMetric(float64(ours.p50())/float64(base.p50()), "x-base")
	b.ReportMetric(float64(ours.at(0))/float64(base.at(0)), "x-base-min")
}

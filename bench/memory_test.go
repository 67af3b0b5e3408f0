package bench

import "testing"

// BenchmarkMemory is how much memory the process holds: after the handshake,
// after a turn with a tool, after loading a long session.
func BenchmarkMemory(b *testing.B) {
	const length = 100_000
	h := newHome(b)
	s := openStore(b, h.dir)
	id, _ := s.filled(b, h.cwd, length)
	s.end(b)
	for b.Loop() {
		floor := start(b, program(b, baseline))
		floor.initialize()
		base := floor.status("VmRSS")
		floor.end()

		a := h.acp(b)
		a.initialize()
		idle := a.status("VmRSS")
		a.prompt(a.session(h), "D:TOOL shell echo hello ; D:SAY done")
		turn := a.status("VmRSS")
		a.load(h, id)
		loaded := a.status("VmRSS")
		a.end()

		b.ReportMetric(base/1024, "base-MiB")
		b.ReportMetric(idle/1024, "idle-MiB")
		b.ReportMetric(turn/1024, "turn-MiB")
		b.ReportMetric(loaded/1024, "loaded-MiB")
		b.ReportMetric(idle/base, "x-base")
	}
}

package bench

import (
	"database/sql"
	"fmt"
	"testing"
)

// BenchmarkLoad is session/load of long sessions: from the request to its
// response, with every update received over the pipe before it.
func BenchmarkLoad(b *testing.B) {
	for _, length := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("updates=%d", length), func(b *testing.B) {
			h := newHome(b)
			s := openStore(b, h.dir)
			id, _ := s.filled(b, h.cwd, length)
			path := s.path
			s.end(b)
			a := h.opened(b)
			var ours, base sample
			used := a.cpu()
			for b.Loop() {
				a.seen = 0
				ours.add(func() { a.load(h, id) })
				b.StopTimer()
				if a.seen < length {
					b.Fatalf("%d updates came, want %d", a.seen, length)
				}
				a.close(id)
				base.add(func() { readBare(b, path) })
				b.StartTimer()
			}
			b.ReportMetric(ms(ours.p50()), "ms-p50")
			b.ReportMetric(ms(base.p50()), "base-ms-p50")
			b.ReportMetric(us(ours.p50())/float64(length), "us/update")
			b.ReportMetric(us(a.cpu()-used)/float64(b.N*length), "cpu-us/update")
		})
	}
}

// readBare reads every row of the store and does nothing with them.
func readBare(b *testing.B, path string) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT data FROM events ORDER BY id")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var data sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&data); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
}

package main

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// machine is where and when the benchmarks ran.
type machine struct {
	date   string
	system string // operating system and architecture
	goes   string // version of Go
	cores  int
	gib    int // memory; 0 when the system does not say
}

func thisMachine() machine {
	return machine{
		date: time.Now().UTC().Format(time.DateOnly), system: runtime.GOOS + "/" + runtime.GOARCH,
		goes: runtime.Version(), cores: runtime.NumCPU(), gib: memory(),
	}
}

// memory reads the size of the memory where Linux tells it.
func memory() int {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var kib int
	if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err != nil {
		return 0
	}
	return (kib + 1<<20 - 1) >> 20
}

func (m machine) String() string {
	s := fmt.Sprintf("%s, %s, %s, %d cores", m.date, m.goes, m.system, m.cores)
	if m.gib > 0 {
		s += fmt.Sprintf(", %d GiB", m.gib)
	}
	return s
}

const intro = `# Benchmarks

` + "`make bench`" + ` measures this and writes this page. Each benchmark measures, in the same run, a floor:
the same work with nothing of Grapnel in it. On a shared machine times vary and ratios stay; a
figure is the median of the runs, and in each run of many measurements.

`

// page is the whole Markdown page.
func (r *results) page(m machine) string {
	var b strings.Builder
	b.WriteString(intro)
	fmt.Fprintf(&b, "%s; %d runs.\n\n", m, r.runs)
	b.WriteString("| what | measured | target, at most | met |\n|---|---|---|---|\n")
	for _, t := range targets {
		v, ok := t.measured(r)
		if !ok {
			continue
		}
		limit := ""
		if t.limit > 0 {
			limit = t.show(t.limit)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.what, t.show(v), limit, t.verdict(v))
	}
	b.WriteString("\n## Everything measured\n\nUnits that begin with `base-` are floors, `x-base` is the ratio to the floor.\n\n")
	b.WriteString("| benchmark | values |\n|---|---|\n")
	for _, name := range r.names {
		fmt.Fprintf(&b, "| %s | %s |\n", name, r.listed(name))
	}
	return b.String()
}

// listed is everything that one benchmark reported.
func (r *results) listed(name string) string {
	var parts []string
	for _, unit := range slices.Sorted(maps.Keys(r.values[name])) {
		v, _ := r.median(name, unit) // every unit listed has values
		parts = append(parts, fmt.Sprintf("%.4g %s", v, unit))
	}
	return strings.Join(parts, ", ")
}

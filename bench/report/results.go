package main

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// results are the values of each benchmark by unit, one for every run.
type results struct {
	names  []string // in the order they came
	values map[string]map[string][]float64
	runs   int
}

// read takes what go test -bench printed; other lines are left out.
func read(in io.Reader) (*results, error) {
	r := &results{values: make(map[string]map[string][]float64)}
	procs := regexp.MustCompile(`-\d+$`) // what go test adds to a name
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) >= 4 && strings.HasPrefix(f[0], "Benchmark") {
			r.add(procs.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), ""), f[2:])
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(r.names) == 0 {
		return nil, errors.New("no benchmark results in the input; give it what go test -bench printed")
	}
	return r, nil
}

// add takes the pairs of value and unit of one line.
func (r *results) add(name string, pairs []string) {
	units := r.values[name]
	if units == nil {
		units = make(map[string][]float64)
		r.values[name] = units
		r.names = append(r.names, name)
	}
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		if v, err := strconv.ParseFloat(pairs[0], 64); err == nil {
			units[pairs[1]] = append(units[pairs[1]], v)
			r.runs = max(r.runs, len(units[pairs[1]]))
		}
	}
}

// median of the runs; false when the benchmark did not report the unit.
func (r *results) median(name, unit string) (float64, bool) {
	v := slices.Sorted(slices.Values(r.values[name][unit]))
	if len(v) == 0 {
		return 0, false
	}
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2, true
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const output = `goos: linux
goarch: amd64
BenchmarkColdStart-2   	     100	   8070527 ns/op	         6.5 ms-p50	         1.75 x-base
BenchmarkColdStart-2   	     100	   8070527 ns/op	         6.3 ms-p50	         1.25 x-base
BenchmarkColdStart-2   	     100	   8070527 ns/op	         9.9 ms-p50	         1.50 x-base
BenchmarkLoad/updates=10000-2         	       6	 117414477 ns/op	        10.0 us/update	       100 ms-p50
BenchmarkLoad/updates=100000-2        	       1	1097845724 ns/op	        12.0 us/update	      1098 ms-p50
PASS
ok  	github.com/grapnel-ai/grapnel/bench	21.371s
`

func TestPage(t *testing.T) {
	r, err := read(strings.NewReader(output))
	if err != nil {
		t.Fatal(err)
	}
	page := r.page(machine{date: "2026-01-02", system: "linux/amd64", goes: "go1.26", cores: 2, gib: 24})
	table, ok := strings.CutPrefix(page, intro)
	want := `2026-01-02, go1.26, linux/amd64, 2 cores, 24 GiB; 3 runs.

| what | measured | target, at most | met |
|---|---|---|---|
| ` + targets[0].what + ` | × 1.50 | × 1.60 | yes |
| the same, in time | 6.50 ms | 8 ms | yes |
| session/load of 10,000 updates, delivered | 100 ms | 50 ms | **no** |
| each of 100,000 updates, against each of 10,000 | × 1.20 | × 1.30 | yes |

## Everything measured

Units that begin with ` + "`base-`" + ` are floors, ` + "`x-base`" + ` is the ratio to the floor.

| benchmark | values |
|---|---|
| ColdStart | 6.5 ms-p50, 8.071e+06 ns/op, 1.5 x-base |
| Load/updates=10000 | 100 ms-p50, 1.174e+08 ns/op, 10 us/update |
| Load/updates=100000 | 1098 ms-p50, 1.098e+09 ns/op, 12 us/update |
`
	if diff := cmp.Diff(want, table); diff != "" || !ok {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestRunWritesTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	var out bytes.Buffer
	if err := run(file, strings.NewReader(output), &out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out.String(), string(page)); diff != "" {
		t.Errorf("-printed +written:\n%s", diff)
	}
}

func TestNothingMeasured(t *testing.T) {
	if _, err := read(strings.NewReader("FAIL\n")); err == nil {
		t.Error("an output without results passes")
	}
}

// TestTargetsAreMeasured keeps a target from naming a benchmark that is gone.
func TestTargetsAreMeasured(t *testing.T) {
	files, err := filepath.Glob("../*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, want := range targets {
		name, _, _ := strings.Cut(want.value.bench, "/")
		if !strings.Contains(source.String(), "func Benchmark"+name+"(") {
			t.Errorf("no benchmark is called %s", name)
		}
		if unit := want.value.unit; !strings.Contains(source.String(), `"`+unit+`"`) {
			t.Errorf("benchmark %s reports no %s", name, unit)
		}
	}
}

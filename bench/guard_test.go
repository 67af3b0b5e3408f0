package bench

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxBinary is what a person downloads at most.
const maxBinary = 60 << 20

func TestBinarySize(t *testing.T) {
	info, err := os.Stat(program(t, grapnel))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f MB", float64(info.Size())/1e6)
	if info.Size() > maxBinary {
		t.Errorf("the binary has %d bytes, more than %d: find out what it links with go tool nm -size -sort size", info.Size(), maxBinary)
	}
}

// What package initialisation may allocate, which every start of the program
// pays for. Allocations are counted because, unlike time, they are the same on
// every run.
const (
	maxInitAllocs = 3_750
	maxInitBytes  = 650 << 10
	maxOwnAllocs  = 32 // in a package of this module
)

// initWork is what the runtime reports of one package's initialisation.
type initWork struct {
	pkg           string
	bytes, allocs int
}

func TestInitWork(t *testing.T) {
	work := traceInit(t)
	bytes, allocs := 0, 0
	for _, w := range work {
		bytes += w.bytes
		allocs += w.allocs
		if strings.HasPrefix(w.pkg, "github.com/grapnel-ai/grapnel/") && w.allocs > maxOwnAllocs {
			t.Errorf("package %s makes %d allocations when it is initialised: do that work when it is first needed", w.pkg, w.allocs)
		}
	}
	t.Logf("%d packages, %d allocations, %d bytes", len(work), allocs, bytes)
	if allocs > maxInitAllocs || bytes > maxInitBytes {
		slices.SortFunc(work, func(a, b initWork) int { return b.allocs - a.allocs })
		t.Errorf("initialisation makes %d allocations of %d bytes, more than %d of %d; most are in\n%v",
			allocs, bytes, maxInitAllocs, maxInitBytes, work[:10])
	}
}

func traceInit(t *testing.T) []initWork {
	t.Helper()
	cmd := exec.Command(program(t, grapnel), "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatalf("grapnel version: %v\n%s", err, trace.String())
	}
	line := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)
	var work []initWork
	for _, m := range line.FindAllStringSubmatch(trace.String(), -1) {
		w := initWork{pkg: m[1]}
		w.bytes, _ = strconv.Atoi(m[2]) // digits, as matched
		w.allocs, _ = strconv.Atoi(m[3])
		work = append(work, w)
	}
	if len(work) < 50 {
		t.Fatalf("the runtime reported only %d packages:\n%s", len(work), trace.String())
	}
	return work
}

func (w initWork) String() string {
	return fmt.Sprintf("%s: %d allocations, %d bytes\n", w.pkg, w.allocs, w.bytes)
}

package app

import (
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
)

// LimitMemory tells the garbage collector of a daemon how much memory there is:
// nine tenths of what its control group may use, or three quarters of the
// machine. GOMEMLIMIT, where it is set, has said so already.
func LimitMemory(getenv func(string) string) {
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := memoryLimit("/proc", "/sys/fs/cgroup"); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// memoryLimit is the limit in bytes, 0 where nothing is known.
func memoryLimit(proc, cgroup string) int64 {
	machine := memTotal(filepath.Join(proc, "meminfo")) / 4 * 3
	group := groupLimit(filepath.Join(proc, "self", "cgroup"), cgroup) / 10 * 9
	if group > 0 && (machine == 0 || group < machine) {
		return group
	}
	return machine
}

// memTotal reads /proc/meminfo.
func memTotal(path string) int64 {
	text, _ := os.ReadFile(path) // other systems have none
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			return number(strings.TrimSuffix(strings.TrimSpace(rest), " kB")) << 10
		}
	}
	return 0
}

// groupLimit is the least memory.max on the way from the process's control group
// (version 2) to the root; 0 for none.
func groupLimit(own, root string) int64 {
	text, _ := os.ReadFile(own)
	for line := range strings.Lines(string(text)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		least := int64(math.MaxInt64)
		for at := filepath.Clean("/" + path); ; at = filepath.Dir(at) {
			limit, _ := os.ReadFile(filepath.Join(root, at, "memory.max"))
			if n := number(strings.TrimSpace(string(limit))); n > 0 {
				least = min(least, n)
			}
			if at == "/" {
				break
			}
		}
		if least < math.MaxInt64 {
			return least
		}
	}
	return 0
}

// number is 0 for what is none, such as max.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>11 {
		return 0
	}
	return n
}

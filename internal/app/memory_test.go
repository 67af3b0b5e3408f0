package app

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryLimitIsTheLeastThereIs(t *testing.T) {
	const mem = "MemTotal:       4096 kB\nMemFree:        10 kB\n"
	for name, c := range map[string]struct {
		meminfo, own string
		groups       map[string]string
		want         int64
	}{
		"nothing known":         {},
		"no group":              {meminfo: mem, want: 3 << 20},
		"group":                 {meminfo: mem, own: "0::/a/b\n", groups: map[string]string{"a/b": "1000\n"}, want: 900},
		"its parent has less":   {meminfo: mem, own: "0::/a/b\n", groups: map[string]string{"a/b": "1000\n", "a": "500\n"}, want: 450},
		"group without a limit": {meminfo: mem, own: "0::/a\n", groups: map[string]string{"a": "max\n"}, want: 3 << 20},
		"more than the machine": {meminfo: mem, own: "0::/a\n", groups: map[string]string{"a": "100000000\n"}, want: 3 << 20},
		"version 1":             {meminfo: mem, own: "5:memory:/a\n", groups: map[string]string{"a": "1000\n"}, want: 3 << 20},
		"out of the tree":       {own: "0::/../../a\n", groups: map[string]string{"a": "1000"}, want: 900},
		"broken":                {meminfo: "MemTotal: lots\n", own: "0::\n", groups: map[string]string{"": "-5"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put := func(path, text string) {
				t.Helper()
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put("proc/meminfo", c.meminfo)
			put("proc/self/cgroup", c.own)
			for group, limit := range c.groups {
				put(filepath.Join("group", group, "memory.max"), limit)
			}
			if got := memoryLimit(filepath.Join(dir, "proc"), filepath.Join(dir, "group")); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

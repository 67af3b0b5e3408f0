package fieldtest

import (
	"fmt"
	"os"
)

// environment is what a process has in its environment; "" where there is no
// /proc.
func environment(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return string(text)
}

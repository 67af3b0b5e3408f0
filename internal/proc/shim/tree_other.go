//go:build unix && !linux

package shim

import "syscall"

// Without a subreaper, what we can hold is the child's process group. A
// descendant that leaves it with setsid gets away; docs name this limit.

func adoptOrphans() {}

func keepDescriptors() {}

func terminateTree(child int) {
	_ = syscall.Kill(-child, syscall.SIGTERM)
	_ = syscall.Kill(-child, syscall.SIGCONT)
}

func killTree(child int) { _ = syscall.Kill(-child, syscall.SIGKILL) }

// strays reports whether processes outlived our last child.
func strays(child int) bool { return syscall.Kill(-child, 0) == nil }

func countTree(child int) int {
	if strays(child) {
		return 1
	}
	return 0
}

func openGroup(string) (fd int, ok bool) { return -1, false }

func forkInto(int, string, []string, syscall.ProcAttr) (pid int, err error) {
	return 0, syscall.ENOSYS
}

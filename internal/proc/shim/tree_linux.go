package shim

import (
	"os"
	"syscall"
)

const (
	prSetChildSubreaper = 36
	sysCloseRange       = 436 // the same number on every architecture
	closeRangeCloexec   = 4
)

// freezeRounds bounds how often a tree that keeps forking is looked at before
// what was found is killed; the next sweep finds the rest.
const freezeRounds = 20

// keepDescriptors keeps from the child whatever an editor or shell leaked to us.
// Kernels before 5.11 refuse; then the child sees it, as it would without us.
func keepDescriptors() {
	_, _, _ = syscall.RawSyscall(sysCloseRange, ControlFD, ^uintptr(0)>>1, closeRangeCloexec)
}

// adoptOrphans makes every orphaned descendant our child, setsid or not.
func adoptOrphans() {
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0)
}

func terminateTree(int) {
	for _, pid := range descendants() {
		_ = syscall.Kill(pid, syscall.SIGTERM)
		_ = syscall.Kill(pid, syscall.SIGCONT) // a stopped process hears nothing
	}
}

// killTree stops the tree before it kills it, so that no process can fork
// between being listed and being killed.
func killTree(int) {
	found := make(map[int]bool)
	for range freezeRounds {
		fresh := false
		for _, pid := range descendants() {
			if !found[pid] {
				found[pid], fresh = true, true
				_ = syscall.Kill(pid, syscall.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	for pid := range found {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// strays reports whether processes outlived our last child. Orphans become our
// children here, so none can.
func strays(int) bool { return false }

func countTree(int) int { return len(descendants()) }

// descendants lists every process below this one.
func descendants() []int {
	children := childrenByParent()
	var all []int
	for queue := []int{os.Getpid()}; len(queue) > 0; queue = queue[1:] {
		kids := children[queue[0]]
		all = append(all, kids...)
		queue = append(queue, kids...)
	}
	return all
}

func childrenByParent() map[int][]int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	children := make(map[int][]int)
	for _, name := range names {
		pid := atoi(name)
		if pid == 0 {
			continue
		}
		if ppid := parentOf(name); ppid > 0 {
			children[ppid] = append(children[ppid], pid)
		}
	}
	return children
}

func parentOf(pid string) int {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	return parentIn(stat)
}

// parentIn reads the fourth field of /proc/PID/stat. The second, the command,
// is for its process to choose and may hold blanks and parentheses; the last
// ")" ends it.
func parentIn(stat []byte) int {
	i := len(stat) - 1
	for i >= 0 && stat[i] != ')' {
		i--
	}
	const sep = len(") S ")
	if i < 0 || i+sep >= len(stat) {
		return 0
	}
	return atoi(string(stat[i+sep:]))
}

package shim

import (
	"os"
	"syscall"

	"github.com/grapnel-ai/grapnel/internal/proc/procfs"
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
	var pids []int
	for _, s := range procfs.Below(procfs.All(), os.Getpid()) {
		pids = append(pids, s.Pid)
	}
	return pids
}

// openGroup opens a control group for forkInto.
func openGroup(group string) (fd int, ok bool) {
	if group == "" {
		return -1, false
	}
	fd, err := syscall.Open(group, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return fd, err == nil
}

// forkInto starts a child in a control group from its first moment.
func forkInto(group int, path string, argv []string, attr syscall.ProcAttr) (pid int, err error) {
	sys := *attr.Sys
	sys.UseCgroupFD, sys.CgroupFD = true, group
	attr.Sys = &sys
	return syscall.ForkExec(path, argv, &attr)
}

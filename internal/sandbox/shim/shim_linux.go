package shim

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// Numbers that package syscall lacks. Those of the calls are the same on every
// architecture that has a filter.
const (
	sysLandlockRestrictSelf = 446
	prSetNoNewPrivs         = 38
	prCapBsetDrop           = 24
	prSetSeccomp            = 22
	seccompModeFilter       = 2
	capVersion3             = 0x20080522
	maxFilter               = 4096 // instructions, as the kernel has it
)

// The capabilities a root user keeps, to work in directories with files of
// several users. Nothing of them reaches beyond what Landlock grants.
const keptCaps = 1<<capChown | 1<<capDACOverride | 1<<capFowner | 1<<capFsetid

const (
	capChown       = 0
	capDACOverride = 1
	capFowner      = 3
	capFsetid      = 4
)

func init() {
	if len(os.Args) > 3 && os.Args[1] == Marker && os.Args[0] == Self {
		runtime.LockOSThread() // what follows is of this thread, and so is the exec
		fail(confine(), "confine the command")
		fail(syscall.Exec(os.Args[2], os.Args[3:], os.Environ()), "start "+os.Args[2])
	}
}

// fail ends the process if there is an error.
func fail(err error, doing string) {
	if err != nil {
		_, _ = os.Stderr.WriteString("grapnel: cannot " + doing + ": " + err.Error() + "\n")
		syscall.Exit(ExitConfine)
	}
}

// confine takes away what the command is not to have, from this thread on.
func confine() error {
	filter, err := readFilter()
	if err != nil {
		return err
	}
	if err := dropCaps(); err != nil {
		return err
	}
	if err := prctl(prSetNoNewPrivs, 1, 0); err != nil {
		return err
	}
	if _, _, errno := syscall.RawSyscall(sysLandlockRestrictSelf, RulesetFD, 0, 0); errno != 0 {
		return errno
	}
	syscall.CloseOnExec(RulesetFD)
	return setFilter(filter)
}

// readFilter reads an array of struct sock_filter.
func readFilter() ([]byte, error) {
	buf := make([]byte, 0, maxFilter)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := syscall.Read(FilterFD, buf[len(buf):cap(buf)])
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return buf, syscall.Close(FilterFD)
		default:
			buf = buf[:len(buf)+n]
		}
	}
}

// setFilter installs the filter. It is the last thing to do: it may refuse
// what came before.
func setFilter(raw []byte) error {
	const size = 8
	if len(raw) == 0 || len(raw)%size != 0 || len(raw)/size > maxFilter {
		return syscall.EINVAL
	}
	prog := struct {
		len    uint16
		filter *byte
	}{uint16(len(raw) / size), &raw[0]}
	return prctl(prSetSeccomp, seccompModeFilter, uintptr(unsafe.Pointer(&prog)))
}

// dropCaps takes the capabilities of a root user but for keptCaps, also from
// the programs it will start.
func dropCaps() error {
	type header struct {
		version uint32
		pid     int32
	}
	type data struct{ effective, permitted, inheritable uint32 }
	head, caps := header{version: capVersion3}, [2]data{}
	_, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&caps[0])), 0)
	if errno != 0 {
		return errno
	}
	if caps[0].permitted|caps[1].permitted == 0 {
		return nil
	}
	for c := uintptr(0); c < 64; c++ {
		if keptCaps>>c&1 == 0 {
			_ = prctl(prCapBsetDrop, c, 0) // fails beyond the last there is, and without the right, where there is nothing to drop
		}
	}
	kept := data{caps[0].effective & keptCaps, caps[0].permitted & keptCaps, 0}
	caps = [2]data{kept, {}}
	_, _, errno = syscall.RawSyscall(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&caps[0])), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func prctl(option, a, b uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, b, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

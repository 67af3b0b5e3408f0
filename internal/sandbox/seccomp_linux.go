package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filter names what is refused, and everything else goes through: a list
// of what is allowed would break programs with every new kernel. It takes away
// what reaches around a file system that is confined: other ways to files,
// kernel keys, further namespaces, and sockets that lead out.
//
// It is written with x/net/bpf and the numbers of x/sys/unix rather than with a
// library, since tables of all calls of all architectures cost every process a
// third of a millisecond at its start.

// withheld is what a filter refuses besides what it always does.
type withheld struct {
	inet     bool // sockets of the Internet, and netlink with them
	unix     bool // sockets of this machine; pairs stay
	truncate bool // by path, where Landlock does not know it
}

// Offsets in struct seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// x32Bit marks calls of the x32 interface, which has the architecture of amd64.
const x32Bit = 0x40000000

// refusedCalls are refused with EPERM. What is absent here on an architecture
// is absent there altogether.
func refusedCalls() []uint32 {
	return append([]uint32{
		unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
		unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		unix.SYS_SETNS, unix.SYS_UNSHARE, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
	}, rawIO()...)
}

// rawIO are the calls for ports, which only one architecture has.
func rawIO() []uint32 {
	if runtime.GOARCH == "amd64" {
		return []uint32{172, 173} // iopl, ioperm
	}
	return nil
}

// namespaceFlags are the flags of clone that make namespaces.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// filter assembles the program for this architecture.
func filter(w withheld) ([]bpf.RawInstruction, error) {
	arch, err := auditArch()
	if err != nil {
		return nil, err
	}
	prog := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		refuse(unix.ENOSYS), // another architecture's numbers mean other calls
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32Bit, SkipTrue: 1},
		refuse(unix.ENOSYS),
	}
	for _, nr := range refusedCalls() {
		prog = append(prog, on(nr, refuse(unix.EPERM))...)
	}
	// Its flags are in memory, where a filter cannot look; programs fall back.
	prog = append(prog, on(unix.SYS_CLONE3, refuse(unix.ENOSYS))...)
	prog = append(prog, on(unix.SYS_CLONE,
		bpf.LoadAbsolute{Off: offArgs, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaceFlags, SkipFalse: 1},
		refuse(unix.EPERM), allow())...)
	if w.truncate {
		prog = append(prog, on(unix.SYS_TRUNCATE, refuse(unix.EPERM))...)
	}
	prog = append(prog, on(unix.SYS_SOCKET, sockets(w)...)...)
	return bpf.Assemble(append(prog, allow()))
}

// sockets allows the families that are left. The kernel reads the family as an
// int, so only the lower half of the argument counts.
func sockets(w withheld) []bpf.Instruction {
	var families []uint32
	if !w.unix {
		families = append(families, unix.AF_UNIX)
	}
	if !w.inet {
		families = append(families, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	}
	prog := []bpf.Instruction{bpf.LoadAbsolute{Off: offArgs, Size: 4}}
	for _, f := range families {
		prog = append(prog, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: f, SkipTrue: 1}, allow())
	}
	return append(prog, refuse(unix.EACCES))
}

// on runs what only for one call. It has to end in a verdict.
func on(nr uint32, what ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(len(what))}}, what...)
}

func allow() bpf.Instruction { return bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW} }

func refuse(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

func auditArch() (uint32, error) {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64, nil
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64, nil
	}
	return 0, fmt.Errorf("there is no system call filter for %s", runtime.GOARCH)
}

// filterFile returns a pipe that holds the filter as an array of struct
// sock_filter, and then ends.
func filterFile(w withheld) (*os.File, error) {
	prog, err := filter(w)
	if err != nil {
		return nil, err
	}
	var raw []byte
	for _, in := range prog {
		raw = binary.NativeEndian.AppendUint16(raw, in.Op)
		raw = append(raw, in.Jt, in.Jf)
		raw = binary.NativeEndian.AppendUint32(raw, in.K)
	}
	r, wr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = wr.Write(raw) // a pipe holds a page at least, twice as much as this
	if cerr := wr.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

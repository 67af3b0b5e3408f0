package sandbox

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attemptVar makes the test binary, started inside a sandbox, try one thing and
// say how it went.
const attemptVar = "SANDBOX_TEST_ATTEMPT"

// each makes every attempt that its arguments name, and prints the error of each.
const each = "each"

// The exit codes of an attempt.
const (
	exitDone    = 40 // it worked
	exitRefused = 41
)

func init() {
	if name := os.Getenv(attemptVar); name != "" {
		if name == each {
			for _, a := range os.Args[1:] {
				words := strings.Fields(a)
				fmt.Printf("%s: %v\n", a, attempts()[words[0]](words[1:]))
			}
			os.Exit(exitDone)
		}
		err := attempts()[name](os.Args[1:])
		if err != nil {
			fmt.Println("refused:", err)
			os.Exit(exitRefused)
		}
		fmt.Println("done")
		os.Exit(exitDone)
	}
}

// attempts are what a shell has no words for.
func attempts() map[string]func(args []string) error {
	return map[string]func([]string) error{
		"ptrace": func(a []string) error { return syscall.PtraceAttach(number(a[0])) },
		"signal": func(a []string) error { return syscall.Kill(number(a[0]), 0) },
		"signal all": func([]string) error {
			// Every process there is but init and us, as kill -1 finds them.
			return fmt.Errorf("reached %w", syscall.Kill(-1, 0))
		},
		"memory":   func(a []string) error { return opens("/proc/" + a[0] + "/mem") },
		"environ":  func(a []string) error { return readable("/proc/" + a[0] + "/environ") },
		"files":    func(a []string) error { _, err := os.Readlink("/proc/" + a[0] + "/fd/0"); return err },
		"root":     func(a []string) error { return readable("/proc/" + a[0] + "/root" + a[1]) },
		"read":     func(a []string) error { return readable(a[0]) },
		"dial":     func(a []string) error { return dial(a[0], a[1]) },
		"listen":   func([]string) error { return echo() },
		"pair":     func([]string) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
		"family":   func(a []string) error { return family(number(a[0])) },
		"mount":    func(a []string) error { return unix.Mount("none", a[0], "tmpfs", 0, "") },
		"unshare":  func([]string) error { return unix.Unshare(0) },
		"clone":    func([]string) error { return newNamespace() },
		"chroot":   func(a []string) error { return unix.Chroot(a[0]) },
		"mknod":    func(a []string) error { return unix.Mknod(a[0], unix.S_IFCHR|0o600, int(unix.Mkdev(1, 1))) },
		"truncate": func(a []string) error { return unix.Truncate(a[0], 0) },
		"link":     func(a []string) error { return os.Link(a[0], a[1]) },
		"io_uring": func([]string) error { return call(unix.SYS_IO_URING_SETUP) },
		"bpf":      func([]string) error { return call(unix.SYS_BPF) },
		"keyctl":   func([]string) error { return call(unix.SYS_KEYCTL) },
		"handle":   func([]string) error { return call(unix.SYS_OPEN_BY_HANDLE_AT) },
	}
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// opens is for a file whose opening is what is refused.
func opens(path string) error {
	f, err := os.Open(path)
	if err == nil {
		err = f.Close()
	}
	return err
}

func readable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var b [1]byte
	_, err = f.Read(b[:])
	return err
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte("out"))
	return err
}

// echo serves itself on the loopback.
func echo() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	go func() {
		if c, err := l.Accept(); err == nil {
			_ = c.Close()
		}
	}()
	return dial("tcp", l.Addr().String())
}

func family(f int) error {
	fd, err := unix.Socket(f, unix.SOCK_RAW, 0)
	if err != nil && err != unix.EACCES && err != unix.EPERM {
		fd, err = unix.Socket(f, unix.SOCK_STREAM, 0)
	}
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func newNamespace() error {
	pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{
		Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER},
	})
	if err == nil {
		_, err = syscall.Wait4(pid, nil, 0, nil)
	}
	return err
}

// call makes a system call with arguments that are wrong, and returns an error
// only when it is not to be had at all.
func call(nr uintptr) error {
	var zeros [64]byte
	_, _, errno := unix.Syscall6(nr, ^uintptr(0), uintptr(unsafe.Pointer(&zeros)), ^uintptr(0), 0, 0, 0)
	if errno == unix.EPERM || errno == unix.ENOSYS {
		return errno
	}
	return nil
}

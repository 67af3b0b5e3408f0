//go:build unix

package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/grapnel-ai/grapnel/internal/proc/shim"
)

// tree is our end of the shim's control pipe. The shim ends the tree when the
// pipe closes, so losing it can only ever end too much.
type tree struct {
	control *os.File
	guard   *os.Process
}

func (t tree) end(gently bool) {
	word := byte(shim.Kill)
	if gently {
		word = shim.Stop
	}
	_, _ = t.control.Write([]byte{word}) // fails only when the shim is gone
	_ = t.guard.Signal(syscall.SIGCONT)  // a child may have stopped it
}

func (t tree) release() { _ = t.control.Close() }

// start runs the shim with the child under it and waits until the child has
// been executed or refused.
func (p *Proc) start(spec Spec, path string) error {
	failed := func(err error) error {
		return &StartError{Command: spec.Argv[0], Path: path, Reason: ErrStart, Cause: err}
	}
	controlR, controlW, err := os.Pipe()
	if err != nil {
		return failed(err)
	}
	defer func() { _ = controlR.Close() }()
	statusR, statusW, err := os.Pipe()
	if err != nil {
		_ = controlW.Close()
		return failed(err)
	}
	defer func() { _ = statusW.Close() }()

	cmd, err := shimCommand(spec, path, p.entry.groupPath())
	if err == nil {
		cmd.ExtraFiles = append([]*os.File{controlR, statusW}, spec.Files...)
		err = cmd.Start()
	}
	if err != nil {
		_ = controlW.Close()
		_ = statusR.Close()
		return failed(err)
	}
	_ = statusW.Close() // or its end would never be seen

	status := bufio.NewScanner(statusR)
	word, n := nextReport(status)
	if word == "ungrouped" {
		p.entry.ungrouped(syscall.Errno(n))
		word, n = nextReport(status)
	}
	if word != "started" {
		_ = controlW.Close()
		_ = cmd.Wait()
		_ = statusR.Close()
		return refused(spec, path, word, n)
	}
	p.pid, p.tree = n, tree{controlW, cmd.Process}
	p.entry.started(n, cmd.Process.Pid)
	go p.watch(cmd, statusR, status)
	return nil
}

// programArg is where the arguments of the shim name the program.
const programArg = 4

func shimCommand(spec Spec, path, group string) (*exec.Cmd, error) {
	self := "/proc/self/exe" // survives our binary being replaced
	if runtime.GOOS != "linux" {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		self = exe
	}
	grace := strconv.FormatInt(spec.Grace.Milliseconds(), 10)
	args := []string{shim.Marker, grace, strconv.Itoa(len(spec.Files)), group, path}
	return &exec.Cmd{
		Path:        self,
		Args:        append(args, spec.Argv...),
		Dir:         spec.Dir,
		Env:         withPWD(spec),
		Stdin:       spec.Stdin,
		Stdout:      spec.Stdout,
		Stderr:      spec.Stderr,
		WaitDelay:   drainDelay,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // a terminal's Ctrl-C is for us to handle
	}, nil
}

// withPWD tells the child the name its directory was given by.
func withPWD(spec Spec) []string {
	if spec.Dir == "" {
		return spec.Env
	}
	return append(spec.Env[:len(spec.Env):len(spec.Env)], "PWD="+spec.Dir)
}

// watch follows the child to its end.
func (p *Proc) watch(cmd *exec.Cmd, statusR *os.File, status *bufio.Scanner) {
	exit, err := Exit{Code: -1, Signal: "SIGKILL"}, error(nil)
	known := false
	for word, n := nextReport(status); word != ""; word, n = nextReport(status) {
		switch word {
		case "left":
			err = fmt.Errorf("%s: %w: %d left", cmd.Args[programArg], ErrSurvivors, n)
		case "exited":
			exit, known = Exit{Code: n}, true
		case "signaled":
			exit, known = Exit{Code: -1, Signal: unix.SignalName(syscall.Signal(n))}, true
		}
	}
	_ = statusR.Close()
	if !known && err == nil { // somebody killed the shim; hold what we still can
		err = fmt.Errorf("%s: %w", cmd.Args[programArg], p.hunt())
	}
	if werr := cmd.Wait(); err == nil && errors.Is(werr, exec.ErrWaitDelay) {
		err = fmt.Errorf("%s: its output was not closed: %w", cmd.Args[programArg], ErrSurvivors)
	}
	p.finish(exit, err)
}

// hunt ends the tree of a child whose guard is gone, and says how that went.
func (p *Proc) hunt() error {
	if p.entry == nil {
		_ = syscall.Kill(-p.pid, syscall.SIGKILL)
		return fmt.Errorf("its guard process was killed: %w", ErrSurvivors)
	}
	if left := p.entry.hunt(); len(left) > 0 {
		return fmt.Errorf("its guard process was killed: %w: %v", ErrSurvivors, left)
	}
	return ErrGuardKilled
}

// nextReport reads one line of the shim; the word is empty at the end.
func nextReport(status *bufio.Scanner) (word string, n int) {
	if !status.Scan() {
		return "", 0
	}
	word, number, _ := strings.Cut(status.Text(), " ")
	n, _ = strconv.Atoi(number)
	return word, n
}

// refused explains why the kernel would not execute path.
func refused(spec Spec, path, word string, n int) error {
	e := &StartError{Command: spec.Argv[0], Path: path, Reason: ErrStart, Cause: errors.New("its guard process ended early")}
	if word != "failed" {
		return e
	}
	errno := syscall.Errno(n)
	e.Cause = errno
	switch {
	case errno == syscall.ENOENT || errno == syscall.ENOTDIR || errno == syscall.ELOOP:
		e.Path, e.Reason = interpreter(path), ErrInterpreterMissing
	case errno == syscall.EACCES || errno == syscall.ENOEXEC:
		e.Path, e.Reason = interpreter(path), ErrNotExecutable
	}
	return e
}

// executable reports whether path is a file with an execute bit.
func executable(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, syscall.ENOTDIR) {
		return path, fs.ErrNotExist
	}
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		err = fs.ErrPermission
	}
	return path, err
}

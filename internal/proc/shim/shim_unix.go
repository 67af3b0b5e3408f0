//go:build unix

package shim

import (
	"os"
	"syscall"
	"time"
)

func init() {
	if len(os.Args) > 5 && os.Args[0] == Marker {
		// Not os.Exit: nothing of the program is to be wound up.
		syscall.Exit(run(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5:]))
	}
}

// custody is one child and everything that descends from it.
type custody struct {
	child  int
	group  string                  // the control group the child is in; empty when in none
	asked  chan byte               // what ControlFD says; orphaned once we are dead
	exited chan syscall.WaitStatus // the child's own end, once
	gone   chan struct{}           // closed when no descendant is left
}

// orphaned stands for end of file on ControlFD. It is no byte we send.
const orphaned = 0

func run(graceMS, files, group, path string, argv []string) int {
	syscall.CloseOnExec(ControlFD)
	syscall.CloseOnExec(StatusFD)
	_ = syscall.SetNonblock(ControlFD, false)
	keepDescriptors()
	adoptOrphans()

	pid, group, err := fork(group, path, argv, descriptors(atoi(files)))
	if err != nil {
		errno, _ := err.(syscall.Errno)
		report("failed", int(errno))
		return 127
	}
	for _, fd := range descriptors(atoi(files)) { // or the pipes would not close with the child
		_ = syscall.Close(int(fd))
	}
	report("started", pid)

	c := &custody{
		child:  pid,
		group:  group,
		asked:  make(chan byte),
		exited: make(chan syscall.WaitStatus, 1),
		gone:   make(chan struct{}),
	}
	go c.listen()
	go c.reap()
	return c.guard(time.Duration(atoi(graceMS)) * time.Millisecond)
}

// descriptors are what the child gets as 0, 1, 2 and on: ours, but for the two
// the shim keeps for itself.
func descriptors(files int) []uintptr {
	fds := []uintptr{0, 1, 2}
	for i := range files {
		fds = append(fds, uintptr(StatusFD+1+i))
	}
	return fds
}

// fork starts the child in its control group, or without one where the kernel
// does not put it there, and returns the group it is in.
func fork(group, path string, argv []string, files []uintptr) (pid int, in string, err error) {
	attr := &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true}, // so that a "kill 0" of the child spares us
	}
	if fd, ok := openGroup(group); ok {
		pid, err = forkInto(fd, path, argv, *attr)
		_ = syscall.Close(fd)
		if err == nil {
			return pid, group, nil
		}
	}
	refused := err
	pid, err = syscall.ForkExec(path, argv, attr)
	if errno, ok := refused.(syscall.Errno); ok && err == nil {
		report("ungrouped", int(errno))
	}
	return pid, "", err
}

// guard waits for the child's end or for the word to end it, ends what is left
// of the tree and returns the status to exit with.
func (c *custody) guard(grace time.Duration) int {
	var ws syscall.WaitStatus
	ended := false
	select {
	case ws = <-c.exited:
		ended = true
	case how := <-c.asked:
		grace = shorten(grace, how)
	}
	left := c.end(grace)
	if left > 0 {
		report("left", left)
	}
	if c.group != "" {
		_ = syscall.Rmdir(c.group)
	}
	if !ended {
		select {
		case ws = <-c.exited:
		default: // it withstood SIGKILL
			return 128 + int(syscall.SIGKILL)
		}
	}
	if ws.Signaled() {
		report("signaled", int(ws.Signal()))
		return 128 + int(ws.Signal())
	}
	report("exited", ws.ExitStatus())
	return ws.ExitStatus()
}

// end brings the tree down and returns how many processes are left: none,
// unless some withstood SIGKILL until giveUp.
func (c *custody) end(grace time.Duration) int {
	if c.waitGone(settle) {
		return 0
	}
	if grace > 0 {
		terminateTree(c.child)
		if c.waitAsked(grace) {
			return 0
		}
	}
	if c.killGroup() && c.waitGone(groupDies) {
		return 0
	}
	for deadline := time.Now().Add(giveUp); time.Now().Before(deadline); {
		killTree(c.child)
		if c.waitGone(killAgain) {
			return 0
		}
	}
	return countTree(c.child)
}

// killGroup kills what is in the child's control group, at once and however it
// forks, and reports whether there is one.
func (c *custody) killGroup() bool {
	if c.group == "" {
		return false
	}
	fd, err := syscall.Open(c.group+"/cgroup.kill", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	_, err = syscall.Write(fd, []byte("1"))
	_ = syscall.Close(fd)
	return err == nil
}

func (c *custody) waitGone(d time.Duration) bool {
	select {
	case <-c.gone:
		if !strays(c.child) {
			return true
		}
		time.Sleep(d)
		return !strays(c.child)
	case <-time.After(d):
		return false
	}
}

// waitAsked is waitGone that a later word can cut short.
func (c *custody) waitAsked(grace time.Duration) bool {
	deadline := time.Now().Add(grace)
	for {
		select {
		case <-c.gone:
			return !strays(c.child)
		case how := <-c.asked:
			if d := time.Now().Add(shorten(grace, how)); d.Before(deadline) {
				deadline = d
			}
		case <-time.After(time.Until(deadline)):
			return false
		}
	}
}

func shorten(grace time.Duration, how byte) time.Duration {
	switch how {
	case Kill:
		return 0
	case orphaned:
		return min(grace, orphanGrace)
	}
	return grace
}

// listen passes on what ControlFD says until its end.
func (c *custody) listen() {
	var b [1]byte
	for {
		n, err := syscall.Read(ControlFD, b[:])
		switch {
		case err == syscall.EINTR:
		case n == 1:
			c.asked <- b[0]
		default:
			c.asked <- orphaned
			return
		}
	}
}

// reap collects every descendant that dies, and so knows when none is left.
func (c *custody) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD
			close(c.gone)
			return
		case pid == c.child:
			c.exited <- ws
		}
	}
}

func report(word string, n int) {
	line := []byte(word + " " + itoa(n) + "\n")
	_, _ = syscall.Write(StatusFD, line) // we may be dead; nobody else to tell
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// atoi reads the digits s starts with.
func atoi(s string) int {
	n := 0
	for i := 0; i < len(s) && s[i] >= '0' && s[i] <= '9' && n < 1<<30; i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}

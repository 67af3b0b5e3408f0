package proc

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a job object that ends with its last handle, so with us.
//
// A program the child starts in the moment before it is put into the job is
// not held: Windows offers no way to start a process inside one through os/exec.
type tree struct{ job windows.Handle }

// end knows no gentle way: a console program has none that others do not hear.
func (t tree) end(bool) { _ = windows.TerminateJobObject(t.job, 1) }

func (t tree) release() { _ = windows.CloseHandle(t.job) }

func (p *Proc) start(spec Spec, path string) error {
	failed := func(err error) error {
		return &StartError{Command: spec.Argv[0], Path: path, Reason: ErrStart, Cause: err}
	}
	if len(spec.Files) > 0 {
		return failed(errors.New("files beyond standard input and output cannot be passed on here"))
	}
	job, err := newJob()
	if err != nil {
		return failed(err)
	}
	cmd := &exec.Cmd{
		Path: path, Args: spec.Argv, Dir: spec.Dir, Env: spec.Env,
		Stdin: spec.Stdin, Stdout: spec.Stdout, Stderr: spec.Stderr, WaitDelay: drainDelay,
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return failed(err)
	}
	p.pid, p.tree = cmd.Process.Pid, tree{job}
	if err := assign(job, uint32(p.pid)); err != nil {
		_, _ = cmd.Process.Kill(), cmd.Wait()
		_ = windows.CloseHandle(job)
		return failed(err)
	}
	go p.watch(cmd)
	return nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("limit job object: %w", err)
	}
	return job, nil
}

func assign(job windows.Handle, pid uint32) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return fmt.Errorf("open the new process: %w", err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	if err := windows.AssignProcessToJobObject(job, h); err != nil {
		return fmt.Errorf("put it into a job object: %w", err)
	}
	return nil
}

// watch follows the child to its end; what it left behind ends with it.
func (p *Proc) watch(cmd *exec.Cmd) {
	state, _ := cmd.Process.Wait()
	p.end(false)
	err := cmd.Wait()
	exit := Exit{Code: -1}
	if state != nil {
		exit.Code = state.ExitCode()
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		p.finish(exit, fmt.Errorf("%s: its output was not closed: %w", cmd.Path, ErrSurvivors))
		return
	}
	p.finish(exit, nil)
}

// executable finds path with one of the extensions of programs.
func executable(path string) (string, error) {
	found, err := exec.LookPath(path)
	if err != nil && strings.Contains(err.Error(), "executable file not found") {
		err = errors.Join(err, windows.ERROR_FILE_NOT_FOUND)
	}
	if err != nil {
		return path, err
	}
	return found, nil
}

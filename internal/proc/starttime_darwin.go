package proc

import "golang.org/x/sys/unix"

func bootID() string {
	id, _ := unix.Sysctl("kern.bootsessionuuid")
	return id
}

// startTime is in microseconds since 1970; 0 for a process that is not there
// or has ended.
func startTime(pid int) uint64 {
	const zombie = 5 // SZOMB
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid || p.Proc.P_stat == zombie {
		return 0
	}
	return uint64(p.Proc.P_starttime.Sec)*1_000_000 + uint64(p.Proc.P_starttime.Usec)
}

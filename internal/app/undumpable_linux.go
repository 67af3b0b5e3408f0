package app

import "golang.org/x/sys/unix"

// undumpable keeps other processes of the user from reading our memory, our
// environment and our files by way of /proc, and a crash from writing them to
// disk. Programs we execute are not affected.
func undumpable() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

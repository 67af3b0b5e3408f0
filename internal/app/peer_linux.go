package app

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer refuses processes of other users; root may read our memory anyway.
func checkPeer(nc net.Conn) error {
	raw, err := nc.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return fmt.Errorf("who is calling: %w", err)
	}
	if uid := int(cred.Uid); uid != os.Getuid() && uid != 0 {
		return fmt.Errorf("process %d belongs to user %d", cred.Pid, uid)
	}
	return nil
}

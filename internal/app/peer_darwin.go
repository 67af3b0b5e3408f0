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
	var cred *unix.Xucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return fmt.Errorf("who is calling: %w", err)
	}
	if uid := int(cred.Uid); uid != os.Getuid() && uid != 0 {
		return fmt.Errorf("a process of user %d", uid)
	}
	return nil
}

//go:build linux || darwin

package app

import (
	"fmt"
	"net"
	"os"
)

// checkPeer refuses processes of other users; root may read our memory anyway.
func checkPeer(nc net.Conn) error {
	unixConn, ok := nc.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("a %s connection has no user", nc.LocalAddr().Network())
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return err
	}
	var uid int
	var uidErr error
	err = raw.Control(func(fd uintptr) { uid, uidErr = peerUID(int(fd)) })
	if err == nil {
		err = uidErr
	}
	if err != nil {
		return fmt.Errorf("who is calling: %w", err)
	}
	if uid != os.Getuid() && uid != 0 {
		return fmt.Errorf("a process of user %d", uid)
	}
	return nil
}

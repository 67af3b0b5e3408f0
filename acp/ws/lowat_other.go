//go:build !linux && !darwin

package ws

import "net"

// wakeEarly does nothing where the system has no such setting.
func wakeEarly(net.Conn) {}

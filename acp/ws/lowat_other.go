//go:build !linux && !darwin

package ws

import "net"

// WakeEarly does nothing on this system, which has no such setting.
func WakeEarly(net.Conn) {}

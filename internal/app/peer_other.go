//go:build !linux && !darwin

package app

import "net"

// checkPeer relies on the permissions of the socket's directory: this system
// does not say who is calling.
func checkPeer(net.Conn) error { return nil }

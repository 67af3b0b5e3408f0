//go:build !linux && !darwin && !windows

package sqlite

// networkFileSystem cannot tell on this system.
func networkFileSystem(string) string { return "" }

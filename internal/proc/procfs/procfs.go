// Package procfs reads what Linux tells about processes in /proc. On other
// systems it is empty.
//
// The shim uses it, so it imports nothing but os (see package shim).
package procfs

//go:build !linux

package cgroup

// Group is a control group. This system has none.
type Group struct{}

// New returns ErrNone.
func New(string) (*Group, error) { return nil, ErrNone }

// Find returns ErrNone.
func Find(string, string) (*Group, error) { return nil, ErrNone }

// Child returns ErrNone.
func (*Group) Child(string) (*Group, error) { return nil, ErrNone }

// Path returns "".
func (*Group) Path() string { return "" }

// Kill returns ErrNone.
func (*Group) Kill() error { return ErrNone }

// Populated reports false.
func (*Group) Populated() bool { return false }

// Remove does nothing.
func (*Group) Remove() error { return nil }

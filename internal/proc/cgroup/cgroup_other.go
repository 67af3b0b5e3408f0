//go:build !linux

package cgroup

// Nest is where the groups of one instance are made. This system has none.
type Nest struct{}

// Open returns ErrNone.
func Open(string) (*Nest, error) { return nil, ErrNone }

// Find returns ErrNone.
func Find(string, string) (*Nest, error) { return nil, ErrNone }

// Dir returns "".
func (*Nest) Dir() string { return "" }

// Make returns ErrNone.
func (*Nest) Make(uint64) (*Group, error) { return nil, ErrNone }

// Left returns nothing.
func (*Nest) Left() []*Group { return nil }

// Group is a control group. This system has none.
type Group struct{}

// Path returns "".
func (*Group) Path() string { return "" }

// Kill returns ErrNone.
func (*Group) Kill() error { return ErrNone }

// Populated reports false.
func (*Group) Populated() bool { return false }

// Remove does nothing.
func (*Group) Remove() error { return nil }

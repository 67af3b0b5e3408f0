package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Nest is where the groups of one instance are made. Its methods are safe for
// concurrent use.
type Nest struct{ dir, id string }

// Open returns the nest of id in the group this process is in. It makes nothing.
func Open(id string) (*Nest, error) {
	own, err := ownPath()
	if err != nil {
		return nil, err
	}
	if err := unix.Access(filepath.Join(own, "cgroup.procs"), unix.W_OK); err != nil {
		return nil, fmt.Errorf("the control group %s is not ours to divide: %w", own, err)
	}
	return &Nest{own, id}, nil
}

// Find returns the nest of id that is elsewhere, by its directory: a path that
// comes from a file and is trusted only as far as it lies in the hierarchy.
func Find(dir, id string) (*Nest, error) {
	var st unix.Statfs_t
	switch {
	case !filepath.IsAbs(dir) || dir != filepath.Clean(dir):
		return nil, fmt.Errorf("%q is no control group", dir)
	case unix.Statfs(dir, &st) != nil:
		return nil, fs.ErrNotExist
	case int64(st.Type) != unix.CGROUP2_SUPER_MAGIC:
		return nil, fmt.Errorf("%s is no control group", dir)
	}
	return &Nest{dir, id}, nil
}

// Dir is the directory the groups are made in.
func (n *Nest) Dir() string { return n.dir }

// Make makes a group. The serial is not in use in this nest.
func (n *Nest) Make(serial uint64) (*Group, error) {
	g := &Group{filepath.Join(n.dir, fmt.Sprintf("%s%s.%d", prefix, n.id, serial))}
	if err := os.Mkdir(g.path, 0o755); err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	if _, err := os.Stat(g.file("cgroup.kill")); err != nil {
		return nil, errors.Join(ErrNoKill, g.Remove())
	}
	return g, nil
}

// Left lists the groups that are in the nest.
func (n *Nest) Left() []*Group {
	entries, _ := os.ReadDir(n.dir)
	var left []*Group
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), prefix+n.id+".") {
			left = append(left, &Group{filepath.Join(n.dir, e.Name())})
		}
	}
	return left
}

// Group is a control group. Its methods are safe for concurrent use.
type Group struct{ path string }

// Path is the directory of the group.
func (g *Group) Path() string { return g.path }

func (g *Group) file(name string) string { return filepath.Join(g.path, name) }

// Kill ends every process in the group and in those below it, also those that
// are being forked.
func (g *Group) Kill() error { return os.WriteFile(g.file("cgroup.kill"), []byte("1"), 0) }

// Populated reports whether processes are left in the group or below it.
func (g *Group) Populated() bool {
	events, err := os.ReadFile(g.file("cgroup.events"))
	return err == nil && bytes.Contains(events, []byte("populated 1"))
}

// Remove removes the group and those below it. None may hold a process.
func (g *Group) Remove() error {
	err := unix.Rmdir(g.path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	entries, _ := os.ReadDir(g.path) // groups that a child made, as Grapnel does
	for _, e := range entries {
		if e.IsDir() {
			_ = (&Group{g.file(e.Name())}).Remove()
		}
	}
	if err = unix.Rmdir(g.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the control group %s: %w", g.path, err)
	}
	return nil
}

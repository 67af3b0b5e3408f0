package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Group is a control group. Its methods are safe for concurrent use.
type Group struct{ path string }

// New makes the group "grapnel-<id>" below the one this process is in.
func New(id string) (*Group, error) {
	own, err := ownPath()
	if err != nil {
		return nil, err
	}
	g, err := mkdir(filepath.Join(own, prefix+id))
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(g.file("cgroup.kill")); err != nil {
		return nil, errors.Join(ErrNoKill, g.Remove())
	}
	if err := unix.Access(g.file("cgroup.procs"), unix.W_OK); err != nil {
		return nil, errors.Join(fmt.Errorf("the control group %s takes no processes: %w", g.path, err), g.Remove())
	}
	return g, nil
}

// Find returns the group that New made for id elsewhere, by its path: a path
// that comes from a file and is trusted only as far as it looks like ours.
func Find(path, id string) (*Group, error) {
	var st unix.Statfs_t
	switch {
	case !filepath.IsAbs(path) || path != filepath.Clean(path) || filepath.Base(path) != prefix+id:
		return nil, fmt.Errorf("%s is no control group of %s", path, id)
	case unix.Statfs(path, &st) != nil:
		return nil, fs.ErrNotExist
	case int64(st.Type) != unix.CGROUP2_SUPER_MAGIC:
		return nil, fmt.Errorf("%s is no control group", path)
	}
	return &Group{path}, nil
}

// Child makes a group within this one.
func (g *Group) Child(name string) (*Group, error) { return mkdir(filepath.Join(g.path, name)) }

func mkdir(path string) (*Group, error) {
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, fmt.Errorf("make a control group: %w", err)
	}
	return &Group{path}, nil
}

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

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc/cgroup"
	"github.com/grapnel-ai/grapnel/internal/proc/lease"
)

const (
	// reapBound is how long what survived a crash may withstand SIGKILL.
	reapBound = time.Second
	// reapPause is the time between two looks at it.
	reapPause = 5 * time.Millisecond
)

// Reap ends what instances that died left running, and removes their control
// groups and temporary files. It returns how many processes it ended; the error
// names those it could not end. Children of instances that live are not touched.
func (c *Custody) Reap() (ended int, err error) {
	if c.opts.Dir == "" || !leavesOrphans {
		return 0, nil
	}
	records, _ := filepath.Glob(filepath.Join(escapeGlob(c.opts.Dir), "*"+lease.Suffix))
	for _, path := range records {
		id := strings.TrimSuffix(filepath.Base(path), lease.Suffix)
		if id == c.opts.ID || c.opts.Alive(id) {
			continue
		}
		n, reapErr := c.reap(path, id)
		ended += n
		err = errors.Join(err, reapErr)
	}
	return ended, err
}

// escapeGlob makes a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// reap ends what one dead instance left. Its record goes last, so that a crash
// of ours in between changes nothing.
func (c *Custody) reap(path, id string) (int, error) {
	head, children, err := lease.Read(path)
	switch now := here(); {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil // somebody else was faster
	case err == nil && head.Boot != now.Boot:
		return 0, errors.Join(removeTemp(head.Temp, id), os.Remove(path))
	case err == nil && head.Space != now.Space:
		return 0, nil // of another container: its numbers mean nothing here
	}
	groups := groupsOf(head.Groups, id)
	for _, g := range groups {
		_ = g.Kill()
	}
	s := sought{id: id, known: make(map[int]uint64), alive: c.opts.Alive}
	for _, child := range children {
		s.add(child.Pid, child.Start)
		s.add(child.Guard, child.GuardStart)
	}
	ended, left := s.end(reapBound)
	if len(left) > 0 {
		return ended, fmt.Errorf("processes %v of a grapnel that died cannot be ended; end them by hand", left)
	}
	for _, g := range groups {
		remove(g)
	}
	return ended, errors.Join(removeTemp(head.Temp, id), os.Remove(path))
}

// groupsOf are the control groups of an instance's children.
func groupsOf(dir, id string) []*cgroup.Group {
	n, err := cgroup.Find(dir, id)
	if err != nil {
		return nil
	}
	return n.Left()
}

// remove removes a group once it is empty.
func remove(g *cgroup.Group) {
	for deadline := time.Now().Add(reapBound); g.Remove() != nil && time.Now().Before(deadline); {
		_ = g.Kill()
		time.Sleep(reapPause)
	}
}

// removeTemp removes the directory of an instance's temporary files. The path
// comes from a file: only what looks like ours is touched.
func removeTemp(path, id string) error {
	if info, err := os.Lstat(path); !filepath.IsAbs(path) || filepath.Base(path) != "grapnel-"+id || err != nil || !info.IsDir() {
		return nil
	}
	return os.RemoveAll(path)
}

// sought says which processes to find: those of all children of an instance, or
// of one.
type sought struct {
	id     string
	serial uint64         // 0 for all
	known  map[int]uint64 // recorded processes, by id, with their start
	alive  func(id string) bool
}

// add adds a recorded process. One whose start is not known could be anybody by
// now.
func (s *sought) add(pid int, start uint64) {
	if pid > 1 && start != 0 {
		s.known[pid] = start
	}
}

// owns reports whether a mark is that of a process sought.
func (s *sought) owns(mark string) bool {
	if s.serial != 0 {
		return mark == fmt.Sprintf("%s.%d", s.id, s.serial)
	}
	id, _, _ := strings.Cut(mark, ".")
	return id == s.id
}

// foreign reports whether a mark is that of another instance, which lives.
func (s *sought) foreign(mark string) bool {
	id, _, ok := strings.Cut(mark, ".")
	return ok && id != s.id && s.alive != nil && s.alive(id)
}

package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/grapnel-ai/grapnel/internal/proc/cgroup"
	"github.com/grapnel-ai/grapnel/internal/proc/lease"
)

// MarkVar is the environment variable by which a child and what descends from
// it is known as ours: "<instance>.<serial>". No child is given another's.
const MarkVar = "GRAPNEL_LEASE"

// Options say whose children a Custody keeps.
type Options struct {
	// Dir is the directory of the records of children, shared by all instances;
	// empty keeps none, and what survives a crash of this process and of a
	// child's guard at once is then never found again.
	Dir string
	// ID names the instance; it is safe in file names and has no dot.
	ID string
	// Alive says whether another instance still runs. Required with Dir.
	Alive func(id string) bool
}

// Custody starts the children of one instance and knows them: each is marked,
// recorded, and in a control group of its own where the system has them. A nil
// *Custody starts children all the same, with their guard alone. It is safe for
// concurrent use.
type Custody struct {
	opts     Options
	openNest func(id string) (*cgroup.Nest, error)
	serial   atomic.Uint64

	prepare sync.Once // nest, noNest, record, at the first child
	nest    *cgroup.Nest
	noNest  error
	record  *lease.File
	refused atomic.Pointer[error] // why no child can be put into a group after all
}

// NewCustody returns the custody of one instance. Nothing is made before the
// first child.
func NewCustody(o Options) *Custody { return &Custody{opts: o, openNest: cgroup.Open} }

// Start starts a child as the function Start does.
func (c *Custody) Start(ctx context.Context, spec Spec) (*Proc, error) {
	if c == nil {
		return start(ctx, spec, nil)
	}
	c.prepare.Do(c.open)
	return start(ctx, spec, c.enter())
}

// open makes what children are held by. What cannot be made is done without:
// their guards hold them.
func (c *Custody) open() {
	c.nest, c.noNest = c.openNest(c.opts.ID)
	if c.opts.Dir == "" || !leavesOrphans {
		return
	}
	head := here()
	head.Temp = c.tempPath()
	if c.nest != nil {
		head.Groups = c.nest.Dir()
	}
	c.record, _ = lease.Create(c.recordPath(c.opts.ID), head)
}

func (c *Custody) recordPath(id string) string {
	return filepath.Join(c.opts.Dir, id+lease.Suffix)
}

func (c *Custody) tempPath() string { return filepath.Join(os.TempDir(), "grapnel-"+c.opts.ID) }

// Temp makes the directory for temporary files of this instance and its
// children, readable by nobody else, and returns its path. It is removed by
// Close, and after a crash at the next start.
func (c *Custody) Temp() (string, error) {
	c.prepare.Do(c.open)
	dir := c.tempPath()
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("make a directory for temporary files: %w; set TMPDIR to one that can be written", err)
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return "", fmt.Errorf("the directory for temporary files %s is not as it was made; remove it", dir)
	}
	return dir, nil
}

// Grouped returns why children are in no control groups, nil when they are. It
// is known once a child has been started.
func (c *Custody) Grouped() error {
	if err := c.refused.Load(); err != nil {
		return *err
	}
	return c.noNest
}

// Close gives up what children were held by. All children have ended; what is
// left of one that has not is kept for the next start.
func (c *Custody) Close() error {
	c.prepare.Do(func() {}) // nothing was started: nothing to give up
	_ = os.RemoveAll(c.tempPath())
	if c.record == nil {
		return nil
	}
	return c.record.Close()
}

// entry is the place of one child in a Custody.
type entry struct {
	custody *Custody
	serial  uint64
	group   *cgroup.Group // nil when it is in none
	line    int           // in the record; -1 when it is not there
	pid     int
	start   uint64
}

func (c *Custody) enter() *entry {
	e := &entry{custody: c, serial: c.serial.Add(1), line: -1}
	if c.nest == nil || c.refused.Load() != nil {
		return e
	}
	var err error
	if e.group, err = c.nest.Make(e.serial); err != nil {
		c.refused.Store(&err)
	}
	return e
}

// mark is added to the environment of the child.
func (e *entry) mark(env []string) []string {
	if e == nil {
		return env
	}
	return append(env[:len(env):len(env)], fmt.Sprintf("%s=%s.%d", MarkVar, e.custody.opts.ID, e.serial))
}

// groupPath is the directory of the child's control group, "" without one.
func (e *entry) groupPath() string {
	if e == nil || e.group == nil {
		return ""
	}
	return e.group.Path()
}

// ungrouped notes that the child could not be put into its group. The next ones
// do not try.
func (e *entry) ungrouped(cause error) {
	err := fmt.Errorf("the system puts no process into the control group %s: %w", e.group.Path(), cause)
	e.custody.refused.Store(&err)
	_ = e.group.Remove()
	e.group = nil
}

// started records the child and its guard.
func (e *entry) started(pid, guard int) {
	if e == nil {
		return
	}
	e.pid, e.start = pid, startTime(pid)
	if e.custody.record == nil {
		return
	}
	c := lease.Child{Serial: e.serial, Pid: pid, Start: e.start, Guard: guard, GuardStart: startTime(guard)}
	if line, err := e.custody.record.Put(c); err == nil {
		e.line = line
	}
}

// kill ends the child's group at once, where it is in one.
func (e *entry) kill() {
	if e != nil && e.group != nil {
		_ = e.group.Kill()
	}
}

// hunt ends the child and all that descends from it without its guard.
func (e *entry) hunt() (left []int) {
	e.kill()
	s := sought{id: e.custody.opts.ID, serial: e.serial, known: make(map[int]uint64), alive: e.custody.opts.Alive}
	s.add(e.pid, e.start)
	_, left = s.end(reapBound)
	return left
}

// leave forgets the child: it has ended with all it started. Else what is left
// stays on record.
func (e *entry) leave(whole bool) {
	if e == nil {
		return
	}
	if e.group != nil {
		_ = e.group.Remove()
	}
	if whole && e.line >= 0 {
		_ = e.custody.record.Clear(e.line)
	}
}

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// Session is what the commands of one session may reach.
type Session struct {
	// Use is the configured rung: Auto, one of the rungs, or None.
	Use Rung
	// Required refuses commands where no rung works.
	Required bool
	// Roots can be read and written. They are real paths, as they were when the
	// session was opened; what has become something else since is not granted.
	Roots []string
	// Readable can be read besides.
	Readable []string
	// Forbidden paths are out of sight also where a root holds them. A root at
	// or below a forbidden path is granted all the same.
	Forbidden []string
	// Own are Grapnel's own files, out of sight without exception.
	Own []string
	// Cache is the directory of the agent's caches, "" for none.
	Cache string
}

// Box confines the commands of one session. It is safe for concurrent use.
type Box struct {
	ladder  *Ladder
	session Session

	mu     sync.Mutex
	tmp    string // made when first needed
	tmpErr error
	closed bool
	found  map[bool]*scene // what is installed, by Want.Everything
}

// Open returns the box of a session. It touches nothing before it is used.
func (l *Ladder) Open(s Session) *Box { return &Box{ladder: l, session: s} }

// Status returns the rung that confines the session's commands. The first call
// in a process tries the rungs, which takes some milliseconds each and at most
// a few seconds where one hangs. The error is only of ctx.
func (b *Box) Status(ctx context.Context) (Status, error) { return b.ladder.Find(ctx, b.session.Use) }

// Required reports whether commands are refused where no rung works.
func (b *Box) Required() bool { return b.session.Required }

// Confine returns the spec of a command that runs s confined. Where no rung
// works it returns s as it is, or ErrRequired. What it returns is for one
// start.
func (b *Box) Confine(ctx context.Context, w Want, s proc.Spec) (proc.Spec, error) {
	st, err := b.Status(ctx)
	if err != nil {
		return s, err
	}
	if !st.Works() {
		if b.session.Required {
			return s, ErrRequired
		}
		return s, nil
	}
	if s.Env == nil {
		s.Env = proc.Environ(os.Environ())
	}
	if s.Dir == "" {
		s.Dir = "/"
	}
	program, err := proc.Look(s)
	if err != nil {
		return s, err
	}
	if s.Env, err = b.environ(st, w, s.Env); err != nil {
		return s, err
	}
	v := b.view(st, w, program)
	confined, err := b.ladder.wrap(st, v, w, program, s)
	if err != nil {
		return s, fmt.Errorf("the sandbox (%s) could not be set up: %w", st.Rung, err)
	}
	return confined, nil
}

// wrap says the view in the words of the rung.
func (l *Ladder) wrap(st Status, v view, w Want, program string, s proc.Spec) (proc.Spec, error) {
	switch st.Rung {
	case Bubblewrap:
		return l.bubblewrap(v, w, program, s)
	case Landlock:
		return confineByLandlock(v, w, st.ABI, program, s)
	case Seatbelt:
		return seatbelt(v, w, program, s), nil
	}
	return s, fmt.Errorf("there is no rung %q", st.Rung)
}

// view works out what a command sees. The deepest place holds, so that the
// order of what follows matters only for one and the same path.
func (b *Box) view(st Status, w Want, program string) view {
	s, roots := newScene(), b.roots()
	if w.Everything {
		s.places["/"] = place{path: "/", access: readWrite, dir: true}
		s.add("/sys", readOnly)
	}
	b.hide(s, b.session.Forbidden, nil)
	s.take(b.installed(st, w))
	for _, p := range w.Readable {
		b.install(s, p, w)
	}
	for _, p := range w.Writable {
		b.lend(s, p)
	}
	if !withinAny(program, roots) {
		b.install(s, program, w)
	}
	for _, dir := range roots {
		s.add(dir, b.rootAccess(w))
		b.repository(s, st, w, dir)
	}
	b.hide(s, b.session.Own, roots)
	if b.session.Cache != "" && !w.Everything {
		s.add(b.session.Cache, readWrite)
	}
	b.private(s, st, w)
	return s.view()
}

func (b *Box) rootAccess(w Want) access {
	if w.ReadOnly {
		return readOnly
	}
	return readWrite
}

// roots returns the session's directories that are still what they were: one
// that a command has replaced by a link must not take the grant elsewhere.
func (b *Box) roots() []string {
	var list []string
	for _, dir := range b.session.Roots {
		if real, err := filepath.EvalSymlinks(dir); err == nil && real == filepath.Clean(dir) {
			list = append(list, real)
		}
	}
	return list
}

// hide takes paths out of sight, and what they lead to. Of the roots, those
// that lie in one are taken back.
func (b *Box) hide(s *scene, paths, roots []string) {
	for _, p := range paths {
		for _, p := range []string{filepath.Clean(p), realOf(p)} {
			info, err := os.Lstat(p)
			if err != nil {
				continue
			}
			for _, r := range roots {
				if within(r, p) {
					delete(s.places, r)
				}
			}
			s.places[p] = place{path: p, access: hidden, dir: info.IsDir()}
		}
	}
}

func realOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// installedFor is how long what is installed is taken to be the same. Commands
// cannot change it, and to look takes longer than all the rest.
const installedFor = 10 * time.Second

// installed returns what can be read because it is installed.
func (b *Box) installed(st Status, w Want) *scene {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.found[w.Everything]; s != nil && time.Since(s.made) < installedFor {
		return s
	}
	s := newScene()
	writable := append(slices.Clone(b.session.Roots), b.session.Cache, b.ladder.opts.Temp)
	for _, p := range toolchains(b.ladder.opts.Home, filepath.SplitList(b.ladder.opts.Path), writable) {
		b.install(s, p, w)
	}
	b.etc(s, st, w)
	for _, p := range b.session.Readable {
		b.install(s, p, w)
	}
	if b.found == nil {
		b.found = make(map[bool]*scene)
	}
	b.found[w.Everything] = s
	return s
}

// install grants reading what is installed, unless it is forbidden. What
// programs need to start is readable in any case.
func (b *Box) install(s *scene, path string, w Want) {
	real, ok := s.follow(path)
	if !ok || withinAny(real, b.session.Own) {
		return
	}
	forbidden := withinAny(real, b.session.Forbidden)
	if forbidden && !withinAny(path, systemPlaces()) && !withinAny(path, etcPlaces()) {
		return
	}
	if w.Everything && !forbidden {
		return // granted with the rest, writable
	}
	s.add(path, readOnly)
}

// lend grants writing to a place that the command was given, unless it is
// forbidden.
func (b *Box) lend(s *scene, path string) {
	real, ok := s.follow(path)
	if ok && !withinAny(real, b.session.Own) && !withinAny(real, b.session.Forbidden) {
		s.add(path, readWrite)
	}
}

// etc grants what programs need of /etc, also where it is forbidden. With mounts
// it is a copy, which is one mount.
func (b *Box) etc(s *scene, st Status, w Want) {
	if w.Everything && !withinAny("/etc", b.session.Forbidden) {
		return
	}
	if st.Rung == Bubblewrap {
		if dir, err := b.ladder.etc(); err == nil {
			for _, root := range b.roots() {
				if rest, ok := strings.CutPrefix(root, "/etc/"); ok {
					_ = os.MkdirAll(filepath.Join(dir, rest), 0o755) // to be mounted on
				}
			}
			s.places["/etc"] = place{path: "/etc", access: readOnly, dir: true, source: dir}
			return
		}
	}
	for _, p := range etcPlaces() {
		b.install(s, p, w)
	}
}

// repository grants the repository directories of a working tree that lie
// elsewhere, and withholds what makes git run programs.
func (b *Box) repository(s *scene, st Status, w Want, root string) {
	dirs := gitDirs(root)
	for _, dir := range dirs {
		if withinAny(dir, b.session.Own) || withinAny(dir, b.session.Forbidden) && !within(dir, root) {
			return
		}
	}
	for _, dir := range dirs {
		s.places[dir] = place{path: dir, access: b.rootAccess(w), dir: true, guard: within(dir, root)}
	}
	if len(dirs) == 0 || w.GitSettings || w.Everything || w.ReadOnly || st.Rung == Landlock {
		return
	}
	for _, p := range gitGuards(dirs[0]) {
		info, err := os.Lstat(p)
		if err == nil {
			s.places[p] = place{path: p, access: readOnly, dir: info.IsDir(), guard: true}
		}
	}
}

// private puts the session's own directory where temporary files go.
func (b *Box) private(s *scene, st Status, w Want) {
	if w.Everything {
		return
	}
	tmp, err := b.temp()
	if err != nil {
		return // environ has said so
	}
	if st.Rung != Bubblewrap {
		s.add(tmp, readWrite)
		return
	}
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		if _, taken := s.places[dir]; !taken {
			s.places[dir] = place{path: dir, access: readWrite, dir: true, source: tmp}
		}
	}
}

// temp returns the session's directory for temporary files.
func (b *Box) temp() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return "", errClosed
	}
	if b.tmp == "" && b.tmpErr == nil {
		b.tmp, b.tmpErr = b.ladder.makeTemp()
	}
	return b.tmp, b.tmpErr
}

var errClosed = errors.New("its session is closed")

// Close removes the session's temporary files. Nothing of the session may run
// any more.
func (b *Box) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.tmp == "" {
		return nil
	}
	return removeAll(b.tmp)
}

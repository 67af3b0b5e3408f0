package sandbox

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// bwrap is the bubblewrap that works here.
type bwrap struct {
	path string
	// plain is an old one that cannot forbid further user namespaces; the
	// system call filter does.
	plain bool
	root  bool // we are the root user
}

// filterFD is the descriptor bubblewrap reads the system call filter from.
const filterFD = "3"

var errNoBubblewrap = errors.New("bwrap is not installed")

// fixInstall is for most people the way to a working sandbox.
const fixInstall = "install bubblewrap with your package manager, for example: sudo apt install bubblewrap"

func (l *Ladder) probeBubblewrap(ctx context.Context) attempt {
	path := l.findBubblewrap()
	if path == "" {
		return attempt{err: errNoBubblewrap, fix: fixInstall}
	}
	var err error
	root := os.Getuid() == 0
	for _, b := range []bwrap{{path: path, root: root}, {path: path, root: root, plain: true}} {
		again := l.run(ctx, Bubblewrap, func(v view, program string, s proc.Spec) (proc.Spec, error) {
			return b.wrap(v, Want{}, program, s)
		})
		if again == nil {
			return attempt{bwrap: b}
		}
		err = cmp.Or(err, again)
		if errors.Is(again, errNotConfined) || ctx.Err() != nil {
			break
		}
	}
	return attempt{err: err, fix: namespaceFix()}
}

// findBubblewrap prefers the system's own: a directory of PATH may be one that
// a command can write.
func (l *Ladder) findBubblewrap() string {
	if l.opts.Bubblewrap != "" {
		return l.opts.Bubblewrap
	}
	dirs := append([]string{"/usr/bin", "/usr/local/bin", "/run/wrappers/bin", "/run/current-system/sw/bin"}, filepath.SplitList(l.opts.Path)...)
	for _, dir := range dirs {
		path := filepath.Join(dir, "bwrap")
		if info, err := os.Stat(path); filepath.IsAbs(path) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

func (l *Ladder) bubblewrap(v view, w Want, program string, s proc.Spec) (proc.Spec, error) {
	a, err := l.try(context.Background(), Bubblewrap) // done long ago
	if err != nil {
		return s, err
	}
	return a.bwrap.wrap(v, w, program, s)
}

// wrap returns the spec that runs s under bubblewrap.
func (b bwrap) wrap(v view, w Want, program string, s proc.Spec) (proc.Spec, error) {
	filter, err := filterFile(withheld{
		// The network's namespace is also that of abstract sockets, and with
		// everything in sight there are sockets of daemons that do as told.
		unix: w.Network || w.Everything,
	})
	if err != nil {
		return s, err
	}
	argv := b.options(v, w)
	argv = append(argv, "--seccomp", filterFD, "--chdir", s.Dir, "--", program)
	s.Argv = append(argv, s.Argv[1:]...)
	s.Dir = "/"
	s.Files = append([]*os.File{filter}, s.Files...)
	return s, nil
}

// options are the arguments up to the program.
func (b bwrap) options(v view, w Want) []string {
	argv := []string{
		b.path, "--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
		"--unshare-cgroup-try", "--cap-drop", "ALL",
	}
	if !b.plain {
		argv = append(argv, "--disable-userns")
	}
	if !w.Network {
		argv = append(argv, "--unshare-net") // with a loopback of its own
	}
	return append(argv, b.mounts(v)...)
}

// mounts says the view in bubblewrap's words.
func (b bwrap) mounts(v view) []string {
	var argv, after []string
	top, whole := v.at("/")
	if whole {
		argv = append(argv, bind(top)...)
	} else {
		after = append(after, "--remount-ro", "/")
	}
	argv = append(argv, "--proc", "/proc")
	if b.root {
		for _, path := range kernelSettings() {
			argv = append(argv, "--ro-bind-try", path, path)
		}
	}
	argv = append(argv, "--dev", "/dev")
	for _, step := range v.steps() {
		if step.place == nil {
			argv = append(argv, "--symlink", v.links[step.path], step.path)
			continue
		}
		argv = append(argv, bind(*step.place)...)
		if step.place.access == hidden && step.place.dir {
			after = append(after, "--remount-ro", step.path)
		}
	}
	return append(argv, after...)
}

// kernelSettings are what a root user may write in a fresh /proc also without
// any capability, for they check only who owns them.
func kernelSettings() []string {
	return []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi"}
}

func bind(p place) []string {
	switch {
	case p.access == hidden && p.dir:
		return []string{"--tmpfs", p.path}
	case p.access == hidden:
		return []string{"--ro-bind", "/dev/null", p.path}
	case p.access == readOnly:
		return []string{"--ro-bind", cmp.Or(p.source, p.path), p.path}
	}
	return []string{"--bind", cmp.Or(p.source, p.path), p.path}
}

// step is a place or a link to make.
type step struct {
	path  string
	place *place // nil for a link
}

// steps leaves out what is there already when what is above has been made.
func (v view) steps() []step {
	var steps []step
	for i, p := range v.places {
		above, ok := v.above(p.path)
		switch {
		case p.path == "/":
		case !ok && p.access == hidden:
		case ok && above.access == p.access && !p.guard && p.source == above.source && p.access != hidden:
		case ok && above.access == hidden && p.access == hidden:
		default:
			steps = append(steps, step{p.path, &v.places[i]})
		}
	}
	for path := range v.links {
		if above, ok := v.above(path); !ok || above.access == hidden || above.source != "" {
			if _, taken := v.at(path); !taken && !strings.HasPrefix(path, "/proc/") {
				steps = append(steps, step{path: path})
			}
		}
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.path, b.path) })
	return steps
}

// at returns the place of that very path.
func (v view) at(path string) (place, bool) {
	i, ok := slices.BinarySearchFunc(v.places, path, func(p place, path string) int { return cmp.Compare(p.path, path) })
	if !ok {
		return place{}, false
	}
	return v.places[i], true
}

package sandbox

import (
	"context"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/sandbox/shim"
)

// Versions of Landlock with which something changes for us.
const (
	abiRefer    = 2 // renaming from one directory to another
	abiTruncate = 3 // of a file by its path
	abiNet      = 4
	abiIoctl    = 5
	abiScope    = 6 // signals and abstract sockets
	abiUnix     = 9 // sockets in the file system
)

var errNoLandlock = errors.New("this kernel has no Landlock, or it is switched off")

func (l *Ladder) probeLandlock(ctx context.Context) attempt {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || abi < 1 {
		return attempt{err: errNoLandlock, fix: "use a kernel from 5.13 on with landlock among its security modules (lsm=landlock,…)"}
	}
	a := attempt{abi: int(abi)}
	if l.opts.MaxABI > 0 {
		a.abi = min(a.abi, l.opts.MaxABI)
	}
	a.err = l.run(ctx, Landlock, func(v view, program string, s proc.Spec) (proc.Spec, error) {
		return confineByLandlock(v, Want{}, a.abi, program, s)
	})
	return a
}

// handled is what is restricted at a version of Landlock.
func handled(abi int, w Want) unix.LandlockRulesetAttr {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_REFER - 1} // all of the first version
	add := func(since int, set *uint64, bits uint64) {
		if abi >= since {
			*set |= bits
		}
	}
	add(abiRefer, &attr.Handled_access_fs, unix.LANDLOCK_ACCESS_FS_REFER)
	add(abiTruncate, &attr.Handled_access_fs, unix.LANDLOCK_ACCESS_FS_TRUNCATE)
	add(abiIoctl, &attr.Handled_access_fs, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)
	add(abiUnix, &attr.Handled_access_fs, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX)
	add(abiScope, &attr.Scoped, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL)
	if !w.Network {
		add(abiNet, &attr.Handled_access_net, unix.LANDLOCK_ACCESS_NET_BIND_TCP|unix.LANDLOCK_ACCESS_NET_CONNECT_TCP)
	}
	return attr
}

// rights are what is granted in a place: never to make device files.
func rights(a access, dir bool) uint64 {
	set := uint64(unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE)
	if a == readWrite {
		set |= unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if !dir {
		return set
	}
	set |= unix.LANDLOCK_ACCESS_FS_READ_DIR
	if a == readWrite {
		set |= unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
			unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
			unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	}
	return set
}

// confineByLandlock returns the spec that runs s by the shim, which is handed a
// ruleset and a system call filter.
func confineByLandlock(v view, w Want, abi int, program string, s proc.Spec) (proc.Spec, error) {
	ruleset, err := newRuleset(v, handled(abi, w))
	if err != nil {
		return s, err
	}
	filter, err := filterFile(withheld{inet: !w.Network, unix: abi < abiUnix, truncate: abi < abiTruncate})
	if err != nil {
		_ = ruleset.Close()
		return s, err
	}
	s.Argv = append([]string{shim.Self, shim.Marker, program}, s.Argv...)
	s.Files = append([]*os.File{ruleset, filter}, s.Files...)
	return s, nil
}

// newRuleset returns the rules for a view as a descriptor, which enforces them
// on whoever restricts itself by it.
func newRuleset(v view, attr unix.LandlockRulesetAttr) (*os.File, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	ruleset := os.NewFile(fd, "landlock ruleset")
	places := append(v.grants(), place{path: "/proc", access: readOnly, dir: true})
	for _, path := range devices() {
		places = append(places, place{path: path, access: readWrite})
	}
	for _, p := range places {
		if err := addRule(fd, p, attr.Handled_access_fs); err != nil {
			_ = ruleset.Close()
			return nil, err
		}
	}
	return ruleset, nil
}

// addRule grants a place. One that is gone meanwhile, or has become a link, is
// none.
func addRule(ruleset uintptr, p place, handled uint64) error {
	fd, err := unix.Open(p.path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil
	}
	rule := unix.LandlockPathBeneathAttr{
		Allowed_access: rights(p.access, st.Mode&unix.S_IFMT == unix.S_IFDIR) & handled,
		Parent_fd:      int32(fd),
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "landlock_add_rule", Path: p.path, Err: errno}
	}
	return nil
}

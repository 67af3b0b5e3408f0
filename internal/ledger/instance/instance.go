// Package instance says which Grapnel processes live. Every process that owns
// sessions is an instance: it has an id, a lock file "<id>.lock" in the run
// directory that it holds for as long as it lives, and a socket others reach it
// by. An instance is dead exactly when its lock is free; no clock, process id or
// heartbeat is asked.
package instance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	lockSuffix = ".lock"
	sockSuffix = ".sock"
	// doorName is the lock taken while instances come and go, so that no one
	// mistakes a lock file just made for one left behind.
	doorName = "instances" + lockSuffix
	// maxSocketPath is what sun_path holds on the smallest system we run on
	// (darwin: 104 bytes with the closing zero).
	maxSocketPath = 103
	// tempPattern names the directory of a socket whose path would be too long
	// in the run directory.
	tempPattern = "grapnel-run-"
)

// Instance is this process among those that share a run directory. Its methods
// are safe for concurrent use.
type Instance struct {
	dir    string
	id     string
	socket string

	mu   sync.Mutex
	lock *os.File // nil once closed
}

// Peer is another instance.
type Peer struct {
	ID     string
	PID    int    // for messages to people; never asked whether it lives
	Socket string // where it listens
}

// doorBound is how long opening waits for others that are opening, which takes
// milliseconds; one that has the door for longer was stopped.
const doorBound = 10 * time.Second

// Open makes this process an instance in dir, which is created (0700) when it
// is missing, and removes what dead instances left there.
func Open(dir string) (*Instance, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the run directory cannot be made: %w: check the owner and permissions of what it lies in", err)
	}
	door, err := filelock.Open(filepath.Join(dir, doorName))
	if err != nil {
		return nil, fmt.Errorf("the run directory cannot be written: %w: check its owner and permissions", err)
	}
	defer door.Close()
	err = filelock.LockWithin(door, filelock.Exclusive, doorBound)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("the run directory %s is locked by another process (%w): if one was stopped, continue or end it", dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("the run directory %s cannot be locked: %w: choose a configuration directory on a local disk", dir, err)
	}
	sweep(dir)
	return register(dir, session.NewID("i"))
}

// Observe returns a view of the instances in dir without making this process
// one: it has no id and no socket, owns nothing, and changes nothing on disk.
// For commands that come and go while instances run.
func Observe(dir string) *Instance { return &Instance{dir: dir} }

// register makes and locks the files of a new instance. The door is locked.
func register(dir, id string) (*Instance, error) {
	socket, err := socketPath(dir, id)
	if err != nil {
		return nil, err
	}
	in := &Instance{dir: dir, id: id, socket: socket}
	in.lock, err = filelock.Open(lockPath(dir, id))
	if err != nil {
		return nil, fmt.Errorf("make the instance's lock file: %w", err)
	}
	err = filelock.Lock(in.lock, filelock.Exclusive)
	if err == nil {
		_, err = fmt.Fprintf(in.lock, "%d\n%s\n", os.Getpid(), socket)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the instance's lock file: %w", err), in.Close())
	}
	return in, nil
}

// socketPath is dir/<id>.sock, or a place in the system's temporary directory
// when that is longer than a socket address may be.
func socketPath(dir, id string) (string, error) {
	path := filepath.Join(dir, id+sockSuffix)
	if len(path) <= maxSocketPath {
		return path, nil
	}
	temp, err := os.MkdirTemp("", tempPattern)
	if err != nil {
		return "", fmt.Errorf("make a directory for the instance's socket: %w", err)
	}
	path = filepath.Join(temp, "s"+sockSuffix)
	if len(path) > maxSocketPath {
		_ = os.Remove(temp)
		return "", fmt.Errorf("socket path %s is longer than the %d bytes a socket address may have: set TMPDIR to a shorter directory", path, maxSocketPath)
	}
	return path, nil
}

// ID names the instance: "i_" and 26 characters, safe in file names; empty for
// an observer.
func (in *Instance) ID() string { return in.id }

// Socket is the path this instance may listen on. Nothing is there until it
// does.
func (in *Instance) Socket() string { return in.socket }

// Alive reports whether an instance lives: whether its lock is held. What is
// not an instance's id is dead.
func (in *Instance) Alive(id string) bool {
	if id == in.id {
		return in.open()
	}
	return validID(id) && held(lockPath(in.dir, id))
}

func (in *Instance) open() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lock != nil
}

// Peer describes another instance by what its lock file says; false when there
// is none or it is dead.
func (in *Instance) Peer(id string) (Peer, bool) {
	if !validID(id) || !held(lockPath(in.dir, id)) {
		return Peer{}, false
	}
	return readPeer(in.dir, id)
}

// Peers lists the other instances that live now.
func (in *Instance) Peers() []Peer {
	var peers []Peer
	for _, id := range instances(in.dir) {
		if id == in.id {
			continue
		}
		if p, ok := in.Peer(id); ok {
			peers = append(peers, p)
		}
	}
	return peers
}

// Close ends the instance: its files are removed and its lock is free. A
// second call does nothing.
func (in *Instance) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.lock == nil {
		return nil
	}
	f := in.lock
	in.lock = nil
	removeSocket(in.socket)
	// The name goes first, so that nobody finds a free lock of ours; where an
	// open file cannot be removed (Windows) it goes after.
	err := os.Remove(f.Name())
	closeErr := f.Close()
	if err != nil {
		err = os.Remove(f.Name())
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, closeErr)
}

func lockPath(dir, id string) string { return filepath.Join(dir, id+lockSuffix) }

// held reports whether someone holds the lock file at path. The probe is a
// shared lock, so that probes do not mistake each other for a holder, and needs
// no more than reading.
func held(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(filelock.TryLock(f, filelock.Shared), filelock.ErrHeld)
}

func readPeer(dir, id string) (Peer, bool) {
	content, err := os.ReadFile(lockPath(dir, id))
	if err != nil {
		return Peer{}, false
	}
	pid, rest, _ := strings.Cut(string(content), "\n")
	socket, _, _ := strings.Cut(rest, "\n")
	p := Peer{ID: id, Socket: socket}
	p.PID, _ = strconv.Atoi(pid)
	return p, true
}

// instances lists the ids that have a lock file, alive or not.
func instances(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), lockSuffix); ok && validID(id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// sweep removes the files of dead instances. The door is locked, so a lock that
// is free belongs to one that died. What cannot be removed stays: it hurts
// nobody.
func sweep(dir string) {
	for _, id := range instances(dir) {
		if held(lockPath(dir, id)) {
			continue
		}
		if p, ok := readPeer(dir, id); ok {
			removeSocket(p.Socket)
		}
		_ = os.Remove(lockPath(dir, id))
	}
}

// removeSocket removes a socket and, when it had one, its temporary directory.
// The path comes from a file: only what looks like ours is touched.
func removeSocket(path string) {
	if !filepath.IsAbs(path) || filepath.Ext(path) != sockSuffix {
		return
	}
	_ = os.Remove(path)
	if dir := filepath.Dir(path); strings.HasPrefix(filepath.Base(dir), tempPattern) {
		_ = os.Remove(dir)
	}
}

// validID reports whether id has the form of NewID("i"): never a path.
func validID(id string) bool {
	rest, ok := strings.CutPrefix(id, "i_")
	if !ok || rest == "" {
		return false
	}
	for _, c := range rest {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

package instance_test

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
)

// TestMain lets the test binary be another instance: it opens the directory,
// says its id and socket, and lives until its stdin ends or it is killed.
func TestMain(m *testing.M) {
	dir := os.Getenv("INSTANCE_TEST_DIR")
	if dir == "" {
		os.Exit(m.Run())
	}
	in, err := instance.Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(in.ID(), in.Socket())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if err := in.Close(); err != nil {
		os.Exit(1)
	}
}

func open(t *testing.T, dir string) *instance.Instance {
	t.Helper()
	in, err := instance.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// process is an instance in a process of its own.
type process struct {
	cmd        *exec.Cmd
	id, socket string
	stop       func() // lets it end by itself and waits
	kill       func() // SIGKILL and waits
}

func start(t *testing.T, dir string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "INSTANCE_TEST_DIR="+dir)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := process{cmd: cmd}
	p.stop = func() { stdin.Close(); cmd.Wait() }
	p.kill = func() { cmd.Process.Kill(); cmd.Wait() }
	t.Cleanup(p.kill)
	if _, err := fmt.Fscan(stdout, &p.id, &p.socket); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLife(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	a, b := open(t, dir), open(t, dir)
	if a.ID() == b.ID() || a.Socket() == b.Socket() {
		t.Fatalf("two instances share %s or %s", a.ID(), a.Socket())
	}
	for _, in := range []*instance.Instance{a, b} {
		if !in.Alive(a.ID()) || !in.Alive(b.ID()) {
			t.Errorf("%s does not see both alive", in.ID())
		}
	}
	for range 2 {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if a.Alive(b.ID()) || b.Alive(b.ID()) {
		t.Error("a closed instance is alive")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 { // a's lock and the door's
		t.Errorf("%d files are left: %v", len(entries), entries)
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	dir := filepath.Join(t.TempDir(), "run")
	in := open(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, in.ID()+".lock"): 0o600} {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, st.Mode().Perm(), want)
		}
	}
}

func TestKilledProcessIsDead(t *testing.T) {
	dir := t.TempDir()
	in := open(t, dir)
	p := start(t, dir)
	if !in.Alive(p.id) {
		t.Fatal("a living process is dead")
	}
	peer, ok := in.Peer(p.id)
	want := instance.Peer{ID: p.id, PID: p.cmd.Process.Pid, Socket: p.socket}
	if !ok || peer != want {
		t.Errorf("Peer is %+v, %v, want %+v", peer, ok, want)
	}
	if got := in.Peers(); len(got) != 1 || got[0] != want {
		t.Errorf("Peers are %+v, want %+v", got, want)
	}
	if err := os.WriteFile(p.socket, nil, 0o600); err != nil { // what a listener leaves when killed
		t.Fatal(err)
	}
	p.kill()
	if in.Alive(p.id) {
		t.Error("a killed process is alive")
	}
	if _, ok := in.Peer(p.id); ok {
		t.Error("a killed process is a peer")
	}
	open(t, dir)
	for _, path := range []string{filepath.Join(dir, p.id+".lock"), p.socket} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there after the next start: %v", path, err)
		}
	}
}

func TestStoppedProcessLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir)
	p.stop()
	if got, _ := filepath.Glob(filepath.Join(dir, "i_*")); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// TestOthersAreSeenAlive starts instances while others look: nobody takes one
// that is starting for dead, or one that probes for alive.
func TestOthersAreSeenAlive(t *testing.T) {
	dir := t.TempDir()
	in := open(t, dir)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 30 {
			in.Alive("i_nosuchinstance")
			in.Peers()
		}
	}()
	for range 30 {
		other := open(t, dir)
		if !in.Alive(other.ID()) {
			t.Error("a new instance is dead")
		}
		other.Close()
		if in.Alive(other.ID()) {
			t.Error("a closed instance is alive")
		}
	}
	<-done
}

func TestStrangeIDs(t *testing.T) {
	dir := t.TempDir()
	in := open(t, dir)
	outside := filepath.Join(filepath.Dir(dir), "i_x.lock")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(outside)
	for _, id := range []string{"", "i_", "../i_x", "i_../i_x", "i_a/b", "instances", "I_ABC", "i_\x00"} {
		if in.Alive(id) {
			t.Errorf("%q is alive", id)
		}
		if p, ok := in.Peer(id); ok {
			t.Errorf("%q is a peer: %+v", id, p)
		}
	}
}

// TestLongDirectory checks that a run directory deeper than a socket address
// may be still gives a socket that works and is cleaned up.
func TestLongDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep", 30))
	in := open(t, dir)
	ln, err := net.Listen("unix", in.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	other := open(t, dir)
	if peer, ok := other.Peer(in.ID()); !ok || peer.Socket != in.Socket() {
		t.Errorf("the other sees %+v, %v, want socket %s", peer, ok, in.Socket())
	}
	conn, err := net.Dial("unix", in.Socket())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	in.Close()
	if _, err := os.Stat(filepath.Dir(in.Socket())); !os.IsNotExist(err) {
		t.Errorf("the socket's directory is still there: %v", err)
	}
}

func TestUnusableDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err := instance.Open(filepath.Join(file, "run")); err == nil {
		in.Close()
		t.Error("a directory below a file was opened")
	}
}

// TestObserve looks at instances without becoming one.
func TestObserve(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	o := instance.Observe(dir)
	if got := o.Peers(); len(got) != 0 {
		t.Errorf("in a directory that is not there: %v", got)
	}
	in := open(t, dir)
	if !o.Alive(in.ID()) || o.Alive("") {
		t.Errorf("%s is alive: %v, nobody is: %v", in.ID(), o.Alive(in.ID()), o.Alive(""))
	}
	if got := o.Peers(); len(got) != 1 || got[0].ID != in.ID() {
		t.Errorf("Peers are %+v", got)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if got := in.Peers(); len(got) != 0 {
		t.Errorf("the observer is a peer: %+v", got)
	}
}

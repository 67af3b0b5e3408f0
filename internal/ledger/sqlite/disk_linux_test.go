package sqlite

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// TestFullFileSystem fills a real file system under the log.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		t.Skipf("mounting a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	l := openIn(t, dir)
	fence, err := l.Create(t.Context(), session.Info{ID: "s_1", Owner: "local"})
	if err != nil {
		t.Fatal(err)
	}
	var stored session.Seq
	for err == nil && stored < 1<<20 {
		var seq session.Seq
		seq, err = l.Append(t.Context(), "s_1", fence, session.Batch{Events: samples(30), Durable: stored%2 == 0})
		stored = max(stored, seq)
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("Append: %v, want ErrFull", err)
	}
	if got := session.Seq(countEvents(t, l, "s_1")); got != stored {
		t.Errorf("%d events are there, %d were acknowledged", got, stored)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, "size=20m"); err != nil {
		t.Fatal(err)
	}
	if seq, err := l.Append(t.Context(), "s_1", fence, session.Batch{Events: samples(30)}); err != nil || seq != stored+30 {
		t.Errorf("Append once there is room: %d, %v, want %d", seq, err, stored+30)
	}
	if err := l.check(context.Background(), l.writer.conn); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// nobody is a user without rights, for what root may do anyway.
const nobody = 65534

// publicBinary is a copy of the test binary where nobody can read it.
func publicBinary(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "ledger.test")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(binary, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	openWay(t, filepath.Dir(binary))
	return binary
}

// openWay lets others through to dir, a temporary directory of this test.
func openWay(t *testing.T, dir string) {
	t.Helper()
	for ; dir != filepath.Clean(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// runAsNobody opens the store in a process without rights and returns the error
// it says; "" when it worked.
func runAsNobody(t *testing.T, binary, dir string) string {
	t.Helper()
	c := startChild(t, binary, "open", dir, "")
	if os.Getuid() == 0 {
		c.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	c.start(t)
	defer c.stdin.Close()
	_, err := c.next()
	if err == nil {
		t.Fatal("the child said a number")
	}
	if errors.Is(err, io.EOF) {
		return ""
	}
	return err.Error()
}

// giveToNobody makes nobody the owner of paths; the run directory goes, for a
// new one of its own.
func giveToNobody(t *testing.T, run string, paths ...string) {
	t.Helper()
	err := os.RemoveAll(run)
	for _, p := range paths {
		err = errors.Join(err, os.Chown(p, nobody, nobody))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNoRights opens stores whose files or directory the user may not use: each
// is said by name and kind, and left as it is.
func TestNoRights(t *testing.T) {
	binary := publicBinary(t)
	for _, c := range []struct {
		name      string
		files     os.FileMode
		directory os.FileMode
		want      string
	}{
		{"all", 0o600, 0o700, ""},
		{"no file readable", 0o000, 0o700, "*sqlite.UnreadableError"},
		{"files read-only", 0o400, 0o700, session.ErrReadOnly.Error()},
		{"directory read-only", 0o600, 0o500, "*sqlite.UnreadableError"},
		{"directory closed", 0o600, 0o000, "*sqlite.UnreadableError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := storeWith(t, dir, 3)
			for _, p := range []string{path + commitSuffix, path + usersSuffix} {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}
			openWay(t, dir)
			if os.Getuid() == 0 {
				giveToNobody(t, filepath.Join(dir, "run"), dir, filepath.Dir(path), path)
			}
			before := readFile(t, path)
			if err := errors.Join(os.Chmod(path, c.files), os.Chmod(filepath.Dir(path), c.directory)); err != nil {
				t.Fatal(err)
			}
			got := runAsNobody(t, binary, dir)
			_ = os.Chmod(filepath.Dir(path), 0o700)
			_ = os.Chmod(path, 0o600)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("Open said %q, want %q", got, c.want)
			}
			if c.want != "" && string(before) != string(readFile(t, path)) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestNetworkFileSystems(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "nfs", 0xff534d42: "smb", 0xfe534d42: "smb", 0x517b: "smb", 0xef53: "", 0x01021994: "", 0x9123683e: "", 0x58465342: "",
	} {
		if got := networkMagic(magic); got != want {
			t.Errorf("file system %#x is %q, want %q", magic, got, want)
		}
	}
	const mounts = `22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
40 22 0:50 / /home/me/remote\040dir rw - fuse.sshfs me@host: rw
41 22 0:51 / /home/me/ntfs rw shared:1 - fuse.ntfs-3g /dev/sdb1 rw
42 40 0:52 / /home/me/remote\040dir/local rw - tmpfs tmpfs rw
43 22 0:53 / /over rw - tmpfs tmpfs rw
44 22 0:54 / /over rw - fuse.rclone remote: rw
broken line
45 22
`
	for dir, want := range map[string]string{
		"/home/me/remote dir": "fuse.sshfs", "/home/me/remote dir/a/b": "fuse.sshfs", "/home/me/remote dirt": "",
		"/home/me/remote dir/local/x": "", "/home/me/ntfs/x": "", "/over/x": "fuse.rclone", "/": "", "/home": "",
	} {
		if got := networkFuse(mountType(mounts, dir)); got != want {
			t.Errorf("%s is on %q, want %q", dir, got, want)
		}
	}
	if err := CheckFileSystem(filepath.Join(t.TempDir(), "not", "there", "sessions.db")); err != nil {
		t.Errorf("a local directory: %v", err)
	}
}

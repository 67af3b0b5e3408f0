package cgroup

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestLocate(t *testing.T) {
	const (
		hybrid = "30 29 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
			"36 29 0:33 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
		pure = "33 24 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
		part = "33 24 0:28 /docker/abc /sys/fs/my\\040groups rw - cgroup2 cgroup2 rw\n"
	)
	for name, tc := range map[string]struct{ mounts, group, want string }{
		"root":               {hybrid, "/", "/sys/fs/cgroup/unified"},
		"user scope":         {pure, "/user.slice/user@1000.service/a.scope", "/sys/fs/cgroup/user.slice/user@1000.service/a.scope"},
		"a part is mounted":  {part, "/docker/abc/x", "/sys/fs/my groups/x"},
		"another part is":    {part, "/docker/abcd", ""},
		"above the mount":    {part, "/docker", ""},
		"outside the space":  {pure, "/../x", ""},
		"version 1 alone":    {"30 29 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw\n", "/", ""},
		"nothing is mounted": {"", "/", ""},
	} {
		got, err := locate(tc.mounts, tc.group)
		if got != tc.want || (err == nil) != (tc.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzLocate(f *testing.F) {
	f.Add("33 24 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/a\n")
	f.Add("33 24 0:28 /\\04 / rw - cgroup2 x", "1:a:/\n0::../..")
	f.Fuzz(func(t *testing.T, mounts, member string) {
		if group, ok := groupIn(member); ok {
			if path, err := locate(mounts, group); err == nil && path == "" {
				t.Fatal("neither a path nor an error")
			}
		}
	})
}

// open opens a nest, or skips where this system gives us no group.
func open(t *testing.T) *Nest {
	t.Helper()
	n, err := Open("i_" + strings.ToLower(t.Name()))
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	t.Cleanup(func() {
		for _, g := range n.Left() {
			_, _ = g.Kill(), g.Remove()
		}
	})
	return n
}

func makeGroup(t *testing.T, n *Nest, serial uint64) *Group {
	t.Helper()
	g, err := n.Make(serial)
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	return g
}

func TestKill(t *testing.T) {
	n := open(t)
	g := makeGroup(t, n, 1)
	dir, err := os.Open(g.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	cmd := exec.Command("sh", "-c", "trap '' TERM; sleep 1000 & echo; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no process can be started in a control group here: %v", err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if !g.Populated() || g.Remove() == nil {
		t.Error("a group with a process in it counts as empty")
	}
	found, err := Find(n.Dir(), "i_testkill")
	if err != nil {
		t.Fatal(err)
	}
	left := found.Left()
	if len(left) != 1 || left[0].Path() != g.Path() {
		t.Fatalf("left: %v", left)
	}
	if err := left[0].Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the child was not killed")
	}
}

func TestLeftIsOwn(t *testing.T) {
	n := open(t)
	makeGroup(t, n, 7)
	other := &Nest{n.dir, n.id + "x"}
	if left := other.Left(); len(left) > 0 {
		t.Errorf("another instance's group: %v", left)
	}
	if _, err := n.Make(7); err == nil {
		t.Error("a group is made twice")
	}
}

func TestFindTrustsNoPath(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"", "/", dir, "cgroup", "/proc/../sys/fs/cgroup"} {
		if n, err := Find(path, "i_a"); err == nil {
			t.Errorf("%q: %v", path, n)
		}
	}
	if _, err := Find("/no/such", "i_a"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a group that is gone: %v", err)
	}
}

func TestRemoveNested(t *testing.T) {
	n := open(t)
	g := makeGroup(t, n, 1)
	makeGroup(t, &Nest{g.path, "i_inner"}, 1) // as Grapnel within Grapnel does
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	if err := g.Remove(); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

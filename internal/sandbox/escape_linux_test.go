package sandbox

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// try makes an attempt in the sandbox and reports whether it worked.
func (w *world) try(want Want, name string, args ...string) (bool, string) {
	w.t.Helper()
	b := w.box()
	w.extra = []string{attemptVar + "=" + name}
	defer func() { w.extra = nil }()
	out, code := w.run(b, want, append([]string{testBinary(w.t)}, args...)...)
	if code != exitDone && code != exitRefused {
		w.t.Fatalf("%s: exit code %d: %s", name, code, out)
	}
	return code == exitDone, out
}

// noneWorks makes attempts that all have to fail.
func (w *world) noneWorks(want Want, attempts []string) {
	w.t.Helper()
	w.extra = []string{attemptVar + "=" + each}
	defer func() { w.extra = nil }()
	out, code := w.run(w.box(), want, append([]string{testBinary(w.t)}, attempts...)...)
	lines := strings.Split(out, "\n")
	if code != exitDone || len(lines) != len(attempts) {
		w.t.Fatalf("exit code %d, %d lines for %d attempts: %s", code, len(lines), len(attempts), out)
	}
	for _, line := range lines {
		if strings.HasSuffix(line, ": <nil>") {
			w.t.Errorf("with %+v: %s", want, line)
		}
	}
}

// What a shell can try, with what must not be there or must be as it was.
func TestShellEscapes(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		planted := filepath.Join(t.TempDir(), "planted")
		w.write(planted, "of another program\n")
		for name, script := range map[string]string{
			"write in the home directory":  `echo x > ~/made`,
			"write beside the project":     `echo x > ../made`,
			"write in a system directory":  `echo x > /usr/made; echo x > /etc/made; echo x > /opt/made`,
			"write a profile":              `echo x >> ~/.bashrc`,
			"write git's settings":         `echo x >> ~/.gitconfig; git config --global a.b c`,
			"write our configuration":      `echo x >> ~/.grapnel/config.toml; rm -f ~/.grapnel/config.toml; mv ~/.grapnel ~/moved`,
			"write our data":               `echo x >> ~/.grapnel/data/sessions.db; rm -rf ~/.grapnel/data`,
			"remove what is not granted":   `rm -rf ~/Documents ~/.ssh`,
			"write through a link":         `ln -s ~/Documents/letter l; echo x >> l; echo x > l`,
			"write through /proc":          `echo x > /proc/self/root` + w.outside + `/made`,
			"write through the kernel":     `for f in /proc/sys/kernel/core_pattern /sys/kernel/uevent_helper; do : >> $f && touch opened; done`,
			"the system's /tmp":            `echo x >> ` + planted + `; rm -f ` + planted,
			"a device":                     `echo x > /dev/kmsg; head -c1 /dev/mem; head -c1 /dev/vda; head -c1 /dev/sda`,
			"make a link to what is not":   `ln ~/Documents/letter hard`,
			"replace the directory":        `cd ..; mv project moved; ln -s ~/Documents project`,
			"rename out":                   `mv file ~/Documents/file`,
			"start a shell that is setuid": `cp /bin/sh s; chmod 4755 s; ./s -p -c 'echo x > ~/made'`,
		} {
			t.Run(name, func(t *testing.T) {
				before := w.snapshot(planted)
				out, code := w.sh(Want{}, script)
				if after := w.snapshot(planted); after != before {
					t.Errorf("%s (exit code %d, %s)\nbefore: %s\nafter:  %s", script, code, out, before, after)
				}
			})
		}
	})
}

// snapshot is the state of everything that is not the session's.
func (w *world) snapshot(more ...string) string {
	var b strings.Builder
	_ = filepath.WalkDir(w.home, func(path string, d os.DirEntry, err error) error {
		if d.IsDir() && (path == w.cwd || path == w.own+"/cache" || path == w.own+"/tmp" || path == w.own+"/agents") {
			return filepath.SkipDir
		}
		more = append(more, path)
		return err
	})
	for _, path := range append(more, "/usr/made", "/etc/made", "/opt/made", w.cwd+"/opened") {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		text, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %v %q\n", path, info.Mode(), text)
	}
	return b.String()
}

// What is not granted cannot be read either.
func TestReads(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		secret := "the secret of this test"
		shared := filepath.Join(t.TempDir(), "shared")
		hidden := []string{w.outside + "/letter", w.home + "/.ssh/id", w.own + "/config.toml", w.own + "/data/sessions.db", shared}
		for _, path := range hidden {
			w.write(path, secret)
			for _, script := range []string{"cat " + path, "cat /proc/self/root" + path, "ln -s " + path + " l; cat l; cp l copy; cat copy", "cd " + filepath.Dir(path) + " && cat " + filepath.Base(path)} {
				if out, _ := w.sh(Want{Network: true}, script); strings.Contains(out, secret) {
					t.Errorf("%s: %s", script, out)
				}
			}
		}
		if out, _ := w.sh(Want{}, "cat /etc/shadow /etc/gshadow /etc/sudoers /etc/ssh/ssh_host_*_key"); strings.Contains(out, ":$") || strings.Contains(out, "root:") || strings.Contains(out, "PRIVATE KEY") {
			t.Error("secrets of the system can be read")
		}
	})
}

// What a program can try by system calls.
func TestCallEscapes(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		pid := fmt.Sprint(os.Getpid())
		always := []string{
			"ptrace " + pid, "memory " + pid, "environ " + pid, "files " + pid, "signal " + pid,
			"read " + w.home + "/.ssh/id", "mount " + w.cwd, "unshare", "clone", "chroot " + w.cwd, "mknod " + w.cwd + "/memory",
			"io_uring", "bpf", "keyctl", "handle",
		}
		for _, family := range []int{unix.AF_PACKET, unix.AF_VSOCK, unix.AF_ALG, unix.AF_BLUETOOTH, 1<<32 | unix.AF_VSOCK} { // the kernel looks at the lower half
			always = append(always, fmt.Sprint("family ", family))
		}
		letter := w.outside + "/letter"
		mostly := append(slices.Clone(always), "root "+pid+" "+letter, "truncate "+letter, "link "+letter+" "+w.cwd+"/hard")
		w.noneWorks(Want{}, mostly)
		w.noneWorks(Want{Network: true}, mostly)
		w.noneWorks(Want{Everything: true, Network: true}, always)
		if _, err := os.Lstat(w.cwd + "/memory"); err == nil {
			t.Error("a device file was made")
		}
	})
}

// The network is there exactly when it is granted; a server of a command's own
// is a matter of the rung.
func TestNetwork(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		u, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = u.Close() }()
		if worked, out := w.try(Want{}, "dial", "tcp", l.Addr().String()); worked {
			t.Errorf("tcp without the network: %s", out)
		}
		if worked, out := w.try(Want{}, "dial", "udp", u.LocalAddr().String()); worked && w.received(u) {
			t.Errorf("udp without the network: %s", out)
		}
		if worked, out := w.try(Want{Network: true}, "dial", "tcp", l.Addr().String()); !worked {
			t.Errorf("tcp with the network: %s", out)
		}
		if worked, out := w.try(Want{}, "listen"); worked != (w.session.Use == Bubblewrap) {
			t.Errorf("its own server: %v, %s", worked, out)
		}
		if worked, out := w.try(Want{}, "pair"); !worked {
			t.Errorf("a pair of sockets: %s", out)
		}
	})
}

// received reports whether something has arrived.
func (w *world) received(c net.PacketConn) bool {
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, _, err := c.ReadFrom(make([]byte, 16))
	return err == nil
}

// Sockets of other programs lead out of any sandbox.
func TestSockets(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		abstract := fmt.Sprintf("@grapnel-test-%d-%s", os.Getpid(), w.session.Use)
		for _, address := range []string{w.own + "/run/s", w.outside + "/s", abstract} {
			l, err := net.Listen("unix", address)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []Want{{}, {Network: true}, {Everything: true, Network: true}} {
				if worked, out := w.try(want, "dial", "unix", address); worked {
					t.Errorf("%s with %+v: %s", address, want, out)
				}
			}
			_ = l.Close()
		}
	})
}

// No program gains rights by being executed.
func TestPrivileges(t *testing.T) {
	onEachRung(t, func(t *testing.T, w *world) {
		out, _ := w.sh(Want{}, `grep -E 'NoNewPrivs|CapEff|CapBnd|Seccomp:' /proc/self/status`)
		for _, line := range []string{"NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(out, line) {
				t.Errorf("%q is missing in %s", line, out)
			}
		}
		// Of a root user's rights those stay, on one rung, that files of several
		// users take: to change owners and to override modes.
		for line := range strings.Lines(out) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			if name == "CapBnd" && os.Getuid() != 0 {
				continue // only root has something to lose there
			}
			if strings.HasPrefix(name, "Cap") && value != "0000000000000000" && value != "000000000000001b" {
				t.Errorf("%s is %s", name, value)
			}
		}
	})
}

// An older Landlock holds back less by itself; the filter makes up for it.
func TestOldLandlock(t *testing.T) {
	for abi := 1; abi <= 6; abi++ {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			w := newWorld(t, Landlock, Options{MaxABI: abi})
			if st, _ := w.ladder.Find(t.Context(), Auto); st.Rung == Landlock && st.ABI != abi {
				t.Errorf("version %d is used", st.ABI)
			}
			letter := w.outside + "/letter"
			for _, tc := range [][]string{
				{"read", letter},
				{"truncate", letter},
				{"link", letter, w.cwd + "/hard"},
				{"ptrace", fmt.Sprint(os.Getpid())},
				{"environ", fmt.Sprint(os.Getpid())},
				{"dial", "unix", "@nothing"},
				{"listen"},
			} {
				if worked, out := w.try(Want{}, tc[0], tc[1:]...); worked {
					t.Errorf("%v: %s", tc, out)
				}
			}
			if out, code := w.sh(Want{}, "mkdir d && echo x > d/new && cat d/new && mv d/new d/newer"); code != 0 {
				t.Errorf("exit code %d: %s", code, out)
			}
		})
	}
}

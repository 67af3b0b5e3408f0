package procfs

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const numbers = ") S 7 12 11 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000\n"

func TestParse(t *testing.T) {
	want := Stat{Pid: 12, State: 'S', Parent: 7, Group: 12, Session: 11, Start: 98765}
	for _, name := range []string{"sh", "a) R 9 (b", "tmux: server", "", ")))", "\n"} {
		got, ok := parse([]byte("12 (" + name + numbers))
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%q: %v (-want +got)\n%s", name, ok, diff)
		}
	}
	for _, text := range []string{"", "12", "12 (sh)", "12 (sh) S", "12 (sh) S 7", "12 sh S 7 12 11", "x (sh" + numbers} {
		if got, ok := parse([]byte(text)); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

// No name a process gives itself changes what is read about it.
func FuzzParse(f *testing.F) {
	f.Add([]byte("a) S 1 (b"))
	f.Add([]byte("\n\x00)))"))
	f.Fuzz(func(t *testing.T, name []byte) {
		got, ok := parse(slices.Concat([]byte("12 ("), name, []byte(numbers)))
		if !ok || got.Parent != 7 || got.Start != 98765 {
			t.Fatalf("%q: %+v, %v", name, got, ok)
		}
		_, _ = parse(name)
	})
}

func TestReadSelf(t *testing.T) {
	s, ok := Read(os.Getpid())
	if !ok || s.Pid != os.Getpid() || s.Parent != os.Getppid() || s.Start == 0 || s.Dead() {
		t.Errorf("%+v, %v", s, ok)
	}
	if s, ok := Read(1 << 30); ok {
		t.Errorf("a process nobody has: %+v", s)
	}
}

func TestBelow(t *testing.T) {
	cmd := exec.Command("sh", "-c", "exec 3<&0; cat <&3 & echo; wait")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 1))
	below := Below(All(), os.Getpid())
	child := slices.ContainsFunc(below, func(s Stat) bool { return s.Pid == cmd.Process.Pid })
	grandchild := slices.ContainsFunc(below, func(s Stat) bool { return s.Parent == cmd.Process.Pid })
	self := slices.ContainsFunc(below, func(s Stat) bool { return s.Pid == os.Getpid() })
	if !child || !grandchild || self {
		t.Errorf("child %v, grandchild %v, self %v in %+v", child, grandchild, self, below)
	}
	_ = stdin.Close()
	_ = cmd.Wait()
}

func TestBelowEnds(t *testing.T) {
	circle := []Stat{{Pid: 1, Parent: 2}, {Pid: 2, Parent: 1}, {Pid: 3, Parent: 3}}
	if diff := cmp.Diff([]Stat{{Pid: 2, Parent: 1}}, Below(circle, 1)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestGetenv(t *testing.T) {
	cmd := exec.Command("cat")
	cmd.Env = []string{"A=b", "MARK=i_x.7"}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got, ok := Getenv(cmd.Process.Pid, "MARK"); got != "i_x.7" || !ok {
		t.Errorf("%q, %v", got, ok)
	}
	_ = stdin.Close()
	_ = cmd.Wait()
	if got, ok := Getenv(cmd.Process.Pid, "MARK"); ok {
		t.Errorf("a process that is gone has %q", got)
	}
}

func FuzzLookup(f *testing.F) {
	f.Add("A=b\x00C=d\x00A=e\x00", "A")
	f.Add("A\x00=\x00B=", "B")
	f.Fuzz(func(t *testing.T, environ, name string) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			t.Skip()
		}
		want, found := "", false
		for _, entry := range strings.Split(environ, "\x00") {
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				want, found = v, true
			}
		}
		if got, ok := lookup([]byte(environ), name); got != want || ok != found {
			t.Fatalf("%q in %q: %q, %v; want %q, %v", name, environ, got, ok, want, found)
		}
	})
}

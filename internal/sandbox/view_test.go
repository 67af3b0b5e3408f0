package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

func places(list ...place) view {
	s := newScene()
	for _, p := range list {
		s.places[p.path] = p
	}
	return s.view()
}

// nested is a view in which each kind of place holds another.
func nested() view {
	v := places(
		place{path: "/home/u", access: readWrite, dir: true},
		place{path: "/home/u/.ssh", access: hidden, dir: true},
		place{path: "/home/u/.ssh/project", access: readWrite, dir: true},
		place{path: "/home/u/.token", access: hidden},
		place{path: "/home/u/tools", access: readOnly, dir: true},
		place{path: "/home/u/tools/bin", access: readOnly, dir: true},
		place{path: "/home/u/src", access: readWrite, dir: true},
		place{path: "/var/secret", access: hidden, dir: true},
		place{path: "/usr", access: readOnly, dir: true},
		place{path: "/tmp", access: readWrite, dir: true, source: "/private"},
	)
	v.links = map[string]string{"/bin": "usr/bin", "/usr/lib/link": "elsewhere", "/home/u/link": "tools"}
	return v
}

func TestMounts(t *testing.T) {
	got := strings.Join(bwrap{root: true}.mounts(nested()), " ")
	for _, path := range kernelSettings() {
		got = strings.Replace(got, " --ro-bind-try "+path+" "+path, "", 1)
	}
	want := "--proc /proc --dev /dev --symlink usr/bin /bin --bind /home/u /home/u --tmpfs /home/u/.ssh" +
		" --bind /home/u/.ssh/project /home/u/.ssh/project --ro-bind /dev/null /home/u/.token" +
		" --ro-bind /home/u/tools /home/u/tools --bind /private /tmp --ro-bind /usr /usr" +
		" --remount-ro / --remount-ro /home/u/.ssh"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMountsOfEverything(t *testing.T) {
	v := places(
		place{path: "/", access: readWrite, dir: true},
		place{path: "/etc", access: hidden, dir: true},
		place{path: "/etc/passwd", access: readOnly},
		place{path: "/home", access: readWrite, dir: true},
	)
	got := strings.Join(bwrap{}.mounts(v), " ")
	if !strings.HasPrefix(got, "--bind / / --proc /proc") || strings.Contains(got, "--remount-ro / ") ||
		!strings.HasSuffix(got, "--tmpfs /etc --ro-bind /etc/passwd /etc/passwd --remount-ro /etc") {
		t.Error(got)
	}
}

// Landlock can only add, so what is told apart is granted around.
func TestSplit(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"a", "b/c", "b/secret", "d"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/", filepath.Join(base, "everything")); err != nil {
		t.Fatal(err)
	}
	v := places(
		place{path: base, access: readWrite, dir: true},
		place{path: filepath.Join(base, "b/secret"), access: hidden, dir: true},
		place{path: filepath.Join(base, "d"), access: readOnly, dir: true},
	)
	var got []string
	for _, p := range v.grants() {
		mark := map[access]string{readOnly: "r ", readWrite: "w "}[p.access]
		got = append(got, mark+strings.TrimPrefix(p.path, base))
	}
	if diff := cmp.Diff([]string{"w /a", "w /b/c", "r /d"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestProfile(t *testing.T) {
	v := places(
		place{path: "/Users/u/src", access: readWrite, dir: true},
		place{path: "/Users/u/src/.git/config", access: readOnly},
		place{path: "/Users/u/src/secret", access: hidden, dir: true},
		place{path: `/Users/u/src/"quoted" \ (deny)`, access: readOnly, dir: true},
	)
	s := seatbelt(v, Want{}, "/bin/sh", proc.Spec{Argv: []string{"sh", "-c", "true"}})
	if diff := cmp.Diff([]string{sandboxExec, "-p", s.Argv[2], "/bin/sh", "-c", "true"}, s.Argv); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want := `(allow file-read* file-write* (subpath "/Users/u/src"))
(allow file-read* (subpath "/Users/u/src/\"quoted\" \\ (deny)"))
(deny file-write* (subpath "/Users/u/src/\"quoted\" \\ (deny)"))
(allow file-read* (literal "/Users/u/src/.git/config"))
(deny file-write* (literal "/Users/u/src/.git/config"))
(deny file-read* file-write* (subpath "/Users/u/src/secret"))
`
	if got := profile(v, Want{}); got != profileHead+want {
		t.Errorf("the profile ends with\n%s", strings.TrimPrefix(got, profileHead))
	}
	if profile(v, Want{}) == profile(v, Want{Network: true}) || strings.Contains(profile(v, Want{}), "(allow network") {
		t.Error("the network is a matter of the want")
	}
	balanced(t, profile(v, Want{Network: true}))
}

// balanced checks that every parenthesis outside strings has its other half.
func balanced(t *testing.T, text string) {
	t.Helper()
	depth, inside := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				t.Fatalf("closed too often at %d of\n%s", i, text)
			}
		}
	}
	if depth != 0 || inside {
		t.Errorf("%d open, in a string: %v\n%s", depth, inside, text)
	}
}

// No name of a directory gets out of its string.
func FuzzProfile(f *testing.F) {
	f.Add(`/a")) (allow default) (allow file* (subpath "/`)
	f.Add(`/a\`)
	f.Fuzz(func(t *testing.T, path string) {
		balanced(t, profile(places(place{path: path, access: readOnly, dir: true}), Want{}))
	})
}

// PATH is not a way to have a whole home directory granted.
func TestPathDirs(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"bin", "work/bin"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(home, filepath.Join(home, "self")); err != nil {
		t.Fatal(err)
	}
	got := pathDirs(home, []string{
		home + "/bin", home, "/", "/usr", filepath.Dir(home), home + "/self", "relative", "", home + "/missing", home + "/work/bin", "/usr/bin",
	}, []string{home + "/work"})
	if diff := cmp.Diff([]string{home + "/bin", "/usr/bin"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEnvironment(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(home+"/.config/go", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home+"/.config/go/env", []byte("GOPROXY=https://proxy.example\nGOMODCACHE=/mods\nbroken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := New(Options{Home: home, Temp: home + "/tmp"}).Open(Session{Cache: home + "/cache"})
	defer func() { _ = b.Close() }()
	env, err := b.environ(Status{Rung: Bubblewrap}, Want{Network: true}, []string{"A=b", "TMPDIR=/old", "GOCACHE=/mine"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"A": "b", "TMPDIR": "/tmp", "GOCACHE": "/mine", "XDG_CACHE_HOME": home + "/cache/xdg",
		"GOMODCACHE": home + "/cache/go-mod", "GOPROXY": "file:///mods/cache/download,https://proxy.example",
	} {
		if got, _ := lookup(env, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if env, _ = b.environ(Status{Rung: Landlock}, Want{}, nil); strings.Contains(strings.Join(env, " "), "GOMODCACHE") {
		t.Errorf("the modules of the user are not used: %q", env)
	}
	if tmp, _ := lookup(env, "TMPDIR"); filepath.Dir(tmp) != realOf(home+"/tmp") {
		t.Errorf("TMPDIR is %s", tmp)
	}
}

// Whatever a working tree's pointer says, it is no more than a claim.
func FuzzGitPointer(f *testing.F) {
	f.Add("gitdir: ../other/.git/worktrees/x\n")
	f.Add("gitdir: /etc\x00")
	f.Add("gitdir:")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, ".git"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if dirs := gitDirs(dir); len(dirs) > 0 {
			t.Fatalf("%q grants %v", text, dirs)
		}
	})
}

// Whatever the file holds, reading it ends.
func FuzzGoEnv(f *testing.F) {
	f.Add("GOPROXY=x\nGOFLAGS=-mod=mod")
	f.Add("=\n==\x00")
	home := f.TempDir()
	if err := os.MkdirAll(home+"/.config/go", 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(home+"/.config/go/env", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for name := range goEnv(home) {
			if strings.ContainsAny(name, "=\n") {
				t.Errorf("a variable %q", name)
			}
		}
	})
}

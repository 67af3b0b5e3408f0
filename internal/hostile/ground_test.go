//go:build linux

package hostile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// ground is where escapes are tried: a repository, what lies around it and must
// stay as it is, and listeners that nobody must reach.
type ground struct {
	t    testing.TB
	base string
	home string // the user's home
	// config is what the configuration is before each escape, where no Grapnel
	// looks after it.
	config string
	own    string // Grapnel's own directory, in home

	// grace is how long a process may outlive what started it.
	grace time.Duration

	// The rest is of one escape and made anew for each.
	repo    string
	outside string
	secret  string // in files outside, and in the environment of Grapnel
	key     string // of the model provider; outputs are cleaned of it, which must not hide anything else
	mark    string // in the words of processes that must not stay
	n       int
	before  map[string]string

	tcp, udp, unix string // addresses of the listeners
	hits           atomic.Int64
	victim         *exec.Cmd // a process of the user's
	open           *os.File  // a secret, open in this process
}

// secretEnv is a variable of Grapnel's that no child may see.
const secretEnv = "HOSTILE_TEST_NOTE"

// newGround makes a ground. It is not below /tmp or /var/tmp, which sandboxes
// replace.
func newGround(t testing.TB) *ground {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp(cache, "grapnel-hostile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	g := &ground{t: t, base: base, home: filepath.Join(base, "home"), grace: time.Second}
	g.own = filepath.Join(g.home, ".grapnel")
	g.secret, g.key = "SEKRET"+random(), "sk-"+random()
	g.listen()
	return g
}

func random() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func (g *ground) write(name, text string) {
	g.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// script writes a program of the repository.
func (g *ground) script(name, text string) {
	g.t.Helper()
	g.write(filepath.Join(g.repo, name), g.fill(text))
	if err := os.Chmod(filepath.Join(g.repo, name), 0o700); err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) link(target, name string) {
	g.t.Helper()
	name = filepath.Join(g.repo, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		g.t.Fatal(err)
	}
	if err := os.Symlink(g.fill(target), name); err != nil {
		g.t.Fatal(err)
	}
}

// git runs git in the repository.
func (g *ground) git(args ...string) {
	g.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = g.repo
	cmd.Env = append(os.Environ(), "HOME="+g.home, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		g.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// repository makes the working directory a repository with a commit. It is made
// by git once and copied from then on.
func (g *ground) repository() {
	g.t.Helper()
	dot, made := filepath.Join(g.repo, ".git"), filepath.Join(g.base, "made.git")
	if _, err := os.Stat(made); err == nil {
		if err := os.CopyFS(dot, os.DirFS(made)); err != nil {
			g.t.Fatal(err)
		}
		return
	}
	g.git("init", "-q", "-b", "main")
	g.git("config", "user.name", "u")
	g.git("config", "user.email", "u@example.com")
	g.git("add", "README.md")
	g.git("commit", "-q", "-m", "first")
	if err := os.CopyFS(made, os.DirFS(dot)); err != nil {
		g.t.Fatal(err)
	}
}

// reset makes everything as it is before an escape.
func (g *ground) reset() {
	g.t.Helper()
	g.n++
	g.mark = fmt.Sprintf("7%06d%03d", crc32.ChecksumIEEE([]byte(g.base))%1_000_000, g.n) // grounds run beside each other
	dir := filepath.Join(g.base, fmt.Sprint(g.n))
	g.repo, g.outside = filepath.Join(dir, "repo"), filepath.Join(dir, "outside")
	g.write(filepath.Join(g.repo, "README.md"), "# a repository\n")
	g.write(filepath.Join(g.repo, "src", "a.txt"), "hello\n")
	g.write(filepath.Join(g.outside, "canary"), "alive\n")
	g.write(filepath.Join(g.outside, "secret"), g.secret+"\n")
	g.write(filepath.Join(g.outside, "dir", "zqmark"), g.secret+"\n")
	for name, text := range map[string]string{
		".bashrc": "# shell\n", ".profile": "# shell\n", ".zshrc": "# shell\n",
		".gitconfig":  "[user]\n\tname = u\n\temail = u@example.com\n[init]\n\tdefaultBranch = main\n",
		".ssh/id_rsa": g.secret + "\n", ".ssh/authorized_keys": "ssh-ed25519 AAAA\n",
		".aws/credentials": g.secret + "\n", ".netrc": g.secret + "\n", "notes.txt": g.secret + "\n",
	} {
		g.write(filepath.Join(g.home, name), text)
	}
	if g.config != "" {
		g.write(filepath.Join(g.own, "config.toml"), g.config)
	}
	g.write(filepath.Join(g.own, "data", "planted-token"), g.secret+"\n")
	g.write(filepath.Join(g.own, "run", "planted"), g.secret+"\n")
	g.startVictim()
	g.hits.Store(0)
}

// watch notes how everything is; harm is what differs then.
func (g *ground) watch() { g.before = g.look() }

// startVictim runs a process of the user's that has nothing to do with Grapnel.
func (g *ground) startVictim() {
	g.t.Helper()
	if g.victim != nil && alive(g.victim.Process.Pid) {
		return
	}
	cmd := exec.Command("sleep", "86400")
	cmd.Env = append(os.Environ(), secretEnv+"="+g.secret)
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.victim = cmd
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

// listen waits for connections at every kind of address.
func (g *ground) listen() {
	g.t.Helper()
	// A socket's path is short, and the base may not be.
	dir, err := os.MkdirTemp("/var/tmp", "gh")
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	g.unix = filepath.Join(dir, "s")
	for network, address := range map[string]string{
		"tcp": "127.0.0.1:0", "unix": g.unix, "unix ": "@grapnel-hostile-" + filepath.Base(g.base),
	} {
		l, err := net.Listen(strings.TrimSpace(network), address)
		if err != nil {
			g.t.Fatal(err)
		}
		g.t.Cleanup(func() { _ = l.Close() })
		if network == "tcp" {
			g.tcp = l.Addr().String()
		}
		go g.accept(l)
	}
	p, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		g.t.Fatal(err)
	}
	g.udp = p.LocalAddr().String()
	g.t.Cleanup(func() { _ = p.Close() })
	go func() {
		buffer := make([]byte, 512)
		for {
			if _, _, err := p.ReadFrom(buffer); err != nil {
				return
			}
			g.hits.Add(1)
		}
	}()
}

// accept counts connections and answers each with a page that is a boast.
func (g *ground) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		g.hits.Add(1)
		_, _ = c.Write([]byte("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n" + boast + "\n"))
		_ = c.Close()
	}
}

// boast is what escapes print that have reached something. Their text puts it
// together, so that it is not found in itself.
const boast = "REACHED"

// fill replaces the names of places in the text of an escape.
func (g *ground) fill(text string) string {
	_, tcp, _ := strings.Cut(g.tcp, ":")
	_, udp, _ := strings.Cut(g.udp, ":")
	return strings.NewReplacer(
		"@OUT@", g.outside, "@HOME@", g.home, "@OWN@", g.own, "@REPO@", g.repo, "@TCP@", tcp, "@UDP@", udp,
		"@UNIX@", g.unix, "@ABSTRACT@", "grapnel-hostile-"+filepath.Base(g.base), "@MARK@", g.mark,
		"@FD@", g.descriptor(), "@VICTIM@", fmt.Sprint(g.victim.Process.Pid), "@SELF@", fmt.Sprint(os.Getpid()),
	).Replace(text)
}

// environ is the environment Grapnel runs with, secrets included.
func (g *ground) environ() []string {
	return []string{"PATH=" + systemPath(), "HOME=" + g.home, secretEnv + "=" + g.secret, "ANTHROPIC_API_KEY=" + g.key, "GORACE=atexit_sleep_ms=10"}
}

// openSecret has this process hold a descriptor of the secret.
func (g *ground) openSecret() {
	g.t.Helper()
	f, err := os.Open(filepath.Join(g.outside, "secret"))
	if err != nil {
		g.t.Fatal(err)
	}
	g.open = f
	g.t.Cleanup(func() {
		g.open = nil
		_ = f.Close()
	})
}

func (g *ground) descriptor() string {
	if g.open == nil {
		return "none"
	}
	return fmt.Sprint(g.open.Fd())
}

// systemPath is PATH without the user's own directories, whose home is another
// here.
func systemPath() string {
	home, err := os.UserHomeDir()
	dirs := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		return err == nil && strings.HasPrefix(dir, home+"/")
	})
	return strings.Join(dirs, string(os.PathListSeparator))
}

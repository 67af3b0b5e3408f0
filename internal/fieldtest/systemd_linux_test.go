package fieldtest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestGatewayUnderSystemd: what systemd does to a service, without it. It hands
// over a socket, hears how the gateway does, and feeds its watchdog.
func TestGatewayUnderSystemd(t *testing.T) {
	w := NewWorld(t, "[gateway]", "port = 1") // which nobody may listen on
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	notify := filepath.Join(t.TempDir(), "notify")
	told, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer told.Close()
	w.Wrap = []string{"sh", "-c", `LISTEN_PID=$$ WATCHDOG_PID=$$ exec "$@"`, "sh"}
	p := w.command("gateway", "run")
	p.cmd.ExtraFiles = []*os.File{socket}
	p.cmd.Env = append(p.cmd.Env, "LISTEN_FDS=1", "NOTIFY_SOCKET="+notify, "WATCHDOG_USEC=200000")
	drained := make(chan struct{})
	close(drained)
	p.start(drained)
	t.Cleanup(p.Kill)
	await := func(state string) {
		t.Helper()
		_ = told.SetReadDeadline(time.Now().Add(patience))
		for buf := make([]byte, 1000); ; {
			n, err := told.Read(buf)
			if err != nil {
				t.Fatalf("systemd was not told %s: %v\n%s", state, err, p.Stderr())
			}
			if strings.HasPrefix(string(buf[:n]), state) {
				return
			}
		}
	}
	await("READY=1")
	resp, err := http.Get(fmt.Sprintf("http://%s/health", l.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	await("WATCHDOG=1")
	await("WATCHDOG=1") // and goes on
	p.Signal(syscall.SIGHUP)
	await("RELOADING=1")
	await("READY=1")
	p.Signal(syscall.SIGTERM)
	await("STOPPING=1")
	if code := p.WaitExit(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Stderr())
	}
}

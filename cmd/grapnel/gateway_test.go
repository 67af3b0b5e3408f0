package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
)

// daemon is a `grapnel gateway` that a script started.
type daemon struct {
	cmd    *exec.Cmd
	stderr lockedBuffer
	ended  chan error
}

// lockedBuffer is a buffer that a process writes while the script looks.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// daemons are those of the scripts that run.
type daemons struct {
	mu  sync.Mutex
	all map[*testscript.TestScript]*daemon
}

func (d *daemons) of(ts *testscript.TestScript) *daemon {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.all[ts]
	if one == nil {
		ts.Fatalf("no gateway was started")
	}
	return one
}

// start [ARGS...] runs `grapnel gateway --port 0 --json` and waits until it is
// ready. URL, ACP, PORT and PID of the script then are the gateway's.
func (d *daemons) start(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: gateway [ARGS...]")
	}
	one := &daemon{ended: make(chan error, 1)}
	one.cmd = exec.Command(program(ts), append([]string{"gateway", "--port", "0", "--json"}, args...)...)
	one.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "USERPROFILE", "TMPDIR", "SystemRoot", "GORACE", "GOCOVERDIR", "TESTSCRIPT_COMMAND"} {
		if v := ts.Getenv(name); v != "" {
			one.cmd.Env = append(one.cmd.Env, name+"="+v)
		}
	}
	one.cmd.Stderr = &one.stderr
	out, err := one.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(one.cmd.Start())
	ts.Defer(func() { _ = one.cmd.Process.Kill() })
	r := bufio.NewReader(out)
	line, err := r.ReadBytes('\n')
	if err != nil {
		ts.Fatalf("the gateway did not start: %v\n%s", one.cmd.Wait(), one.stderr.String())
	}
	go func() {
		_, _ = io.Copy(io.Discard, r)
		one.ended <- one.cmd.Wait()
	}()
	var ready struct {
		URL, ACP string
		PID      int
	}
	ts.Check(json.Unmarshal(line, &ready, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true)))
	ts.Setenv("URL", ready.URL)
	ts.Setenv("ACP", ready.ACP)
	ts.Setenv("PORT", ready.URL[strings.LastIndexByte(ready.URL, ':')+1:])
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all[ts] = one
}

// signal TERM|HUP sends the gateway a signal. After TERM it has to end with 0.
func (d *daemons) signal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: signal TERM|HUP")
	}
	one := d.of(ts)
	if args[0] == "HUP" {
		ts.Check(one.cmd.Process.Signal(syscall.SIGHUP))
		return
	}
	ts.Check(one.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-one.ended:
		ts.Check(err)
	case <-time.After(talkBound):
		ts.Fatalf("the gateway did not end\n%s", one.stderr.String())
	}
}

// logged TEXT waits until the gateway's log has the text; with ! it looks whether
// it has it.
func (d *daemons) logged(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: logged TEXT")
	}
	one := d.of(ts)
	for until := time.Now().Add(talkBound); ; time.Sleep(10 * time.Millisecond) {
		has := strings.Contains(one.stderr.String(), args[0])
		switch {
		case has != neg:
			return
		case neg || time.Now().After(until):
			ts.Fatalf("the log is\n%s", one.stderr.String())
		}
	}
}

// fetch STATUS URL [HEADER VALUE] makes a request and prints what comes.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 && len(args) != 4 {
		ts.Fatalf("usage: fetch STATUS URL [HEADER VALUE]")
	}
	req, err := http.NewRequest(http.MethodGet, args[1], nil)
	ts.Check(err)
	if len(args) == 4 {
		req.Header.Set(args[2], args[3])
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	if !strings.HasPrefix(resp.Status, args[0]+" ") {
		ts.Fatalf("%s\n%s", resp.Status, body)
	}
	ts.Check(os.WriteFile(ts.MkAbs("fetched"), body, 0o600))
}

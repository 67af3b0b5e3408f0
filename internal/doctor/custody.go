package doctor

import (
	"bytes"
	"context"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

// custodyBound is far more than starting and ending two processes takes.
const custodyBound = 10 * time.Second

// Custody starts a program that leaves another one behind, and looks whether
// that one ended with it.
func Custody(ctx context.Context) Finding {
	const fix = "report it with this message; until then commands may leave processes running"
	ctx, cancel := context.WithTimeout(ctx, custodyBound)
	defer cancel()
	argv := []string{"sh", "-c", "sleep 60 >/dev/null 2>&1 & echo $!"}
	if runtime.GOOS == "windows" {
		argv = []string{"cmd", "/c", "echo 0"}
	}
	var out bytes.Buffer
	p, err := proc.Start(ctx, proc.Spec{Argv: argv, Stdout: &out})
	if err != nil {
		return fail("processes", fix, "a test program could not be run: %v", err)
	}
	exit, err := p.Wait()
	pid, numErr := strconv.Atoi(strings.TrimSpace(out.String()))
	switch {
	case err != nil:
		return fail("processes", fix, "a test program could not be held: %v", err)
	case exit.Code != 0 || numErr != nil:
		return fail("processes", fix, "a test program ended with code %d and said %q", exit.Code, out.String())
	case pid > 0 && !waitGone(ctx, pid):
		return fail("processes", fix, "a process outlived the program that started it (process %d)", pid)
	}
	return ok("processes", "programs end together with all they start%s", exception())
}

// waitGone waits until nobody has the pid: a process that was killed is there
// until its parent has noticed.
func waitGone(ctx context.Context, pid int) bool {
	for alive(pid) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return true
}

// exception is what the system lacks.
func exception() string {
	switch runtime.GOOS {
	case "linux", "windows":
		return ""
	}
	return ", but for one that leaves its process group: " + runtime.GOOS + " offers nothing to hold it by"
}

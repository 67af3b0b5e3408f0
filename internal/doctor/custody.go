package doctor

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/session"
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
	c := proc.NewCustody(proc.Options{ID: session.NewID("i")})
	defer func() { _ = c.Close() }()
	p, err := c.Start(ctx, proc.Spec{Argv: argv, Stdout: &out})
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
	return ok("processes", "programs end together with all they start%s", means(c))
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

// means says what holds them together, and what the system lacks.
func means(c *proc.Custody) string {
	switch runtime.GOOS {
	case "linux":
		if err := c.Grouped(); err != nil {
			return fmt.Sprintf(", held by a guard process alone (%v)", err)
		}
		return ", held by a guard process and a control group"
	case "windows":
		return ", held by a job object"
	}
	return ", but for one that leaves its process group: " + runtime.GOOS + " offers nothing to hold it by"
}

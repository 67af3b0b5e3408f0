package sqlite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// TestMain lets the test binary be another process with the store open. Its
// arguments come in the environment.
func TestMain(m *testing.M) {
	role, ok := children[os.Getenv("LEDGER_TEST_ROLE")]
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	if err := role(os.Getenv("LEDGER_TEST_DIR"), os.Getenv("LEDGER_TEST_ARG")); err != nil {
		fmt.Fprintf(os.Stdout, "%T %v\n", err, err)
		os.Exit(1)
	}
}

var children = map[string]func(dir, arg string) error{
	"append": childAppend,
	"open":   childOpen,
}

func openChild(dir string) (*Ledger, error) {
	in, err := instance.Open(filepath.Join(dir, "run"))
	if err != nil {
		return nil, err
	}
	return Open(context.Background(), filepath.Join(dir, "data", "sessions.db"), in)
}

// childAppend takes a session (making it if need be) and appends turns to it
// until it is killed or its stdin ends. After each commit it says the last
// sequence number; a turn is three events, a snapshot and a doc.
func childAppend(dir, id string) error {
	l, err := openChild(dir)
	if err != nil {
		return err
	}
	ctx := context.Background()
	fence, err := l.Acquire(ctx, id)
	if errors.Is(err, session.ErrNotFound) {
		fence, err = l.Create(ctx, session.Info{ID: id, Owner: "local"})
	}
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	info, err := l.Info(ctx, id)
	if err != nil {
		return err
	}
	for last := info.LastSeq; ; {
		select {
		case <-ended:
			return l.Close()
		default:
		}
		last, err = l.Append(ctx, id, fence, turn(last))
		if err != nil {
			return err
		}
		fmt.Println(last)
	}
}

// turn is what childAppend commits after the event last.
func turn(last session.Seq) session.Batch {
	return session.Batch{
		Events: samples(3), Snapshot: []byte(fmt.Sprint(last + 3)), Durable: last%2 == 0,
		Docs: []session.Doc{{Seq: last + 1, Role: "user", Text: fmt.Sprintf("turn %d", last)}},
	}
}

// childOpen opens the store and appends one event.
func childOpen(dir, _ string) error {
	l, err := openChild(dir)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.Create(context.Background(), session.Info{ID: session.NewID("s"), Owner: "local"})
	return err
}

// child is a running process.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

func startChild(t *testing.T, binary, role, dir, arg string) *child {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "LEDGER_TEST_ROLE="+role, "LEDGER_TEST_DIR="+dir, "LEDGER_TEST_ARG="+arg)
	cmd.Stderr = os.Stderr
	c := &child{cmd: cmd}
	var err error
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out = bufio.NewScanner(out)
	return c
}

func (c *child) start(t *testing.T) *child {
	t.Helper()
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// next is the next number the child says, or an error with its last words.
func (c *child) next() (session.Seq, error) {
	if !c.out.Scan() {
		return 0, io.EOF
	}
	n, err := strconv.ParseUint(c.out.Text(), 10, 64)
	if err != nil {
		return 0, errors.New(c.out.Text())
	}
	return session.Seq(n), nil
}

// drain reads what the child said before it was killed and returns the last
// number acknowledged, at least last.
func (c *child) drain(last session.Seq) session.Seq {
	for {
		n, err := c.next()
		if err != nil {
			return last
		}
		last = n
	}
}

// checkWhole checks that a session holds whole turns only, everything that was
// acknowledged, and a snapshot and docs that belong to its last turn.
func checkWhole(t *testing.T, l *Ledger, id string, acknowledged session.Seq) {
	t.Helper()
	n := session.Seq(countEvents(t, l, id))
	if n < acknowledged || n%3 != 0 {
		t.Errorf("%s has %d events, want whole turns and at least %d", id, n, acknowledged)
	}
	data, seq, err := l.Snapshot(t.Context(), id)
	if err != nil || seq != n || n > 0 && string(data) != fmt.Sprint(n) {
		t.Errorf("%s: snapshot %q at %d of %d, %v", id, data, seq, n, err)
	}
	hits, err := l.Search(t.Context(), "turn", session.Filter{}, 1<<20)
	docs := 0
	for _, h := range hits {
		if h.Info.ID == id {
			docs++
		}
	}
	if err != nil || docs != int(n)/3 {
		t.Errorf("%s: %d docs for %d events, %v", id, docs, n, err)
	}
}

// TestTwoProcesses lets two processes append to sessions of their own while
// this one does too.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	l := openIn(t, dir)
	const commits = 200
	var wg sync.WaitGroup
	for _, id := range []string{"s_a", "s_b"} {
		c := startChild(t, os.Args[0], "append", dir, id).start(t)
		wg.Go(func() {
			for want := session.Seq(3); want <= 3*commits; want += 3 {
				if got, err := c.next(); err != nil || got != want {
					t.Errorf("%s said %d, %v, want %d", id, got, err, want)
					return
				}
			}
			c.stdin.Close()
			c.drain(0)
			if err := c.cmd.Wait(); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	fence, err := l.Create(t.Context(), session.Info{ID: "s_c", Owner: "local"})
	if err != nil {
		t.Fatal(err)
	}
	for last := session.Seq(0); last < 3*commits; last += 3 {
		if _, err := l.Append(t.Context(), "s_c", fence, turn(last)); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	for _, id := range []string{"s_a", "s_b", "s_c"} {
		checkWhole(t, l, id, 3*commits)
		if info, err := l.Info(t.Context(), id); err != nil || info.Active != (id == "s_c") {
			t.Errorf("%s is active: %v, %v", id, info.Active, err)
		}
	}
}

// TestKilledOwner kills a process in the middle of its appends: its session is
// active as long as it lives, and taken over at once when it is dead.
func TestKilledOwner(t *testing.T) {
	dir := t.TempDir()
	l := openIn(t, dir)
	c := startChild(t, os.Args[0], "append", dir, "s_1").start(t)
	last, err := c.next()
	if err != nil {
		t.Fatal(err)
	}
	var elsewhere *session.ActiveElsewhereError
	if _, err := l.Acquire(t.Context(), "s_1"); !errors.As(err, &elsewhere) {
		t.Fatalf("Acquire while its owner lives: %v, want an ActiveElsewhereError", err)
	}
	if peer, ok := l.inst.Peer(elsewhere.Instance); !ok || peer.PID != c.cmd.Process.Pid || peer.Socket != elsewhere.Socket {
		t.Errorf("it is active in %+v (%v), want process %d", elsewhere, peer, c.cmd.Process.Pid)
	}
	_ = c.cmd.Process.Kill()
	last = c.drain(last)
	_ = c.cmd.Wait()
	fence, err := l.Acquire(t.Context(), "s_1")
	if err != nil {
		t.Fatalf("Acquire after its owner died: %v", err)
	}
	checkWhole(t, l, "s_1", last)
	n := session.Seq(countEvents(t, l, "s_1"))
	if got, err := l.Append(t.Context(), "s_1", fence, turn(n)); err != nil || got != n+3 {
		t.Errorf("Append: %d, %v, want %d", got, err, n+3)
	}
}

// TestS15_KillAnytime kills a process at random moments of its appends, again
// and again on one store: it opens, nothing is torn, and everything that was
// acknowledged is there.
func TestS15_KillAnytime(t *testing.T) {
	rounds, seed := 10, uint64(time.Now().UnixNano())
	if os.Getenv("GRAPNEL_SOAK") != "" {
		rounds = 200
	}
	t.Logf("%d rounds, seed %d", rounds, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	dir := t.TempDir()
	for round := range rounds {
		id := fmt.Sprint("s_", round%3)
		c := startChild(t, os.Args[0], "append", dir, id).start(t)
		var last session.Seq
		// Some are killed while they open, before they said anything.
		for range rng.IntN(30) {
			n, err := c.next()
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			last = n
		}
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Microsecond)
		_ = c.cmd.Process.Kill()
		last = c.drain(last)
		_ = c.cmd.Wait()

		l := openIn(t, dir)
		if _, err := l.Info(t.Context(), id); errors.Is(err, session.ErrNotFound) && last == 0 {
			// It died before its session was made.
		} else {
			checkWhole(t, l, id, last)
		}
		if err := l.check(t.Context(), l.writer.conn); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("round %d: %v", round, err)
		}
		l.Close()
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
	if got, _ := filepath.Glob(filepath.Join(dir, "data", "*damaged*")); len(got) > 0 {
		t.Errorf("stores were moved aside: %s", strings.Join(got, ", "))
	}
}

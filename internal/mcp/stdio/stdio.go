// Package stdio is the transport of MCP servers that are child processes: JSON
// lines over their standard input and output, as the protocol says, with the
// whole process tree in custody and every direction bounded. A server that
// floods, prints garbage, sends a line of 100 MB or reads nothing costs its own
// connection at most.
package stdio

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/proc"
)

const (
	// MaxLine is the longest message taken from a server, in bytes: 10 MiB of
	// content in base64, and what is around it.
	MaxLine = 16 << 20
	// closeGrace is how long a server may take to leave when its input ends.
	closeGrace = 5 * time.Second
	// termGrace is how long it may take after SIGTERM.
	termGrace = 2 * time.Second
	// writeBound is how long a server may leave a message to it unread.
	writeBound = 30 * time.Second
	// outbox is how many messages may wait to be written.
	outbox = 64
)

// Transport starts a server and talks to it. It is used for one connection.
type Transport struct {
	// Spec is the program, its directory and its environment. The rest of it is
	// set by Connect.
	Spec proc.Spec
	// Procs starts the program and keeps it; nil starts it without a record.
	Procs *proc.Custody
	// Stderr gets what the program logs; nil drops it.
	Stderr *proc.Tail
	// Noise gets lines of its standard output that are no messages; nil drops
	// them.
	Noise *proc.Tail
	// MaxLine bounds one message in bytes; 0 means the constant MaxLine.
	MaxLine int

	conn *conn
}

// Connect implements mcp.Transport: it starts the program. The error is of
// package proc, or says that pipes could not be made.
func (t *Transport) Connect(ctx context.Context) (mcp.Connection, error) {
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	spec := t.Spec
	spec.StdinPipe, spec.EOFGrace, spec.Grace = true, closeGrace, termGrace
	spec.Stdout = outW
	if t.Stderr != nil {
		spec.Stderr = t.Stderr
	}
	p, err := t.Procs.Start(context.WithoutCancel(ctx), spec)
	_ = outW.Close() // the child's end
	if err != nil {
		_ = outR.Close()
		return nil, err
	}
	t.conn = newConn(p, outR, t.Noise, t.MaxLine)
	return t.conn, nil
}

// Close ends the program, if it was started, and returns when its whole tree is
// gone.
func (t *Transport) Close() {
	if t.conn != nil {
		_ = t.conn.Close() // it has no error to report
	}
}

// exitPatience is how long Exit waits for a program whose output has ended.
const exitPatience = 500 * time.Millisecond

// Exit says how the program ended, which it waits for a moment: "" while it runs
// or when it was never started.
func (t *Transport) Exit() string {
	if t.conn == nil {
		return ""
	}
	select {
	case <-t.conn.proc.Done():
	case <-time.After(exitPatience):
		return ""
	}
	exit, err := t.conn.proc.Wait()
	switch {
	case err != nil:
		return err.Error()
	case exit.Signal != "":
		return "it was ended by " + exit.Signal
	}
	return fmt.Sprintf("it exited with code %d", exit.Code)
}

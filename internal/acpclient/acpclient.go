// Package acpclient is a client of ACP for people and scripts in a terminal: it
// starts an agent or dials a gateway, sends what is typed, shows all that comes
// back, serves files and terminals within one directory, and asks before
// anything but a proven read is allowed.
package acpclient

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
)

// How a run can end other than well. The text is in the error around them.
var (
	ErrFailed      = errors.New("the agent failed")
	ErrCapped      = errors.New("the turn was cut short")
	ErrRefused     = errors.New("the agent refused")
	ErrDenied      = errors.New("a permission was denied")
	ErrInterrupted = errors.New("interrupted")
)

// Options say what to talk to and how.
type Options struct {
	Cwd string // absolute: of the session, and bound of files and reads

	// Server is the command of the agent with its arguments; with Dial it is not
	// used. ServerEnv is its whole environment.
	Server    []string
	ServerEnv []string
	// Dial connects to an agent that runs already, on another machine perhaps.
	Dial func(ctx context.Context) (acp.MessageConn, error)

	Files     bool // serve files; with Dial also: its paths are the ones here
	Terminals bool // serve terminals; with Dial also: all tools work here

	Key    string // session key (_meta.sessionKey); empty for none
	Load   string // id of a session to load, with its history
	Resume string // id of a session to resume, without

	Environ   []string // of commands in terminals
	Forbidden []string // places that are never read or written, see fsroot
	Own       []string // files of Grapnel itself

	Wire          bool // log messages
	ServerVerbose bool // show the server's stderr
	Redact        func(string) string

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal is the terminal to work in; nil for a script, whose prompts are
	// the lines of Stdin.
	Terminal *os.File
	Color    bool

	// StartTimeout bounds the wait for the answer to initialize; 0 means a
	// minute.
	StartTimeout time.Duration
}

const (
	defaultStart = time.Minute
	// farewell is how long a cancelled turn may take to end.
	farewell = 3 * time.Second
)

// Run talks until the input or ctx ends, or the agent does. It returns nil when
// all turns ended well, else an error that matches one of the Err values, or one
// that says why there was no session.
func Run(ctx context.Context, o Options) (err error) {
	if o.StartTimeout == 0 {
		o.StartTimeout = defaultStart
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	if o.Terminal != nil {
		return interactive(ctx, o)
	}
	return scripted(ctx, o)
}

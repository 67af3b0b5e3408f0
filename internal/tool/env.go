package tool

import (
	"context"
	"errors"
	"time"
)

// Env is what a call may use of the session it belongs to. The loop builds one
// per turn; Reads lives as long as the session.
type Env struct {
	Cwd string // absolute; relative paths and commands start here

	// FS and Terminals are the client's hands. Nil means the client offers
	// none and the host's are used.
	FS        FS
	Terminals Terminals
	// FSRoots are the directories the client knows, where FS is used. Empty
	// means Cwd alone; files of other roots are always the host's.
	FSRoots []string

	// ShellEnv is the whole environment of commands, as KEY=value; nil means
	// the scrubbed environment of this process (proc.Environ).
	ShellEnv []string

	Limits Limits // zero values mean DefaultLimits
	Asker  Asker  // nil means nobody can answer
	Reads  *Reads // what the model has seen of files; nil disables the check
}

// Limits bound what one call may cost.
type Limits struct {
	FileBytes     int64         // largest file read whole or written
	ModelBytes    int           // longest Result.Text
	OutputBytes   int           // most command output kept for people
	Matches       int           // most matches of one search
	Timeout       time.Duration // of a command that names none
	MaxTimeout    time.Duration // longest a command may ask for
	ClientTimeout time.Duration // how long a client may take over one file
}

// DefaultLimits returns the limits used where Env leaves a zero.
func DefaultLimits() Limits {
	return Limits{
		FileBytes:     10 << 20, // an edit holds a file three times in memory
		ModelBytes:    64 << 10, // about 16 k tokens
		OutputBytes:   512 << 10,
		Matches:       200,
		Timeout:       120 * time.Second,
		MaxTimeout:    600 * time.Second,
		ClientTimeout: 30 * time.Second, // an editor may have to open the buffer first
	}
}

// ErrNotOffered is returned by hands for something the client turned out not
// to serve; the host's own hands are used instead.
var ErrNotOffered = errors.New("the client does not offer this")

// FS reads and writes text files through the client, so that unsaved buffers
// count. Paths are absolute and have been resolved and judged. A missing file
// is an error that matches fs.ErrNotExist.
type FS interface {
	// ReadTextFile returns limit lines from line (from 1); zeros mean all.
	ReadTextFile(ctx context.Context, path string, line, limit int) (string, error)
	WriteTextFile(ctx context.Context, path, content string) error
}

// Terminals runs commands in the client's terminals.
type Terminals interface {
	// CreateTerminal starts argv; limit is how many bytes of output to keep.
	CreateTerminal(ctx context.Context, argv []string, cwd string, env map[string]string, limit int64) (id string, err error)
	// TerminalOutput returns what was kept so far; exit is nil while it runs.
	TerminalOutput(ctx context.Context, id string) (out string, truncated bool, exit *Exit, err error)
	WaitTerminal(ctx context.Context, id string) (Exit, error)
	// KillTerminal ends the command; the id stays valid until released.
	KillTerminal(ctx context.Context, id string) error
	ReleaseTerminal(ctx context.Context, id string) error
}

// Exit is how a command ended: one of the two is set.
type Exit struct {
	Code   *int
	Signal string
}

// Question is something only a person can answer.
type Question struct {
	Text string
	// Choices are what may be answered; empty asks for free text.
	Choices []string
	// Escalation marks a call for help rather than a question of detail.
	Escalation bool
}

// Asker puts questions to whoever is attached to the session.
type Asker interface {
	// Ask returns the answer, or an error that says why there is none: nobody
	// can answer, it was declined, or the time ran out.
	Ask(ctx context.Context, q Question) (string, error)
}

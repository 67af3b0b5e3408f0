package tool

import (
	"cmp"
	"context"
	"time"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/skill"
)

// Env is what a call may use of the session it belongs to. The loop builds one
// per turn; Reads lives as long as the session.
type Env struct {
	Roots *fsroot.Set // every path a tool touches is resolved here; the first root is Cwd
	Cwd   string      // real and absolute; relative paths and commands start here

	// Hands are the client's file system and terminals. What is nil there is
	// done on the host. Files of the agent's own workspace and files outside all
	// roots are always the host's: no client has them open.
	Hands session.Hands
	// Away stands in for Roots where Hands do everything; nil elsewhere.
	Away *Away

	// ShellEnv is the whole environment of commands, as KEY=value; nil means
	// the scrubbed environment of this process (proc.Environ).
	ShellEnv []string

	// Confine puts a command into the sandbox: what it returns is run instead. It
	// leaves out of it only what its Decision lets out.
	// Its error refuses the command and is one sentence for people and the
	// model. Nil means that commands run as they are, in the client's terminal
	// where it has one; what is confined always runs on the host.
	Confine func(context.Context, Confinement, proc.Spec) (proc.Spec, error)

	// Procs starts commands and keeps them; nil starts them without a record.
	Procs *proc.Custody

	Limits Limits // zero values mean DefaultLimits
	Asker  Asker  // nil means nobody can answer
	Reads  *Reads // what the model has seen of files; nil disables the check

	// Skills are what read_skill reads; nil means there are none.
	Skills *skill.Catalogue

	// Spawner starts subagents; nil means there are none.
	Spawner Spawner

	// Judge says early whether policy forbids a subject outright, before the
	// client hears of its paths. The loop judges every Call before it runs in any
	// case; nil leaves it at that.
	Judge func(policy.Subject) error
}

// Confinement is what there is to know of a command that is to be confined.
type Confinement struct {
	Decision policy.Decision // what let it run
	ReadOnly bool            // it has no need to write
}

// limits returns Limits with the defaults filled in.
func (e *Env) limits() Limits {
	l, d := e.Limits, DefaultLimits()
	l.FileBytes = cmp.Or(l.FileBytes, d.FileBytes)
	l.ModelBytes = cmp.Or(l.ModelBytes, d.ModelBytes)
	l.OutputBytes = cmp.Or(l.OutputBytes, d.OutputBytes)
	l.Matches = cmp.Or(l.Matches, d.Matches)
	l.Timeout = cmp.Or(l.Timeout, d.Timeout)
	l.MaxTimeout = cmp.Or(l.MaxTimeout, d.MaxTimeout)
	l.ClientTimeout = cmp.Or(l.ClientTimeout, d.ClientTimeout)
	return l
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

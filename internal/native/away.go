package native

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/tool"
)

// away is the client's file system in a turn that is done by its hands alone; nil
// in all others.
func (t *turn) away() *tool.Away {
	if !t.Hands.Only {
		return nil
	}
	return &tool.Away{
		Roots:     append([]string{t.info.Cwd}, t.info.Roots...),
		Forbidden: t.agent.FSRoots.Forbidden,
		Anywhere:  t.agent.FSRoots.Anywhere,
	}
}

// tools are what the agent can use in this turn now.
func (t *turn) tools() *tool.Set {
	if !t.Hands.Only {
		return t.handle.tools()
	}
	own := t.ownTools()
	if s := &t.sets; s.away == nil || s.awayOf != own {
		s.away, s.awayOf = t.allowed(own.Only(tool.AwayTools()...)), own
	}
	t.sets.step, t.sets.stepOwn = t.sets.away, nil // the next turn may be another's
	return t.sets.step
}

// readAway is a text file of the client, up to a bound.
func (t *turn) readAway(ctx context.Context, name string) (string, error) {
	target, err := t.away().Resolve(name, t.info.Cwd)
	switch {
	case err != nil:
		return "", err
	case !target.InRoot():
		return "", fsroot.ErrOutside
	case !t.mayRead(target):
		return "", errDenied
	}
	text, ok := t.clientText(ctx, target.Abs)
	if !ok {
		return "", fs.ErrNotExist
	}
	return text, nil
}

// projectAway finds the project's instructions at the client, once a turn.
func (t *turn) projectAway(ctx context.Context) {
	t.awayFile, t.awayText = "", ""
	for _, name := range projectFiles {
		path := filepath.Join(t.info.Cwd, name)
		if text, err := t.readAway(ctx, path); err == nil && text != "" {
			t.awayFile, t.awayText = path, text
			return
		}
	}
}

// awayStamp tells one state of those instructions from another.
func (t *turn) awayStamp() stamp {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.awayText)) // never fails
	return stamp{path: t.awayFile, size: int64(h.Sum64())}
}

// openAway opens the agent's own place alone, for a session whose directory is
// not on this machine. Its turns are for clients whose hands do everything.
func (h *handle) openAway(cause error) (*fsroot.Set, error) {
	if h.agent.Workspace == "" || !errors.Is(cause, fs.ErrNotExist) {
		return nil, cause
	}
	h.elsewhere = true
	return fsroot.Open([]fsroot.Root{{Path: h.agent.Workspace, Name: fsroot.NameWorkspace}}, h.agent.FSRoots)
}

// reachable refuses a turn that would work in a directory which is not here.
func (t *turn) reachable() error {
	if !t.elsewhere || t.Hands.Only {
		return nil
	}
	return &session.FailureError{Failure: session.Failure{
		Code: codeInternal,
		Message: fmt.Sprintf("the session's directory %s is not on this machine: prompt it from the client that has it, or load the session with another cwd",
			t.info.Cwd),
		Data: reasonData("cwd_not_here"),
	}}
}

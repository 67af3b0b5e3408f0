package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/policy"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/transcript"
)

// TrialOptions say what kind of session policy is tried for.
type TrialOptions struct {
	Home    config.Home
	Environ []string
	Agent   string // alias; "" for the one a new session gets
	Mode    string // "" for the one a session begins in
	Cwd     string // a directory; "" for where we are
	// Session is a stored one whose place, roots and grants are used; its agent
	// too unless Agent names another.
	Session *session.Info
}

// Trial is policy as a session would have it.
type Trial struct {
	*native.Trial
	Agent string
	Cwd   string
}

// OpenTrial begins a trial, which must be closed. Nothing is stored.
func OpenTrial(ctx context.Context, o TrialOptions) (*Trial, error) {
	a := &App{conf: newLive(o.Home, o.Environ), redact: environmentSecrets(o.Environ)} // what an agent is made of
	a.auth = &auth{conf: a.conf, redact: a.redact}
	if err := a.conf.environmentError(); err != nil {
		return nil, err
	}
	c, err := a.conf.get()
	if err != nil {
		return nil, err
	}
	info, err := trialInfo(c, o)
	if err != nil {
		return nil, err
	}
	if c.Agents[info.Agent].Driver() != config.DriverNative {
		return nil, fmt.Errorf("agent %s runs an external program, which asks by its own rules", info.Agent)
	}
	a.openSandbox()
	driver := native.New(native.Options{Agent: a.nativeAgent, Rights: a.rightsOf})
	t, err := driver.Try(ctx, native.TrialRequest{Info: info, Mode: policy.Mode(o.Mode)})
	if err != nil {
		return nil, err
	}
	return &Trial{t, info.Agent, info.Cwd}, nil
}

func trialInfo(c *config.Config, o TrialOptions) (session.Info, error) {
	info := session.Info{Owner: localOwner}
	var err error
	switch {
	case o.Session != nil:
		info = *o.Session
		if info.Agent, err = c.PickForLoad(info.Agent); err == nil && o.Agent != "" {
			info.Agent, err = c.PickAgent(o.Agent)
		}
	default:
		info.Agent, err = c.PickAgent(o.Agent)
	}
	if err != nil {
		return info, err
	}
	if o.Session == nil || o.Cwd != "" {
		info.Cwd, err = trialDir(o.Cwd)
	}
	return info, err
}

// trialDir is the real path of a directory, as sessions have it.
func trialDir(dir string) (string, error) {
	if dir == "" {
		dir = "."
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := resolveLinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the directory %s does not exist", dir)
	}
	if err != nil {
		return "", err
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return "", fmt.Errorf("%s is not a directory", dir)
	}
	return real, nil
}

// Calls returns the tool calls of a session, oldest first.
func (s *Sessions) Calls(ctx context.Context, id string) ([]transcript.Call, error) {
	var calls transcript.Calls
	err := s.Events(ctx, id, func(e session.Event) error {
		calls.Add(e)
		return nil
	})
	return calls.List(), err
}

// Past is what became of a call when it was made: allow, ask, deny or, when it
// could not be made, failed; and how in a few words.
func Past(c transcript.Call) (verdict, how string) {
	switch {
	case c.Asked && c.Verdict.Outcome == session.Selected:
		return policy.Ask.String(), "asked, allowed"
	case c.Asked && c.Verdict.Outcome == session.Declined:
		return policy.Ask.String(), "asked, refused"
	case c.Asked:
		return policy.Ask.String(), "asked, nobody answered"
	case strings.HasPrefix(c.Said, native.RefusedByPolicy):
		return policy.Deny.String(), "refused by policy"
	case c.Ran:
		return policy.Allow.String(), "ran unasked"
	}
	return "failed", "was not run"
}

package app

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/hook"
	"github.com/grapnel-ai/grapnel/internal/policy"
)

// rightsOf are what an owner's sessions may have at most. Whoever works on this
// machine has what the agents are given, unless [owners.local] says less; a
// configuration that cannot be read leaves nothing but reading.
func (a *App) rightsOf(owner string) policy.Rights {
	c, err := a.conf.get()
	if err != nil {
		return policy.Rights{Level: policy.ReadOnly}
	}
	return policy.Rights{Level: policy.Level(c.CeilingOf(owner, owner == localOwner))}
}

// points are the user's hooks.
func (a *App) points(c *config.Config) hook.Points {
	h := c.Hooks
	return &hook.Commands{
		Before:     hookCommand(c, h.BeforeToolCall),
		After:      hookCommand(c, h.AfterToolCall),
		Permitting: hookCommand(c, h.PermissionRequest),
		Finalizing: hookCommand(c, h.BeforeFinalize),
		Dir:        string(c.Home()),
		Timeout:    time.Duration(h.TimeoutSecs) * time.Second,
		Procs:      a.procs,
	}
}

// hookCommand is a hook's argument list with a program that does not depend on
// where a session works: a relative path starts at the configuration, ~ is the
// user's home.
func hookCommand(c *config.Config, argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	argv = append([]string(nil), argv...)
	switch rest, tilde := strings.CutPrefix(argv[0], "~/"); {
	case tilde:
		if home, err := os.UserHomeDir(); err == nil {
			argv[0] = filepath.Join(home, rest)
		}
	case strings.ContainsRune(argv[0], filepath.Separator) && !filepath.IsAbs(argv[0]):
		argv[0] = filepath.Join(string(c.Home()), argv[0])
	}
	return argv
}

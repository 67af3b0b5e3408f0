package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/doctor"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

// openSandbox makes the ladder that all sessions share. Nothing is tried yet;
// what processes before us left is removed while we go on.
func (a *App) openSandbox() {
	o := ladderOptions(a.conf.getenv)
	if a.inst != nil {
		base := a.opts.Home.Temp()
		o.Temp = filepath.Join(base, a.inst.ID())
		a.sweep.Go(func() {
			if err := sandbox.Sweep(base, a.inst.Alive); err != nil {
				a.log.Debug("temporary files of earlier processes", "err", err)
			}
		})
	}
	a.sandbox = sandbox.New(o)
}

// closeSandbox removes the place of our temporary files. Each session has
// removed its own.
func (a *App) closeSandbox() {
	a.sweep.Wait()
	_ = a.sandbox.Close() // what it leaves is removed at the next start
	if a.inst != nil {
		_ = os.Remove(filepath.Join(a.opts.Home.Temp(), a.inst.ID()))
		_ = os.Remove(a.opts.Home.Temp()) // fails while others have theirs in it
	}
}

func ladderOptions(getenv func(string) string) sandbox.Options {
	home, _ := os.UserHomeDir() // unknown is fine: then nothing of it is granted
	return sandbox.Options{Home: home, Path: getenv("PATH")}
}

// confinement is what the commands of an agent's sessions may reach.
func confinement(c *config.Config, alias string) sandbox.Session {
	autonomy := c.AutonomyOf(alias)
	return sandbox.Session{
		Use: sandbox.Rung(autonomy.Sandbox), Required: autonomy.SandboxRequired,
		Cache: c.Home().Cache(alias), Readable: []string{c.Home().Skills()},
		Own: []string{c.Home().Temp(), filepath.Dir(c.Home().Cache(alias))},
	}
}

// sandbox looks at every rung that an enabled agent asks for.
func (x Examination) sandbox(ctx context.Context, c *config.Config, getenv func(string) string) []doctor.Finding {
	var found []doctor.Finding
	ladder := sandbox.New(ladderOptions(getenv))
	asked := map[string]bool{}
	for _, alias := range c.Aliases() {
		autonomy := c.AutonomyOf(alias)
		if c.Agents[alias].Driver() != config.DriverNative || asked[autonomy.Sandbox] && !autonomy.SandboxRequired {
			continue
		}
		asked[autonomy.Sandbox] = true
		st, err := ladder.Find(ctx, sandbox.Rung(autonomy.Sandbox))
		if err != nil {
			return append(found, doctor.Skipped("sandbox", err.Error()))
		}
		found = append(found, doctor.Sandbox(alias, st, autonomy.SandboxRequired))
	}
	return found
}

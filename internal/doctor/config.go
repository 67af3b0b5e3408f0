package doctor

import (
	"cmp"
	"os"

	"github.com/grapnel-ai/grapnel/internal/config"
)

// Config reports what is wrong with the configuration, one finding a problem.
func Config(home config.Home, problems []config.Problem) []Finding {
	var found []Finding
	for _, p := range problems {
		fix := "correct it in " + cmp.Or(p.File, home.File())
		if p.Var != "" {
			fix = "correct or unset " + p.Var
		}
		if p.Warning {
			found = append(found, warn("config", fix, "%s", p.Error()))
			continue
		}
		found = append(found, fail("config", fix, "%s", p.Error()))
	}
	if len(found) > 0 {
		return found
	}
	if _, err := os.Stat(home.File()); err != nil {
		return []Finding{ok("config", "%s does not exist; the defaults apply", home.File())}
	}
	return []Finding{ok("config", "%s is valid", home.File())}
}

package doctor

import (
	"errors"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/sandbox"
)

func TestSandbox(t *testing.T) {
	missing := sandbox.Failure{Rung: sandbox.Bubblewrap, Err: errors.New("bwrap is not installed"), Fix: "install it"}
	off := sandbox.Failure{Rung: sandbox.Landlock, Err: errors.New("it is switched off")}
	for name, tc := range map[string]struct {
		st       sandbox.Status
		required bool
		status   Status
		says     string
	}{
		"the first rung":       {sandbox.Status{Rung: sandbox.Bubblewrap}, true, OK, "bubblewrap confines the commands of agent main"},
		"the second":           {sandbox.Status{Rung: sandbox.Landlock, ABI: 7, Failed: []sandbox.Failure{missing}}, false, OK, "Landlock (version 7) with a system call filter confines the commands of agent main, since bubblewrap: bwrap is not installed"},
		"none":                 {sandbox.Status{Rung: sandbox.None, Failed: []sandbox.Failure{missing, off}}, false, Warn, "bwrap is not installed; landlock: it is switched off"},
		"none, and required":   {sandbox.Status{Rung: sandbox.None, Failed: []sandbox.Failure{missing, off}}, true, Fail, "runs no command"},
		"nothing on a system":  {sandbox.Status{Rung: sandbox.None}, false, Warn, "this system offers none"},
		"chosen":               {sandbox.Status{Rung: sandbox.None, Chosen: true}, false, Warn, "the configuration says so"},
		"chosen, and required": {sandbox.Status{Rung: sandbox.None, Chosen: true}, true, Fail, "is to have none"},
	} {
		t.Run(name, func(t *testing.T) {
			found := Sandbox("main", tc.st, tc.required)
			expect(t, []Finding{found}, tc.status, tc.says)
			if len(tc.st.Failed) > 0 && found.Fix != "install it" || tc.status == Warn && found.Fix == "" {
				t.Errorf("the fix is %q", found.Fix)
			}
		})
	}
}

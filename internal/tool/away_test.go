package tool

import (
	"errors"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
)

func TestAwayResolve(t *testing.T) {
	a := &Away{Roots: []string{"/w/project", "/w/more"}, Forbidden: []string{"/w/project/.ssh", "/etc"}}
	anywhere := &Away{Roots: a.Roots, Forbidden: a.Forbidden, Anywhere: true}
	for _, c := range []struct {
		away       *Away
		path, from string
		abs, root  string
		err        error
	}{
		{a, "a/../b", "/w/project", "/w/project/b", fsroot.NameCwd, nil},
		{a, "/w/more/x", "/w/project", "/w/more/x", fsroot.NameExtra, nil},
		{a, ".", "/w/project/sub", "/w/project/sub", fsroot.NameCwd, nil},
		{a, "..", "/w/project", "", "", fsroot.ErrOutside},
		{a, "/w/project2/x", "/w/project", "", "", fsroot.ErrOutside},
		{a, ".ssh/id", "/w/project", "", "", fsroot.ErrForbidden},
		{a, ".sshx", "/w/project", "/w/project/.sshx", fsroot.NameCwd, nil},
		{a, "a\x00b", "/w/project", "", "", fsroot.ErrInvalid},
		{anywhere, "/tmp/x", "/w/project", "/tmp/x", fsroot.NameOutside, nil},
		{anywhere, "/etc/passwd", "/w/project", "", "", fsroot.ErrForbidden},
	} {
		got, err := c.away.Resolve(c.path, c.from)
		if !errors.Is(err, c.err) || err == nil && (got.Abs != c.abs || got.Root.Name != c.root) {
			t.Errorf("%q from %s: %+v, %v", c.path, c.from, got, err)
		}
	}
}

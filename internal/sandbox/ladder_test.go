package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A bubblewrap that is there and of no use.
func TestHalfWorkingBubblewrap(t *testing.T) {
	real := newWorld(t, Bubblewrap, Options{}).ladder.findBubblewrap()
	for name, tc := range map[string]struct{ script, want string }{
		"no namespaces":          {`echo "bwrap: No permissions to create new namespace" >&2; exit 1`, "No permissions to create new namespace"},
		"it confines nothing":    {`while [ "$1" != -- ]; do shift; done; shift; exec "$@"`, "does not keep them from reading"},
		"it hangs":               {`sleep 100`, "did not start a command within 300ms"},
		"it is silent and fails": {`exit 3`, "exit code 3"},
		"it is killed":           {`kill -9 $$`, "SIGKILL"},
		"it floods":              {`yes flood | head -c 1000000 >&2; exit 1`, "flood"},
		"an old one":             {`for a; do [ "$a" = --disable-userns ] && { echo "bwrap: Unknown option --disable-userns" >&2; exit 1; }; done; exec ` + real + ` "$@"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			fake := filepath.Join(t.TempDir(), "bwrap")
			if err := os.WriteFile(fake, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			patience := 300 * time.Millisecond
			if tc.want == "" {
				patience = 0 // as usual
			}
			l := New(Options{Bubblewrap: fake, Path: "/usr/bin:/bin", ProbeTime: patience})
			st, err := l.Find(t.Context(), Bubblewrap)
			if err != nil {
				t.Fatal(err)
			}
			if tc.want == "" {
				if !st.Works() {
					t.Errorf("it does not work: %s", st.Why())
				}
				return
			}
			if st.Works() || !strings.Contains(st.Why(), tc.want) || st.Fix() == "" || strings.Contains(st.Why(), "\n") {
				t.Errorf("works %v, why %q, fix %q", st.Works(), st.Why(), st.Fix())
			}
			if st, err := l.Find(t.Context(), Auto); err != nil || st.Works() && st.Rung != Landlock {
				t.Errorf("the next rung: %+v, %v", st, err)
			}
		})
	}
}

func TestNoBubblewrap(t *testing.T) {
	l := New(Options{Bubblewrap: filepath.Join(t.TempDir(), "bwrap"), Path: "/usr/bin:/bin"})
	st, err := l.Find(t.Context(), Bubblewrap)
	if err != nil || st.Works() {
		t.Errorf("%+v, %v", st, err)
	}
}

// Nobody who waits is kept longer than they want, and the trial goes on.
func TestTrialOutlivesItsCaller(t *testing.T) {
	fake := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nsleep 100\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	l := New(Options{Bubblewrap: fake, Path: "/usr/bin:/bin", ProbeTime: 300 * time.Millisecond})
	gone := errors.New("gone away")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := l.Find(ctx, Bubblewrap); !errors.Is(err, gone) {
		t.Errorf("it was waited for: %v", err)
	}
	if st, err := l.Find(t.Context(), Bubblewrap); err != nil || st.Works() || !strings.Contains(st.Why(), "within") {
		t.Errorf("afterwards: %+v, %v", st, err)
	}
}

func TestFixFor(t *testing.T) {
	for name, want := range map[string]string{
		"kernel/apparmor_restrict_unprivileged_userns=1": "AppArmor",
		"kernel/unprivileged_userns_clone=0":             "unprivileged_userns_clone=1",
		"user/max_user_namespaces=0":                     "max_user_namespaces=",
		"user/max_user_namespaces=63000":                 "bwrap --ro-bind",
	} {
		key, value, _ := strings.Cut(name, "=")
		got := fixFor(func(n string) string {
			if n == key {
				return value
			}
			return ""
		})
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestRungs(t *testing.T) {
	if got := rungs("windows"); len(got) != 0 {
		t.Errorf("windows: %v", got)
	}
	if got := rungs("darwin"); len(got) != 1 || got[0] != Seatbelt {
		t.Errorf("darwin: %v", got)
	}
}

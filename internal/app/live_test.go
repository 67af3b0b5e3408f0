package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/config"
)

// newHome makes a home with a config.toml; "" for none.
func newHome(t *testing.T, text string) config.Home {
	t.Helper()
	home := config.Home(t.TempDir())
	if text != "" {
		write(t, home, text)
	}
	return home
}

func write(t *testing.T, home config.Home, text string) {
	t.Helper()
	if err := os.WriteFile(home.File(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func maxSessions(t *testing.T, l *live) int {
	t.Helper()
	c, err := l.get()
	if err != nil {
		t.Fatal(err)
	}
	return c.ACP.MaxSessions
}

func TestLiveFollowsTheFile(t *testing.T) {
	home := newHome(t, "[acp]\nmax_sessions = 3\n")
	l := newLive(home, nil)
	if got := maxSessions(t, l); got != 3 {
		t.Errorf("max_sessions %d", got)
	}
	write(t, home, "[acp]\nmax_sessions = 44\n")
	if got := maxSessions(t, l); got != 44 {
		t.Errorf("after a change: %d", got)
	}
	write(t, home, "[acp]\nmax_sesions = 5\n")
	if got := maxSessions(t, l); got != 44 {
		t.Errorf("a broken file took effect: %d", got)
	}
	if err := l.problem(); err == nil || !strings.Contains(err.Error(), "max_sessions") {
		t.Errorf("the problem is %v", err)
	}
	if err := os.Remove(home.File()); err != nil {
		t.Fatal(err)
	}
	if got, want := maxSessions(t, l), config.Default().ACP.MaxSessions; got != want {
		t.Errorf("without the file: %d, the default is %d", got, want)
	}
}

func TestLiveBrokenFromTheStart(t *testing.T) {
	home := newHome(t, "not toml at all")
	l := newLive(home, nil)
	if _, err := l.get(); err == nil || !strings.Contains(err.Error(), "config.toml:1") {
		t.Errorf("got %v", err)
	}
	if err := l.environmentError(); err != nil {
		t.Errorf("a broken file is no problem of the environment: %v", err)
	}
	write(t, home, "[acp]\nmax_sessions = 7\n")
	if got := maxSessions(t, l); got != 7 {
		t.Errorf("after the repair: %d", got)
	}
}

func TestWrongOverrideStopsTheStart(t *testing.T) {
	_, err := Open(t.Context(), Options{
		Home: newHome(t, ""), Environ: []string{"GRAPNEL_acp__max_sesions=3"}, Stderr: new(strings.Builder),
	})
	if err == nil || !strings.Contains(err.Error(), "GRAPNEL_acp__max_sesions") {
		t.Errorf("got %v", err)
	}
}

func TestAuthFollowsTheKey(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	l := newLive(newHome(t, "[providers.x]\nkind = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\napi_key = \"file:"+key+"\"\n"), nil)
	a := &auth{conf: l}
	ctx := context.Background()
	if err := a.Authenticate(ctx, methodKey); err == nil {
		t.Error("authenticated without a key")
	}
	if err := os.WriteFile(key, []byte("k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.Logout(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Authenticate(ctx, methodKey); err != nil || a.loggedOut.Load() {
		t.Errorf("with the key in place: %v, logged out %v", err, a.loggedOut.Load())
	}
	for _, method := range []string{methodSetup, "nonsense"} {
		if err := a.Authenticate(ctx, method); err == nil {
			t.Errorf("method %s was accepted", method)
		}
	}
	if got := len(a.Methods(false)); got != 1 {
		t.Errorf("%d methods without a terminal", got)
	}
}

package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/acpclient"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

func TestServerArgsAreCut(t *testing.T) {
	for line, want := range map[string]string{
		"acp client --server x --server-args -v --help":     "acp client --server x --server-args | -v --help",
		"acp client --server-args":                          "acp client --server-args | ",
		"acp client --server-args --server-args x":          "acp client --server-args | --server-args x",
		"--config-dir d acp client --cwd . --server-args -": "--config-dir d acp client --cwd . --server-args | -",
		"acp --server-args client":                          "acp --server-args client | ",
		"config get --server-args x":                        "config get --server-args x | ",
		"acp client --server x":                             "acp client --server x | ",
	} {
		ours, theirs := cutServerArgs(strings.Fields(line))
		if got := strings.Join(ours, " ") + " | " + strings.Join(theirs, " "); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestDialed: what is wrong with a gateway's address or token is told without
// either.
func TestDialed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]acpClientFlags{
		"no scheme":            {url: "host:42617"},
		"another scheme":       {url: "ftp://host"},
		"a password":           {url: "wss://me:SEKRET@host"},
		"a token":              {url: "wss://host?token=SEKRET"},
		"a token in no URL":    {url: "ws://a b?token=SEKRET"},
		"a file without token": {url: "wss://host", tokenFile: empty},
	} {
		err := new(invocation).dialed(new(acpclient.Options), f, secret.NewRedactor())
		if err == nil || strings.Contains(err.Error(), "SEKRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := new(invocation).dialed(new(acpclient.Options), acpClientFlags{url: "https://host"}, secret.NewRedactor()); err != nil {
		t.Error(err)
	}
}

func TestClientEnviron(t *testing.T) {
	got := clientEnviron([]string{
		"PATH=/bin", "HOME=/home/me", "XDG_RUNTIME_DIR=/run/me", "EDITOR=vi", "GRAPNEL_SHELL=acp", "GRAPNEL_CONFIG_DIR=/x", "GRAPNEL_ACP_BRIDGE_TOKEN=t",
		"OPENAI_API_KEY=short", "BOT_TOKEN=zzz", "DB_PASSWORD=p", "ODD=sk-1234567890123456", "broken",
	})
	slices.Sort(got)
	want := []string{"EDITOR=vi", "GRAPNEL_SHELL=acp-client", "HOME=/home/me", "PATH=/bin", "XDG_RUNTIME_DIR=/run/me"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestClientExit(t *testing.T) {
	for _, c := range []struct {
		err   error
		code  int
		shown bool
	}{
		{errors.New("x"), ExitFailed, true},
		{fmt.Errorf("%w: x", acpclient.ErrFailed), ExitFailed, true},
		{&acpclient.ToldError{Err: acpclient.ErrFailed}, ExitFailed, false},
		{&acpclient.ToldError{Err: acpclient.ErrCapped}, exitCapped, false},
		{&acpclient.ToldError{Err: acpclient.ErrRefused}, exitRefused, false},
		{&acpclient.ToldError{Err: acpclient.ErrDenied}, exitDenied, false},
		{errors.Join(acpclient.ErrInterrupted, acpclient.ErrFailed), ExitInterrupted, false},
	} {
		coded := (*codeError)(nil)
		if got := clientExit(c.err); !errors.As(got, &coded) || coded.code != c.code || (coded.err != nil) != c.shown {
			t.Errorf("%v: %+v", c.err, coded)
		}
	}
	if err := clientExit(nil); err != nil {
		t.Error(err)
	}
}

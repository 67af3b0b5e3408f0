package start

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/grapnel-ai/grapnel/internal/beacon"
	"github.com/grapnel-ai/grapnel/internal/bridge"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// The environment's credentials.
const (
	bridgeTokenEnv  = "GRAPNEL_ACP_BRIDGE_TOKEN"
	gatewayTokenEnv = "GRAPNEL_GATEWAY_TOKEN"
	gatewayPassEnv  = "GRAPNEL_GATEWAY_PASSWORD"
)

// longestSecret bounds a file that holds a credential.
const longestSecret = 64 << 10

// finder finds the gateway and the credential for it, anew at each attempt. It
// reads the configuration only where the flags leave something open.
type finder struct {
	flags *Flags
	world World
	seen  *secret.Redactor

	mu   sync.Mutex // one attempt at a time
	conf *config.Config
}

// find is bridge.Options.Target. Its errors are *bridge.RefusedError, but for a
// local gateway that is not there yet.
func (f *finder) find(ctx context.Context) (bridge.Target, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conf = nil
	u, kind, err := f.address()
	if err != nil {
		return bridge.Target{}, err
	}
	header, err := f.credential(ctx, u, kind)
	if err != nil {
		return bridge.Target{}, &bridge.RefusedError{Err: err}
	}
	return bridge.Target{URL: u.String(), Header: header, Far: bridge.IsFar(u)}, nil
}

// kind is where the gateway's address comes from.
type kind int

const (
	explicit kind = iota // --url
	remote               // gateway.remote.url
	local                // of this configuration directory
)

func (f *finder) address() (*url.URL, kind, error) {
	if f.flags.URL != "" {
		u, err := bridge.ParseURL(f.flags.URL, f.world.Agent)
		return u, explicit, err
	}
	c, err := f.config()
	if err != nil {
		return nil, remote, &bridge.RefusedError{Err: err}
	}
	if c.Gateway.Remote.URL != "" {
		u, err := bridge.ParseURL(c.Gateway.Remote.URL, f.world.Agent)
		if err != nil {
			return nil, remote, &bridge.RefusedError{Err: fmt.Errorf("gateway.remote.url: %w", err)}
		}
		return u, remote, nil
	}
	b, err := beacon.Find(string(f.world.Home))
	if err != nil {
		return nil, local, fmt.Errorf("%w, or give the address of another one with --url", err)
	}
	u, err := bridge.ParseURL(b.ACP, f.world.Agent)
	return u, local, err
}

func (f *finder) config() (*config.Config, error) {
	if f.conf != nil {
		return f.conf, nil
	}
	c, err := config.Load(f.world.Home, f.world.Environ)
	f.conf = c
	return c, err
}

func (f *finder) getenv(name string) string {
	for _, entry := range f.world.Environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// credential goes through the places a credential may be in; the first that is
// set counts, and fails closed when it cannot be read. None is no error here: the
// gateway says what it thinks of that.
func (f *finder) credential(ctx context.Context, u *url.URL, k kind) (http.Header, error) {
	header, err := f.flagged()
	if header != nil || err != nil {
		return header, err
	}
	if token := f.getenv(bridgeTokenEnv); token != "" {
		return f.bearer(token), nil
	}
	if k != explicit {
		header, err = f.implied(ctx, k)
		if header != nil || err != nil {
			return header, err
		}
	}
	return f.paired(ctx, u)
}

func (f *finder) bearer(token string) http.Header {
	f.seen.Add(token)
	return bridge.Bearer(token)
}

func (f *finder) basic(password string) http.Header {
	f.seen.Add(password)
	return bridge.Basic(password)
}

// flagged is the credential of the flags.
func (f *finder) flagged() (http.Header, error) {
	switch {
	case f.flags.Token != "":
		return f.bearer(f.flags.Token), nil
	case f.flags.Password != "":
		return f.basic(f.flags.Password), nil
	case f.flags.TokenFile != "":
		token, err := ReadSecret("--token-file", f.flags.TokenFile, false)
		if err != nil {
			return nil, err
		}
		return f.bearer(token), nil
	case f.flags.PasswordFile != "":
		password, err := ReadSecret("--password-file", f.flags.PasswordFile, false)
		if err != nil {
			return nil, err
		}
		return f.basic(password), nil
	}
	return nil, nil
}

// implied is the credential that belongs to a gateway nobody named on the
// command line.
func (f *finder) implied(ctx context.Context, k kind) (http.Header, error) {
	c, err := f.config()
	if err != nil {
		return nil, err
	}
	far := configured{"gateway.remote", c.Gateway.Remote.Token, c.Gateway.Remote.Password}
	near := configured{"gateway.auth", c.Gateway.Auth.Token, c.Gateway.Auth.Password}
	var header http.Header
	if k == remote {
		if header, err = f.resolve(ctx, far); header == nil && err == nil {
			header = f.environment()
		}
	} else if header = f.environment(); header == nil {
		if header, err = f.resolve(ctx, near); header == nil && err == nil {
			header, err = f.resolve(ctx, far)
		}
	}
	if header != nil || err != nil {
		return header, err
	}
	name := filepath.Join(c.DataPath(), "bridge-token")
	if _, err := os.Lstat(name); err != nil {
		return nil, nil
	}
	token, err := ReadSecret("the bridge's token", name, true)
	if err != nil {
		return nil, err
	}
	return f.bearer(token), nil
}

func (f *finder) environment() http.Header {
	if token := f.getenv(gatewayTokenEnv); token != "" {
		return f.bearer(token)
	}
	if password := f.getenv(gatewayPassEnv); password != "" {
		return f.basic(password)
	}
	return nil
}

// configured is a place in the configuration that may hold a credential.
type configured struct {
	name            string
	token, password secret.Ref
}

func (f *finder) resolve(ctx context.Context, c configured) (http.Header, error) {
	src := secret.Source{
		Getenv: f.getenv, Dir: string(f.world.Home), KeyFile: f.world.Home.KeyFile(), Seen: f.seen,
	}
	if !c.token.IsZero() {
		token, err := c.token.Resolve(ctx, src)
		if err != nil {
			return nil, fmt.Errorf("%s.token cannot be resolved: %w", c.name, err)
		}
		return f.bearer(token), nil
	}
	if !c.password.IsZero() {
		password, err := c.password.Resolve(ctx, src)
		if err != nil {
			return nil, fmt.Errorf("%s.password cannot be resolved: %w", c.name, err)
		}
		return f.basic(password), nil
	}
	return nil, nil
}

// ReadSecret reads a file that holds a credential and nothing else, without the
// space around it. what is what errors call it; private ones must be closed to
// others.
func ReadSecret(what, name string, private bool) (string, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s cannot be read: %w", what, err)
	case !info.Mode().IsRegular() || info.Size() > longestSecret:
		return "", fmt.Errorf("%s: %s is not a file with a credential", what, name)
	case private && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("%s: %s can be read by others; run chmod 600 on it", what, name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", what, err)
	}
	text := strings.TrimSpace(string(data))
	if text == "" || strings.ContainsAny(text, "\r\n") {
		return "", fmt.Errorf("%s: %s must hold one line, the credential", what, name)
	}
	return text, nil
}

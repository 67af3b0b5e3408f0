package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/ws"
	"github.com/grapnel-ai/grapnel/internal/acpclient"
	"github.com/grapnel-ai/grapnel/internal/bridge"
	"github.com/grapnel-ai/grapnel/internal/bridge/start"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// started are the options for an agent that is started. This program itself
// needs its configuration and keys; another one gets no secret of ours.
func (i *invocation) started(o *acpclient.Options, f acpClientFlags) error {
	if f.server != "" {
		o.Server = append([]string{f.server}, i.serverArgs...)
		o.ServerEnv = append(clientEnviron(i.env.Environ), i.passed(f.pass)...)
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the grapnel binary to start: %w", err)
	}
	o.Server = []string{self}
	if i.configDir != "" {
		o.Server = append(o.Server, "--config-dir", i.configDir)
	}
	if len(i.serverArgs) == 0 || i.serverArgs[0] != "acp" {
		o.Server = append(o.Server, "acp")
	}
	o.Server = append(o.Server, i.serverArgs...)
	o.ServerEnv = append(withoutShell(i.env.Environ), i.passed(f.pass)...)
	o.ServerEnv = append(o.ServerEnv, clientShell)
	return nil
}

// clientShell tells a server who started it.
const clientShell = "GRAPNEL_SHELL=acp-client"

// clientEnviron is the environment without our secrets.
func clientEnviron(environ []string) []string {
	var harmless []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !secret.SecretName(name) && !secret.Sensitive(name, value) {
			harmless = append(harmless, name)
		}
	}
	return append(withoutShell(proc.Environ(environ, harmless...)), clientShell)
}

func withoutShell(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, "GRAPNEL_SHELL=") })
}

// passed are variables that the user lets through by name.
func (i *invocation) passed(names []string) []string {
	var env []string
	for _, name := range names {
		if strings.Contains(name, "=") {
			env = append(env, name)
		} else if at := slices.IndexFunc(i.env.Environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") }); at >= 0 {
			env = append(env, i.env.Environ[at])
		}
	}
	return env
}

// clientSecrets knows what must not be in the wire log.
func (i *invocation) clientSecrets() *secret.Redactor {
	r := secret.NewRedactor()
	for _, entry := range i.env.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok && secret.Sensitive(name, value) {
			r.Add(value)
		}
	}
	return r
}

// forbidden are the places where credentials live.
func (i *invocation) forbidden() []string {
	home := i.getenv("HOME")
	var list []string
	for _, p := range config.Default().Autonomy.ForbiddenPaths {
		if rest, ok := strings.CutPrefix(p, "~/"); ok && home != "" {
			p = filepath.Join(home, rest)
		}
		if filepath.IsAbs(p) {
			list = append(list, p)
		}
	}
	return list
}

// dialed are the options for a gateway. Its agents work on its machine, so that
// nothing of this one is served unless the user says so.
func (i *invocation) dialed(o *acpclient.Options, f acpClientFlags, secrets *secret.Redactor) error {
	address, err := bridge.ParseURL(f.url, "")
	if err != nil {
		return usagef("--url: %v", err)
	}
	o.Terminals = f.tools == "client"
	o.Files = f.files || o.Terminals
	var header http.Header
	if f.tokenFile != "" {
		token, err := start.ReadSecret("--token-file", f.tokenFile, false)
		if err != nil {
			return err
		}
		secrets.Add(token)
		header = bridge.Bearer(token)
	}
	o.Dial = func(ctx context.Context) (acp.MessageConn, error) {
		c, err := ws.Dial(ctx, address.String(), ws.DialOptions{Header: header})
		if err != nil {
			return nil, advised(err)
		}
		return c, nil
	}
	return nil
}

// advised says what to do about a gateway that did not let the client in.
func advised(err error) error {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return err // which says what is wrong with the certificate
	}
	answer, ok := errors.AsType[*ws.HandshakeError](err)
	switch {
	case !ok:
		return fmt.Errorf("%w: see that the gateway runs, and that the address is right", err)
	case answer.Status == http.StatusUnauthorized:
		return fmt.Errorf("%w: give a token of that gateway with --token-file, made there by grapnel gateway token create", err)
	case answer.Status == http.StatusForbidden:
		return fmt.Errorf("%w: look whether gateway.allowed_hosts there has this name", err)
	case answer.Status == http.StatusTooManyRequests, answer.Status >= http.StatusInternalServerError:
		return err // it says itself that it passes
	}
	return fmt.Errorf("%w: the URL must be that of a grapnel gateway", err)
}

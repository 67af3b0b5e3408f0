package mcp

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/grapnel-ai/grapnel/internal/mcp/stdio"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// newLink makes the transport of a server.
func newLink(ctx context.Context, conf Server, o Options, secrets Secrets) (link, error) {
	switch conf.Transport {
	case HTTP, SSE:
		return newWebLink(ctx, conf, secrets)
	}
	return newProcessLink(ctx, conf, o, secrets)
}

// processLink is a server that is a child process.
type processLink struct {
	stdio  *stdio.Transport
	hidden *secret.Redactor
	escape bool // it is in the sandbox, and its owner may let it out
}

func newProcessLink(ctx context.Context, conf Server, o Options, secrets Secrets) (link, error) {
	env := o.Environ
	if env == nil {
		env = proc.Environ(nil)
	}
	env = slices.Clone(env)
	for name, value := range secrets.Env {
		env = append(env, name+"="+value)
	}
	spec := proc.Spec{Argv: append([]string{conf.Command}, conf.Args...), Dir: o.Dir, Env: env}
	boxed := o.Confine != nil && (!conf.Unconfined || o.MustConfine)
	if boxed {
		var err error
		if spec, err = o.Confine(ctx, spec, conf.named()); err != nil {
			return nil, &finalError{err}
		}
	}
	return &processLink{
		stdio:  &stdio.Transport{Spec: spec, Procs: o.Procs, Stderr: &proc.Tail{}, Noise: &proc.Tail{}},
		hidden: secrets.redactor(),
		escape: boxed && !conf.FromClient && !o.MustConfine,
	}, nil
}

func (l *processLink) transport() sdk.Transport { return l.stdio }

func (l *processLink) stop() { l.stdio.Close() }

func (l *processLink) free() { l.stdio.Close() }

// why adds how the process ended and what it said last.
func (l *processLink) why(err error) error {
	if start := (*proc.StartError)(nil); errors.As(err, &start) {
		return &finalError{start}
	}
	text := err.Error()
	if errors.Is(err, io.EOF) || errors.Is(err, sdk.ErrConnectionClosed) {
		if text = l.stdio.Exit(); text == "" {
			text = "it closed its output"
		}
	}
	if said := l.said(); said != "" {
		text += "; its last words: " + said
	}
	if l.escape {
		text += " (it is kept in the session's sandbox; with sandbox = false in its section it is not)"
	}
	return errors.New(l.hidden.Replace(text))
}

// said is what the server printed last, on one line.
func (l *processLink) said() string {
	lines := l.stdio.Stderr.Lines()
	if len(lines) == 0 {
		lines = l.stdio.Noise.Lines()
	}
	var shown []string
	for _, line := range lines {
		shown = append(shown, printable.Line(line))
	}
	return printable.Clip(strings.Join(shown, " | "), maxSaid)
}

// maxSaid bounds a server's own words in a notice, in bytes.
const maxSaid = 600

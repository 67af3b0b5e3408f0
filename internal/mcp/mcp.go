// Package mcp connects a session to its MCP servers (Model Context Protocol)
// and makes their tools the agent's. Servers are connected in the background,
// started again when they die, and held to bounds whatever they send; one that
// is broken is a notice, and its tools are missing.
package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// Transport is how a server is reached.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio" // a child process
	HTTP  Transport = "http"  // streamable HTTP
	SSE   Transport = "sse"   // HTTP with server-sent events, the older way
)

// Server says how to reach one server.
type Server struct {
	Name       string // as its user calls it
	Transport  Transport
	Command    string   // the program, for Stdio
	Args       []string // its arguments
	URL        string   // its address, for HTTP and SSE
	FromClient bool     // the session's client passed it; else it is configured
	// Unconfined keeps its process out of the session's sandbox.
	Unconfined bool
	// Timeout bounds one call without a sign of life; 0 means DefaultTimeout.
	Timeout time.Duration
	// Secrets returns what must not be shown. It is asked at each connecting, so
	// that a secret put in place later works. Nil means there are none.
	Secrets func(ctx context.Context) (Secrets, error)
	// Login returns what an earlier login to it left, for HTTP; nil, or a nil
	// result, is none.
	Login func(ctx context.Context) (auth.OAuthHandler, error)
}

// Secrets of a server: values that are never shown, logged or stored.
type Secrets struct {
	Env     map[string]string // of its process, besides the basics
	Headers map[string]string // of every request to it
}

// redactor hides all of the values, credentials or not.
func (s Secrets) redactor() *secret.Redactor {
	r := secret.NewRedactor()
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, v := range values {
			r.Add(v)
		}
	}
	return r
}

// teach makes a session's redactor know the credentials among the values.
func (s Secrets) teach(r *secret.Redactor) {
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for name, v := range values {
			if secret.Sensitive(name, v) {
				r.Add(v)
			}
		}
	}
}

// DefaultTimeout bounds a call to a server that has no timeout of its own.
const DefaultTimeout = 180 * time.Second

// Options say what servers of a session get.
type Options struct {
	Version string   // of Grapnel, told to servers
	Dir     string   // the session's working directory; processes start in it
	Roots   []string // directories the session may touch, told to servers that ask
	Environ []string // what processes get before their own variables; nil means proc.Environ
	// Procs starts processes and keeps them; nil starts them without a record.
	Procs *proc.Custody
	// Confine puts a process into the session's sandbox; nil runs it as it is. Of
	// a server that is Unconfined it is asked only when MustConfine is set.
	Confine     func(ctx context.Context, s proc.Spec, n Named) (proc.Spec, error)
	MustConfine bool
	// Connecting is told of every server before it is started or dialled, what
	// saying which program or host that is. Its error keeps the server away. nil
	// tells nobody.
	Connecting func(ctx context.Context, server, what string) error
	// Redact learns the credentials among the servers' secrets, before anything
	// is shown that could hold one; nil learns nothing.
	Redact *secret.Redactor
}

// Notice is something to tell the people of a session, once.
type Notice struct {
	Server string
	Title  string
	Text   string // one or two sentences: what, why, and what to do
	Failed bool   // the server's tools are missing
}

// Instructions are what a server wants models to know of it: its own words.
type Instructions struct{ Server, Text string }

package mcp

import (
	"context"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// Report is what Probe found out about a server.
type Report struct {
	Name         string        // what the server calls itself
	Version      string        // its version
	Protocol     string        // the version of the protocol that is spoken
	Instructions bool          // it has words for models
	Connected    time.Duration // until it was ready
	Listed       time.Duration // for the list of tools
	Tools        []Offer
	Left         []string // tools that cannot be offered, quoted
}

// Offer is one tool of a server.
type Offer struct {
	Name        string // its own name
	As          string // what the model calls it by
	Description string // its first line
	Destructive bool   // by its own word, so each call asks
}

// Place is the program or the host of a server, without what may be secret.
func (s Server) Place() string { return s.place() }

// Probe connects a server, asks for its tools and ends it again. Its error is
// what a session's notice would say.
func Probe(ctx context.Context, s Server, o Options) (Report, error) {
	began := time.Now()
	c, err := connect(ctx, s, o)
	if err != nil {
		return Report{}, err
	}
	defer c.close()
	r := Report{Connected: time.Since(began), Instructions: c.instructions() != ""}
	if init := c.session.InitializeResult(); init != nil {
		r.Protocol = label(init.ProtocolVersion)
		if init.ServerInfo != nil {
			r.Name, r.Version = label(init.ServerInfo.Name), label(init.ServerInfo.Version)
		}
	}
	began = time.Now()
	found := (&server{conf: s, prefix: prefixOf(s.Name)}).offers()
	if err := c.list(ctx, found.add); err != nil {
		return r, c.explain(err)
	}
	r.Listed = time.Since(began)
	for _, t := range found.tools {
		line, _, _ := strings.Cut(strings.TrimSpace(t.spec.Description), "\n")
		r.Tools = append(r.Tools, Offer{
			Name: printable.Line(t.own), As: t.spec.Name, Description: printable.Line(line), Destructive: t.destroys,
		})
	}
	r.Left = found.left
	return r, nil
}

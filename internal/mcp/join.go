package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/printable"
)

// maxServers bounds the servers of one session.
const maxServers = 64

// join puts the configured servers and the client's into one list. Of two with
// one name the configured one holds: rules for its tools are written by name,
// and must not come to hold for another program.
func join(configured []Server, client []jsontext.Value) (list []Server, notices []Notice) {
	list = slices.Clone(configured)
	refuse := func(name, why string) {
		if name == "" {
			name = "(unnamed)"
		}
		notices = append(notices, Notice{Server: name, Title: "MCP server not used", Failed: true, Text: fmt.Sprintf(
			"The MCP server %s that your client passed is not used: %s.", printable.Clip(name, 80), why)})
	}
	for _, v := range client {
		s, err := Parse(v)
		switch at := slices.IndexFunc(list, func(o Server) bool { return o.Name == s.Name }); {
		case err != nil:
			refuse(s.Name, err.Error())
		case s.Name == "":
			refuse(s.Name, "it has no name")
		case at >= 0 && list[at].FromClient:
			refuse(s.Name, "it was passed twice")
		case at >= 0 && !list[at].alike(s):
			refuse(s.Name, "config.toml has another one of that name, which is used; rename one of them")
		case at >= 0: // the same one; it is connected already
		case len(list) >= maxServers:
			refuse(s.Name, fmt.Sprintf("a session takes %d servers", maxServers))
		default:
			list = append(list, s)
		}
	}
	return list, notices
}

// mark tells the server from others that may have its name. It gives nothing of
// the arguments away.
func (s Server) mark() string {
	return markOf(append([]string{string(s.Transport), s.Command, s.URL}, s.Args...)...)
}

// markOf is a mark of the parts, in their order.
func markOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:markLength]
}

// markLength is long enough, in hex digits, that nobody makes two alike.
const markLength = 40

// alike reports whether two descriptions lead to the same server.
func (s Server) alike(o Server) bool {
	return s.Transport == o.Transport && s.Command == o.Command && s.URL == o.URL && slices.Equal(s.Args, o.Args)
}

//lint:file-ignore SA1019 roots are leaving the protocol, but servers in use still ask for them

package mcp

import (
	"net/url"
	"path/filepath"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// capabilities are what we do for servers: tell them the session's directories,
// which stay the same.
func capabilities() *sdk.ClientCapabilities {
	return &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}}
}

// addRoots tells a client the directories that its server may ask for: those of
// the session, and those that the server's command line names, which some
// servers forget when there are others.
func addRoots(c *sdk.Client, session, own []string) {
	for _, dir := range slices.Concat(session, own) {
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}
		c.AddRoots(&sdk.Root{Name: filepath.Base(dir), URI: u.String()})
	}
}

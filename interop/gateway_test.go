//go:build interop

package interop

import (
	"slices"
	"testing"

	"github.com/grapnel-ai/grapnel/interop/testbed"
)

// TestGatewayByTypeScriptSDK has the WebSocket and the HTTP client of
// @agentclientprotocol/sdk play what is played on stdio against a gateway, over
// HTTP/1.1 and HTTP/2. Every message is held against the official schema, and
// every HTTP status against the profile.
func TestGatewayByTypeScriptSDK(t *testing.T) {
	for _, c := range []struct {
		transport string
		tls       bool
	}{{"ws", false}, {"ws-subprotocol", true}, {"http", false}, {"h2", true}} {
		t.Run(c.transport, func(t *testing.T) {
			t.Parallel()
			bed := testbed.New(t, testbed.Chat)
			gateway := bed.Gateway(t, testbed.GatewayOptions{TLS: c.tls})
			if c.tls {
				bed.Env = append(bed.Env, "NODE_EXTRA_CA_CERTS="+gateway.Certificate)
			}
			url := gateway.URL + "/acp"
			if c.transport[:2] == "ws" {
				url = gateway.ACP
			}
			list := slices.Concat(basics(), permissions(bed), cancels(), lasting(), clientSide(bed), models())
			for i := range list {
				list[i].URL, list[i].Token, list[i].Transport = url, testbed.Token, c.transport
				if list[i].Name == "terminals" {
					list[i].URL += "?agent=" + testbed.Bare
				}
			}
			play(t, bed, list)
		})
	}
}

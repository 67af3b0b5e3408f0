package bridge_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/bridge"
)

// TestWhatIsNoGateway: one sentence each, and whether trying again makes sense.
func TestWhatIsNoGateway(t *testing.T) {
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "<html>")
		}
	}
	tests := []struct {
		name    string
		tls     bool
		handler http.Handler
		says    string
		refused bool
	}{
		{"a web page", false, answer(200), "the URL must be that of a grapnel gateway", true},
		{"nothing at the path", false, answer(404), "there is nothing at this path (HTTP 404)", true},
		{"a proxy without its gateway", false, answer(502), "the server or a proxy before it is not ready (HTTP 502)", false},
		{"a wrong token", false, answer(401), "pair with --pair-code", true},
		{"a foreign host name", false, answer(403), "gateway.allowed_hosts", true},
		{"too many attempts", false, answer(429), "too many attempts", false},
		{"a certificate nobody knows", true, answer(200), "certificate", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(tt.handler)
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the handshake that fails
			if tt.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			t.Cleanup(func() {
				server.Close()
				http.DefaultClient.CloseIdleConnections()
			})
			e := newEditor(t, bridge.Options{Target: func(context.Context) (bridge.Target, error) {
				return bridge.Target{URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/acp"}, nil
			}})
			e.hello()
			fault := e.fails("session/new", `{"cwd":"/","mcpServers":[]}`)
			if fault.Code != acp.CodeInternalError || !strings.Contains(fault.Message, tt.says) || strings.Contains(fault.Message, "\n") {
				t.Errorf("the client reads %q", fault.Message)
			}
			refused := (*bridge.RefusedError)(nil)
			if err := e.end(); !errors.Is(err, bridge.ErrUnfinished) || errors.As(err, &refused) != tt.refused {
				t.Errorf("the end is %v", err)
			}
		})
	}
}

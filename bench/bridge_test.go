package bench

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/ws"
)

// echoGateway answers every request with its params, over a WebSocket. It
// returns its address.
func echoGateway(b *testing.B) string {
	b.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := ws.Accept(w, r, ws.AcceptOptions{})
		if err != nil {
			return
		}
		_ = acp.NewConn(c, acp.HandlerFuncs{Request: func(_ context.Context, r *acp.Request) {
			if r.Method == "initialize" {
				_ = r.ReplyRaw(jsontext.Value(`{"protocolVersion":1}`))
				return
			}
			_ = r.ReplyRaw(r.Params)
		}}, nil).Run(r.Context())
	}))
	b.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return "ws" + strings.TrimPrefix(server.URL, "http") + "/acp"
}

// bridged starts the bridge to an address.
func bridged(b *testing.B, url string) *agent {
	return start(b, program(b, bridgeProgram), "--url", url, "--config-dir", b.TempDir())
}

// BenchmarkBridge is a request and its answer through the bridge, against the same
// over the WebSocket alone.
func BenchmarkBridge(b *testing.B) {
	url := echoGateway(b)
	a := bridged(b, url)
	b.Cleanup(a.end)
	a.initialize()
	conn, err := ws.Dial(b.Context(), url, ws.DialOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	line := jsontext.Value(`{"jsonrpc":"2.0","id":1,"method":"x/echo","params":` + chunk + "}")
	var ours, base sample
	for b.Loop() {
		ours.add(func() { a.call("x/echo", chunk) })
		base.add(func() {
			if err := conn.WriteMessage(b.Context(), line); err != nil {
				b.Fatal(err)
			}
			if _, err := conn.ReadMessage(b.Context()); err != nil {
				b.Fatal(err)
			}
		})
	}
	b.ReportMetric(us(ours.p50()), "us-p50")
	b.ReportMetric(us(ours.at(0.99)), "us-p99")
	b.ReportMetric(us(base.p50()), "base-us-p50")
	b.ReportMetric(us(ours.p50()-base.p50()), "added-us-p50")
	b.ReportMetric(float64(ours.p50())/float64(base.p50()), "x-base")
	b.ReportMetric(float64(ours.at(0.99))/float64(base.at(0.99)), "x-base-p99")
}

// BenchmarkBridgeStart is the time from spawning the bridge to the first answer
// of the gateway.
func BenchmarkBridgeStart(b *testing.B) {
	url := echoGateway(b)
	var ours sample
	for b.Loop() {
		var a *agent
		ours.add(func() {
			a = bridged(b, url)
			a.initialize()
			a.call("x/echo", chunk)
		})
		untimed(b, a.end)
	}
	b.ReportMetric(ms(ours.p50()), "ms-p50")
	b.ReportMetric(ms(ours.at(0)), "ms-min")
}

package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

// meter counts what the gateway does, for Prometheus.
type meter struct {
	set *metrics.Set
}

// requestSeconds are the upper bounds of the histogram of ACP requests: from
// what a lookup takes to what a turn takes.
func requestSeconds() []float64 {
	return []float64{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300, 1800}
}

func newMeter(g *Gateway) *meter {
	m := &meter{set: metrics.NewSet()}
	m.set.NewGauge(fmt.Sprintf(`grapnel_build_info{version=%q}`, g.opts.Version), func() float64 { return 1 })
	m.set.NewGauge("grapnel_uptime_seconds", func() float64 { return time.Since(g.started).Seconds() })
	for _, kind := range []transport{overSocket, overStreams} {
		m.set.NewGauge(fmt.Sprintf(`grapnel_connections{transport=%q}`, string(kind)), func() float64 { return float64(g.clients.of(kind)) })
	}
	if load := g.opts.Load; load != nil {
		bounded := func() (active, running int) {
			ctx, cancel := context.WithTimeout(context.Background(), aliveBound)
			defer cancel()
			return load(ctx)
		}
		m.set.NewGauge("grapnel_sessions_active", func() float64 {
			active, _ := bounded()
			return float64(active)
		})
		m.set.NewGauge("grapnel_turns_running", func() float64 {
			_, running := bounded()
			return float64(running)
		})
	}
	return m
}

func (m *meter) http(route string, status int) {
	m.set.GetOrCreateCounter(fmt.Sprintf(`grapnel_http_requests_total{route=%q,status=%q}`, route, strconv.Itoa(status))).Inc()
}

// request counts an ACP request. What is refused before it is known whether the
// method exists has one name: what clients make up must not make metrics.
func (m *meter) request(method string, fault *acp.Error, took time.Duration) {
	outcome := "ok"
	if fault != nil {
		outcome = strconv.Itoa(int(fault.Code))
		switch fault.Code {
		case acp.CodeMethodNotFound, acp.CodeInvalidRequest, serve.CodeRateLimited:
			method = "unknown"
		}
	}
	m.set.GetOrCreateCounter(fmt.Sprintf(`grapnel_acp_requests_total{method=%q,outcome=%q}`, method, outcome)).Inc()
	m.set.GetOrCreatePrometheusHistogramExt(fmt.Sprintf(`grapnel_acp_request_seconds{method=%q}`, method), requestSeconds()).Update(took.Seconds())
}

// serveMetrics answers whoever has a credential, in the text format of
// Prometheus.
func (g *Gateway) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if _, ok := g.admit(w, r); !ok {
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	g.metrics.set.WritePrometheus(w)
	metrics.WriteProcessMetrics(w)
}

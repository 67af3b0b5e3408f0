package gateway

import (
	"context"
	"net/http"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/door"
)

// The routes, below the prefix.
const (
	routeACP     = "/acp"
	routeHealth  = "/health"
	routeMetrics = "/metrics"
	routePair    = "/pair"
)

// handler finds the route of a request. Each request is counted and logged, by
// its route and never by its query.
func (g *Gateway) handler() http.Handler {
	routes := map[string]http.HandlerFunc{
		g.opts.Prefix + routeACP:    g.serveACP,
		g.opts.Prefix + routeHealth: g.serveHealth,
		g.opts.Prefix + routePair:   g.servePair,
	}
	if g.opts.Metrics {
		routes[g.opts.Prefix+routeMetrics] = g.serveMetrics
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := routes[r.URL.Path]
		name := "none"
		if ok {
			name = strings.TrimPrefix(r.URL.Path, g.opts.Prefix)
		} else {
			f = g.serveNothing
		}
		g.record(name, f, w, r)
	})
}

func (g *Gateway) serveNothing(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "there is nothing here; ACP is served at "+g.opts.Prefix+routeACP, http.StatusNotFound)
}

func (g *Gateway) servePair(w http.ResponseWriter, r *http.Request) {
	boundBody(w, headerTimeout)
	g.opts.Door.ServePair(w, r)
}

// passKey finds the door.Pass of a request in its context.
type passKey struct{}

func passOf(r *http.Request) door.Pass {
	p, _ := r.Context().Value(passKey{}).(door.Pass)
	return p
}

// admit lets a request in, or answers it.
func (g *Gateway) admit(w http.ResponseWriter, r *http.Request) (*http.Request, bool) {
	p, err := g.opts.Door.Admit(r)
	if err != nil {
		door.Refuse(w, err)
		return nil, false
	}
	known(r.Context())
	return r.WithContext(context.WithValue(r.Context(), passKey{}, p)), true
}

// serveACP is the one ACP endpoint: a WebSocket where the client asks for one,
// Streamable HTTP for everything else.
func (g *Gateway) serveACP(w http.ResponseWriter, r *http.Request) {
	r, ok := g.admit(w, r)
	if !ok {
		return
	}
	socket := r.Method == http.MethodGet && hasToken(r.Header.Values("Upgrade"), "websocket")
	if (socket || opensStream(r)) && g.Draining() {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the gateway is shutting down; connect again in a moment", http.StatusServiceUnavailable)
		return
	}
	if socket {
		g.serveSocket(w, r)
		return
	}
	g.serveStream(w, r)
}

// hasToken looks for a name in a header that lists them.
func hasToken(values []string, name string) bool {
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(item), name) {
				return true
			}
		}
	}
	return false
}

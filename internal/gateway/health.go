package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

// aliveBound is how long what is behind the gateway may take to answer.
const aliveBound = 5 * time.Second

// Health is the answer of /health, which needs no credential.
type Health struct {
	Status  string `json:"status"` // ok, draining or failing
	Version string `json:"version"`
	Uptime  int64  `json:"uptime"` // seconds
}

func (g *Gateway) serveHealth(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "health is a GET", http.StatusMethodNotAllowed)
		return
	}
	h, status := g.health(r.Context())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, h) // a client that is gone needs no answer
}

func (g *Gateway) health(ctx context.Context) (Health, int) {
	h := Health{Status: "ok", Version: g.opts.Version, Uptime: int64(time.Since(g.started).Seconds())}
	switch {
	case g.Draining():
		h.Status = "draining"
	case g.CheckAlive(ctx) != nil:
		h.Status = "failing"
	default:
		return h, http.StatusOK
	}
	return h, http.StatusServiceUnavailable
}

// CheckAlive asks what is behind the gateway whether it answers, within a bound.
func (g *Gateway) CheckAlive(ctx context.Context) error {
	if g.opts.Alive == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, aliveBound)
	defer cancel()
	return g.opts.Alive(ctx)
}

package gateway

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/printable"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

// transport is what carries an ACP connection.
type transport string

const (
	overSocket  transport = "websocket"
	overStreams transport = "http"
)

// record answers a request by f, counts it and writes the line about it. That of
// a connection that lasts is written when it begins.
func (g *Gateway) record(route string, f http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	rec := &recorder{ResponseWriter: w}
	rec.answered = func(status int) {
		took := time.Since(begun)
		g.metrics.http(route, status)
		g.opts.Logger.Info("http", "method", printable.Text(r.Method), "route", route, "outcome", status, "ms", milliseconds(took))
	}
	f(rec, r)
	rec.answer(http.StatusOK)
}

// Observe counts an ACP request that was answered and writes the line about it.
// It is a serve.Options.Observe.
func (g *Gateway) Observe(o serve.ConnOptions, method string, fault *acp.Error, took time.Duration) {
	if o.ID == "" {
		return // not of this gateway
	}
	g.metrics.request(method, fault, took)
}

// Log writes the line about an ACP request that was answered: never what it
// said.
func Log(log *slog.Logger, o serve.ConnOptions, method string, fault *acp.Error, took time.Duration) {
	outcome := any("ok")
	if fault != nil {
		outcome = int(fault.Code)
	}
	const longest = 64 // of a method's name: a client makes up what it likes
	log.Info("acp", "method", printable.Text(method[:min(len(method), longest)]), "outcome", outcome, "ms", milliseconds(took), "owner", o.Owner)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// recorder notes the status of an answer, once.
type recorder struct {
	http.ResponseWriter
	answered func(status int) // nil once it was called
}

func (r *recorder) answer(status int) {
	if f := r.answered; f != nil {
		r.answered = nil
		f(status)
	}
}

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols || status >= http.StatusOK {
		r.answer(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(p []byte) (int, error) {
	r.answer(http.StatusOK)
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what the writer can do.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/gateway"
	"github.com/grapnel-ai/grapnel/internal/serve"
)

// openLog makes the log as [telemetry] says.
func (a *App) openLog(c *config.Config) {
	a.setLevel(c)
	o := &slog.HandlerOptions{Level: &a.level}
	var h slog.Handler = slog.NewTextHandler(a.opts.Stderr, o)
	if c.Telemetry.LogFormat == "json" {
		h = slog.NewJSONHandler(a.opts.Stderr, o)
	}
	a.log = slog.New(h)
}

// setLevel puts the level of a configuration in force; -v shows everything.
func (a *App) setLevel(c *config.Config) {
	level := slog.LevelWarn
	if err := level.UnmarshalText([]byte(c.Telemetry.LogLevel)); err != nil || a.opts.Verbose {
		level = slog.LevelDebug
	}
	a.level.Set(level)
}

// observe is told of each request that was answered.
func (a *App) observe(o serve.ConnOptions, method string, fault *acp.Error, took time.Duration) {
	if a.log.Enabled(context.Background(), slog.LevelInfo) {
		gateway.Log(a.log, o, method, fault, took)
	}
	if g := a.gateway.Load(); g != nil {
		g.Observe(o, method, fault, took)
	}
}

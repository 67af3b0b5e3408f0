package app

import (
	"context"
	"time"
)

// GatewayStatus is what a running gateway says of itself.
type GatewayStatus struct {
	URL         string `json:"url"`
	ACP         string `json:"acp"`
	PID         int    `json:"pid"`
	Version     string `json:"version"`
	Uptime      int64  `json:"uptime"`      // seconds
	Connections int    `json:"connections"` // that speak ACP
	Active      int    `json:"active"`      // sessions in memory
	Running     int    `json:"running"`     // sessions with a turn under way
	Draining    bool   `json:"draining"`
}

func (a *App) gatewayStatus(ctx context.Context) GatewayStatus {
	s := GatewayStatus{Version: a.opts.Version, Uptime: int64(time.Since(a.started).Seconds())}
	s.Active, s.Running = a.hub.Load(ctx)
	if g := a.gateway.Load(); g != nil {
		s.Connections, s.Draining = g.Connections(), g.Draining()
	}
	return s
}

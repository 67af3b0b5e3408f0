package gateway

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// Activated returns the listeners that systemd opened for this process; none
// when it did not.
func Activated() ([]net.Listener, error) {
	all, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("take over the sockets of systemd: %w", err)
	}
	for i, l := range all {
		if l == nil {
			return nil, fmt.Errorf("socket %d that systemd handed over is no stream socket: use ListenStream in the socket unit", i)
		}
	}
	return all, nil
}

// Notify tells systemd how the service does: daemon.SdNotifyReady and the like.
// Without systemd it does nothing.
func (g *Gateway) Notify(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		g.opts.Logger.Warn("systemd cannot be told how the gateway does", "err", err)
	}
}

// Watch tells systemd's watchdog, at half its interval, that the gateway lives,
// for as long as what is behind it answers. It returns when ctx ends, or at once
// where no watchdog is set.
func (g *Gateway) Watch(ctx context.Context) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil || interval <= 0 {
		return
	}
	tick := time.NewTicker(interval / 2)
	defer tick.Stop()
	for {
		if err := g.CheckAlive(ctx); err == nil {
			g.Notify(daemon.SdNotifyWatchdog)
		} else {
			g.opts.Logger.Error("the gateway does not answer; the watchdog is not told that it lives", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

package app

import (
	"context"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// lookEvery is how often a daemon looks whether its configuration was changed.
const lookEvery = 2 * time.Second

// follow puts a changed configuration in force, when the file changes and when
// asked by a signal, until ctx ends.
func (s *gatewayService) follow(ctx context.Context, asked <-chan os.Signal) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if c, err := s.App.conf.get(); err == nil && c != s.conf {
				s.reload(ctx)
			}
		case <-asked:
			s.reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// reload reads the configuration and what it points at again. What cannot be
// used leaves in force what was before, and is reported. Sessions that are made
// from now on, and the next turns of the others, go by the new one.
func (s *gatewayService) reload(ctx context.Context) {
	s.server.Notify(daemon.SdNotifyReloading)
	defer s.server.Notify(daemon.SdNotifyReady)
	s.certs.Reload()
	c, err := s.App.conf.get()
	if err != nil || s.App.conf.problem() != nil {
		return // reported when it was read
	}
	s.conf = c
	s.setLevel(c)
	if err := s.configureDoor(ctx, s.door, c); err != nil {
		s.report(err)
		return
	}
	s.log.Info("the configuration was read again")
}

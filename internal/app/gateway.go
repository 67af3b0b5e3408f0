package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/grapnel-ai/grapnel/internal/beacon"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/gateway"
	"github.com/grapnel-ai/grapnel/internal/session"
)

const (
	// gatewayDrain is how long turns may run on after the gateway was told to
	// end. It is within what service managers wait before they kill.
	gatewayDrain = 30 * time.Second
	// goodbyeBound is how long clients may take to be told that it goes away.
	goodbyeBound = 5 * time.Second
	// acmeDir is where certificates of an authority are kept, in the data
	// directory.
	acmeDir = "acme"
)

// GatewayOptions say what a gateway does otherwise than its configuration says.
type GatewayOptions struct {
	Host         *string // nil: gateway.host
	Port         *int    // nil: gateway.port
	InsecureBind bool    // other machines may reach it without TLS
	// Ready is told, once, when the gateway serves.
	Ready func(beacon.Beacon)
}

// ServeGateway serves sessions over HTTP until quit ends, and then drains:
// running turns get a bound, clients are told, and everything is closed. A
// second signal ends it at once.
func (a *App) ServeGateway(quit context.Context, o GatewayOptions) error {
	c, err := a.conf.get()
	if err != nil {
		return errBrokenConfig // what is wrong with it was said
	}
	if a.inst == nil || !a.durable {
		return errors.New("the gateway needs its session store: see above what is wrong with it")
	}
	release, err := beacon.Claim(string(a.opts.Home))
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the process ends
	s, err := a.openGateway(quit, c, o)
	if err != nil {
		return err
	}
	return s.run(quit, o)
}

// gatewayService is a gateway and what it stands on.
type gatewayService struct {
	*App
	door      *door.Door
	certs     *gateway.Certificates // nil without TLS
	server    *gateway.Gateway
	listeners []net.Listener
	conf      *config.Config // in force
}

func (a *App) openGateway(ctx context.Context, c *config.Config, o GatewayOptions) (*gatewayService, error) {
	s := &gatewayService{App: a, conf: c}
	var err error
	if s.door, err = a.openDoor(ctx, c); err != nil {
		return nil, err
	}
	tls := tlsSettings(c)
	if tls.Set() {
		if s.certs, err = gateway.NewCertificates(tls, a.log); err != nil {
			return nil, err
		}
	}
	if s.listeners, err = s.bind(o); err != nil {
		return nil, err
	}
	s.server = gateway.New(gateway.Options{
		Door: s.door, Serve: a.server.Serve, Alive: a.alive, Load: a.hub.Load,
		Version: a.opts.Version, Prefix: gateway.CleanPrefix(c.Gateway.PathPrefix), Metrics: c.Telemetry.Metrics,
		MaxBytes: c.ACP.MaxMessageBytes, MaxBuffered: c.Gateway.Limits.BufferedBytes,
		TLS: s.certs, Logger: a.log,
	})
	a.gateway.Store(s.server)
	return s, nil
}

func tlsSettings(c *config.Config) gateway.TLSSettings {
	t := c.Gateway.TLS
	cert, key := c.TLSFiles()
	return gateway.TLSSettings{
		CertFile: cert, KeyFile: key,
		Domains: t.ACMEDomains, Email: t.ACMEEmail, Directory: t.ACMEDirectory,
		Cache: filepath.Join(c.DataPath(), acmeDir),
	}
}

// bind opens what the gateway listens on: the sockets that systemd hands over,
// or the configured address.
func (s *gatewayService) bind(o GatewayOptions) ([]net.Listener, error) {
	listeners, err := gateway.Activated()
	if err != nil {
		return nil, err
	}
	at := gateway.Address{Host: s.conf.Gateway.Host, Port: s.conf.Gateway.Port}
	if o.Host != nil {
		at.Host = *o.Host
	}
	if o.Port != nil {
		at.Port = *o.Port
	}
	if len(listeners) == 0 {
		if err := s.mayBind(at.Loopback(), at.Host, o); err != nil {
			return nil, err
		}
		l, err := at.Listen()
		return []net.Listener{l}, err
	}
	for _, l := range listeners {
		if err := s.mayBind(gateway.Loopback(l.Addr()), l.Addr().String(), o); err != nil {
			return nil, err
		}
	}
	return listeners, nil
}

// mayBind refuses an address that other machines reach as long as anyone could
// come in there, or listen in.
func (s *gatewayService) mayBind(loopback bool, address string, o GatewayOptions) error {
	switch {
	case loopback:
		return nil
	case s.certs == nil && !o.InsecureBind:
		return fmt.Errorf("other machines can reach %s, and without TLS their credentials would go over the network in the clear: set gateway.tls, or say --insecure-bind where something else encrypts", address)
	case !s.door.Guarded():
		return fmt.Errorf("other machines can reach %s, and no credential is set: set gateway.auth.token, or make a token by grapnel gateway token create while it listens on 127.0.0.1", address)
	}
	return nil
}

// alive reports whether the hub and the store answer.
func (a *App) alive(ctx context.Context) error {
	a.hub.Active()
	_, _, err := a.hub.List(ctx, session.Filter{}, "", 1)
	return err
}

// run serves until quit ends or a listener fails.
func (s *gatewayService) run(quit context.Context, o GatewayOptions) error {
	if err := s.listen(); err != nil {
		s.closeListeners()
		return err
	}
	here := s.beacon()
	if err := beacon.Write(string(s.opts.Home), here); err != nil {
		s.closeListeners()
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- s.server.Serve(s.listeners...) }()
	work, stop := context.WithCancel(context.WithoutCancel(quit))
	defer stop()
	go s.server.Watch(work)
	hangups, forget := hangups()
	defer forget()
	go s.follow(work, hangups)
	s.server.Notify(daemon.SdNotifyReady)
	s.log.Info("ready", "url", here.URL, "version", here.Version)
	if o.Ready != nil {
		o.Ready(here)
	}
	select {
	case <-quit.Done():
	case err := <-failed:
		return errors.Join(fmt.Errorf("the gateway cannot go on: %w", err), s.drain(here))
	}
	return s.drain(here)
}

func (s *gatewayService) closeListeners() {
	for _, l := range s.listeners {
		_ = l.Close() // nothing was promised
	}
}

func (s *gatewayService) beacon() beacon.Beacon {
	url, acp := gateway.URLs(s.listeners[0].Addr(), s.certs != nil, gateway.CleanPrefix(s.conf.Gateway.PathPrefix))
	return beacon.Beacon{
		URL: url, ACP: acp, Socket: s.inst.Socket(), PID: os.Getpid(), Instance: s.inst.ID(),
		Version: s.opts.Version, Started: s.started.UTC(),
	}
}

// drain takes no new work, gives running turns their time, and then tells the
// clients and closes. Meanwhile nobody is sent here, but people still see it.
func (s *gatewayService) drain(here beacon.Beacon) error {
	s.log.Info("draining", "connections", s.server.Connections())
	s.server.Notify(daemon.SdNotifyStopping)
	here.Draining = true
	marked := beacon.Write(string(s.opts.Home), here) // first, for a disk may be slow: door and hub close together
	s.server.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), gatewayDrain)
	defer cancel()
	stop := onSignal(cancel)
	defer stop()
	err := s.hub.Drain(ctx)
	s.settle()
	bound, end := context.WithTimeout(context.Background(), goodbyeBound)
	defer end()
	closed := s.server.Close(bound, "the gateway is shutting down")
	return errors.Join(marked, err, closed, beacon.Remove(string(s.opts.Home)))
}

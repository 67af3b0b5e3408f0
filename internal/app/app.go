// Package app wires Grapnel together: configuration, store, hub, drivers and
// surfaces. It is the only package that knows them all; package cli only
// parses and calls it.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/gateway"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/ledger/memory"
	"github.com/grapnel-ai/grapnel/internal/ledger/sqlite"
	"github.com/grapnel-ai/grapnel/internal/model/endpoint"
	"github.com/grapnel-ai/grapnel/internal/native"
	"github.com/grapnel-ai/grapnel/internal/proc"
	"github.com/grapnel-ai/grapnel/internal/sandbox"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
	"github.com/grapnel-ai/grapnel/internal/session/actor"
	"github.com/grapnel-ai/grapnel/internal/session/hub"
)

// localOwner owns what comes over stdio and the instance's own socket.
const localOwner = "local"

// Options say where and as what an App runs.
type Options struct {
	Home    config.Home
	Environ []string // as os.Environ gives it
	Version string
	Verbose bool
	Stderr  io.Writer // logs and reports to people
	// MaxSessions and SessionTimeout override the configuration where not zero.
	MaxSessions    int
	SessionTimeout time.Duration
	// Gateway is set for ServeGateway: clients of a network come back, so what is
	// asked of them waits for that.
	Gateway bool
	// Standalone never reaches for other processes: sessions that are active in
	// one are refused.
	Standalone bool
}

// App is a running Grapnel: one instance on one store. Its methods are safe
// for concurrent use.
type App struct {
	opts    Options
	log     *slog.Logger
	level   slog.LevelVar    // of log
	redact  *secret.Redactor // knows every secret this process has come across
	audit   *audit.Log       // nil while sessions are kept in memory only
	conf    *live
	inst    *instance.Instance // nil without a run directory
	procs   *proc.Custody      // of everything sessions start
	sandbox *sandbox.Ladder    // of everything sessions run
	sweep   sync.WaitGroup     // removes what earlier processes left
	store   session.Ledger
	durable bool // the store is on disk
	hub     *hub.Hub
	server  *serve.Server
	socket  socket
	door    atomic.Pointer[door.Door]       // of the gateway; nil where there is none
	gateway atomic.Pointer[gateway.Gateway] // the same
	auth    *auth
	prices  prices
	client  *http.Client // of all model providers, so that turns find connections open
	started time.Time
}

// Open starts an App. A broken configuration or store does not stop it: what
// cannot work says so when it is asked for, and the rest does. Errors are those
// nothing can work without.
func Open(ctx context.Context, o Options) (*App, error) {
	undumpable()
	redact := environmentSecrets(o.Environ)
	o.Stderr = redact.Writer(o.Stderr)
	a := &App{opts: o, redact: redact, client: endpoint.NewClient(), started: time.Now()}
	a.conf = newLive(o.Home, o.Environ)
	a.conf.broken = func(err error) {
		a.report(fmt.Errorf("config.toml was changed and cannot be used; what it said before stays in force:\n%w", err))
	}
	if err := a.conf.environmentError(); err != nil {
		return nil, err
	}
	if _, err := a.conf.get(); err != nil {
		a.report(err)
	}
	a.openLog(a.conf.orDefault())
	a.auth = &auth{conf: a.conf, redact: redact}
	a.openStore(ctx)
	a.openCustody()
	a.openSandbox()
	a.openHub()
	return a, nil
}

// report tells whoever started the process about something that needs doing.
func (a *App) report(err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(a.opts.Stderr, "grapnel: %s\n", strings.TrimRight(line, "\n"))
	}
}

// errBrokenConfig is why no store is opened when its place is not known. What is
// wrong was said before.
var errBrokenConfig = errors.New("config.toml cannot be used; correct it, then start grapnel anew")

// openStore opens the session store, or keeps sessions in memory where that is
// impossible, and says so.
func (a *App) openStore(ctx context.Context) {
	err := a.openDisk(ctx)
	if err == nil {
		a.durable = true
		return
	}
	a.report(fmt.Errorf("sessions are kept in memory only: %w", err))
	a.store = memory.New()
}

func (a *App) openDisk(ctx context.Context) error {
	c, err := a.conf.get()
	if err != nil {
		return errBrokenConfig
	}
	if err := a.opts.Home.Create(); err != nil {
		return err
	}
	if a.inst, err = instance.Open(a.opts.Home.Run()); err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, c.StorePath(), a.inst)
	var damaged *sqlite.DamagedError
	if errors.As(err, &damaged) {
		a.report(err)
		store, err = sqlite.Open(ctx, c.StorePath(), a.inst)
	}
	if err != nil {
		return err
	}
	a.audit = openAudit(c, a.redact)
	a.store = recordedLedger{store, a.audit, a.log}
	return nil
}

// openCustody ends what a Grapnel that died left running, and gets ready to
// start processes of our own.
func (a *App) openCustody() {
	if a.inst == nil {
		a.procs = proc.NewCustody(proc.Options{ID: session.NewID("i")})
		return
	}
	a.procs = proc.NewCustody(proc.Options{Dir: a.opts.Home.Run(), ID: a.inst.ID(), Alive: a.inst.Alive})
	ended, err := a.procs.Reap()
	if ended > 0 {
		a.log.Info("ended processes that a crashed grapnel left behind", "count", ended)
	}
	if err != nil {
		a.report(err)
	}
}

func (a *App) openHub() {
	c := a.conf.orDefault()
	limits := a.limits(c)
	drivers := &drivers{native: native.New(native.Options{
		Agent: a.nativeAgent, Rights: a.rightsOf, Sessions: subagents{a}, Procs: a.procs, Redact: a.redact, Audit: a.audit,
	}), conf: a.conf}
	a.hub = hub.New(hub.Options{
		Ledger: a.store, Drivers: drivers.of, Limits: limits, Logger: a.log,
	})
	o := serve.Options{
		Hub: a.hub, Agents: agents{a}, Auth: a.auth,
		RemoteStdio: func() bool { return a.conf.orDefault().Gateway.ClientMCPStdio },
		Version:     a.opts.Version, Persistent: a.durable,
		MaxSessions: limits.Sessions, SessionTimeout: limits.Idle,
		InstallRoot: realPath(string(a.opts.Home)), Logger: a.log, Redact: a.redact, Admin: a.admin, Observe: a.observe,
	}
	if !a.opts.Standalone {
		o.Relay, o.Home = relay{}, a.gatewaySocket
	}
	a.server = serve.New(o)
}

func (a *App) limits(c *config.Config) hub.Limits {
	l := hub.Limits{
		Sessions: c.ACP.MaxSessions,
		Limits: actor.Limits{
			Concurrent: actor.Concurrent(c.ACP.ConcurrentPrompt),
			Idle:       time.Duration(c.ACP.SessionTimeoutSecs) * time.Second,
			Ask:        time.Duration(c.ACP.PermissionTimeoutSecs) * time.Second,
			TurnGrace:  time.Duration(c.ACP.TurnGraceMinutes) * time.Minute,
		},
	}
	if a.opts.MaxSessions > 0 {
		l.Sessions = a.opts.MaxSessions
	}
	if a.opts.SessionTimeout > 0 {
		l.Idle = a.opts.SessionTimeout
	}
	if l.Ask == 0 {
		l.Ask = l.Idle
	}
	if a.opts.Gateway {
		l.AskGrace = l.Ask
	}
	return l
}

// settleBound is how long clients may take, once nothing runs any more, to be
// told the end of it.
const settleBound = 500 * time.Millisecond

// settle waits until clients have what drained sessions had to say.
func (a *App) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settleBound)
	defer cancel()
	a.server.Settle(ctx)
}

// Close ends what runs, within ctx, and gives the store up. Clients on the
// instance's socket hear of it before they are cut off.
func (a *App) Close(ctx context.Context) error {
	a.socket.shut()
	err := a.hub.Drain(ctx)
	a.settle()
	a.socket.end(ctx)
	a.closeSandbox()
	err = errors.Join(err, a.procs.Close(), a.store.Close())
	if a.inst != nil {
		err = errors.Join(err, a.inst.Close())
	}
	return err
}

// realPath is path through its links, or as it is where there is none.
func realPath(path string) string {
	if dir, err := resolveLinks(path); err == nil {
		return dir
	}
	return path
}

package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/internal/beacon"
	"github.com/grapnel-ai/grapnel/internal/serve"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// stallLimit ends a connection whose client takes nothing for so long. It may
// come back and go on after the last number it has. An editor on stdio is given
// all the time it wants: it cannot come back.
const stallLimit = 60 * time.Second

// impatient is a connection that fails when a write makes no end in time.
type impatient struct {
	net.Conn
	limit time.Duration
}

func (c impatient) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.limit)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// acceptPause keeps a failing accept from spinning.
const acceptPause = 100 * time.Millisecond

// socket is where other processes of this user reach an instance. The zero value
// listens nowhere.
type socket struct {
	mu       sync.Mutex
	listener net.Listener
	work     context.Context // of the connections
	stop     context.CancelFunc
	conns    sync.WaitGroup
}

// listen serves ACP on the instance's socket until Close, so that other processes
// on the same store reach the sessions that are active here. Only processes of
// the same user get in.
func (a *App) listen() error {
	if a.inst == nil {
		return nil
	}
	l, err := net.Listen("unix", a.inst.Socket())
	if err != nil {
		return fmt.Errorf("listen on the instance's socket: %w", err)
	}
	if err := os.Chmod(a.inst.Socket(), 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	s := &a.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = l
	s.work, s.stop = context.WithCancel(context.Background())
	s.conns.Go(func() { a.accept(s.work, l) }) // counted, so that none is added while end waits
	return nil
}

// shut takes no new connections.
func (s *socket) shut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		_ = s.listener.Close() // the file goes with the instance
	}
}

// end ends the connections and waits for them, within ctx. It comes after shut.
func (s *socket) end(ctx context.Context) {
	s.mu.Lock()
	stop := s.stop
	s.mu.Unlock()
	if stop == nil {
		return
	}
	stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.conns.Wait()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func (a *App) accept(ctx context.Context, l net.Listener) {
	for {
		nc, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files, which passes
			a.log.Warn("accepting a connection on the instance's socket failed", "err", err)
			time.Sleep(acceptPause)
			continue
		}
		if err := checkPeer(nc); err != nil {
			a.log.Warn("refused a connection to the instance's socket", "err", err)
			_ = nc.Close()
			continue
		}
		a.socket.conns.Go(func() { a.serveSocket(ctx, nc) })
	}
}

func (a *App) serveSocket(ctx context.Context, nc net.Conn) {
	mc := acp.NewStdio(nc, impatient{nc, stallLimit}, a.conf.orDefault().ACP.MaxMessageBytes)
	err := a.server.Serve(ctx, mc, serve.ConnOptions{Owner: localOwner, Role: session.Approver, Admin: true, Local: true})
	if err != nil && ctx.Err() == nil {
		a.log.Debug("connection on the instance's socket ended", "err", err)
	}
}

// relay dials other instances' sockets.
type relay struct{}

// Dial implements serve.Relay.
func (relay) Dial(ctx context.Context, socket string) (acp.MessageConn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	return acp.NewStdio(nc, nc, 0), nil
}

// gatewaySocket is where the gateway of this configuration directory listens for
// local processes, unless there is none or it is this process.
func (a *App) gatewaySocket() (string, bool) {
	b, err := beacon.Find(string(a.opts.Home))
	if err != nil || a.inst == nil || b.Instance == a.inst.ID() {
		return "", false
	}
	return b.Socket, true
}

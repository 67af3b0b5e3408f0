package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/grapnel-ai/grapnel/acp"
	"github.com/grapnel-ai/grapnel/acp/ws"
)

// Target is a gateway to connect to, and how.
type Target struct {
	URL    string // ws or wss, with the path of the endpoint
	Header http.Header
	// Far says that it is on another host: the client's files are not there.
	Far bool
}

// RefusedError is a failure that trying again does not mend: wrong credentials, a
// certificate that is not trusted, a server that is no gateway.
type RefusedError struct{ Err error }

// Error is that of the cause.
func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// ErrUnfinished is matched by the error of Run when the client was left without
// answers that it asked for.
var ErrUnfinished = errors.New("not everything the client asked for was answered")

// Provenance says what prompts tell of where they come from.
type Provenance string

// The values of Options.Provenance.
const (
	ProvenanceOff     Provenance = "off"
	ProvenanceMeta    Provenance = "meta"         // _meta.provenance
	ProvenanceReceipt Provenance = "meta+receipt" // and a block the model reads
)

// Options say what a bridge adds to the bytes it carries. Target is required.
type Options struct {
	// Target is asked before each attempt to connect: a gateway that comes back
	// may have moved, a credential been put in place.
	Target func(context.Context) (Target, error)
	// Connect replaces the WebSocket dial, for tests.
	Connect func(context.Context, Target) (acp.MessageConn, error)
	Version string // of Grapnel, for an initialize answered without the gateway

	// What session/new asks for where the client chooses nothing.
	SessionKey, SessionLabel string
	RequireExisting, Reset   bool
	NoPrefixCwd              bool
	Provenance               Provenance

	// ClientFs says that paths mean the same on both hosts; ToolsClient puts all
	// hands on the client.
	ClientFs, ToolsClient bool

	// Bound is how long a lost connection is tried again while something hangs on
	// it; zero means DefaultBound. Drain is how long the client's open requests
	// may take once it has closed its side; zero means DefaultDrain.
	Bound, Drain time.Duration
	// Silence is how long a gateway may say nothing while sessions are resumed;
	// zero means DefaultSilence.
	Silence  time.Duration
	MaxBytes int64 // of one message; zero means acp.DefaultMaxMessageBytes
	// Ping and Stall are as in ws.DialOptions; zero means DefaultPing and
	// DefaultStall.
	Ping, Stall time.Duration
	Logger      *slog.Logger
}

const (
	// DefaultBound is what a gateway's machine takes to start anew, and more.
	DefaultBound = 5 * time.Minute
	// DefaultDrain is shorter than editors wait before they kill.
	DefaultDrain = 3 * time.Second
	// DefaultSilence is long beside what a gateway takes to find a session.
	DefaultSilence = 10 * time.Second
	// DefaultPing and DefaultStall are shorter than the gateway's own: somebody
	// waits at this end, and nothing is lost by connecting again.
	DefaultPing  = 5 * time.Second
	DefaultStall = 20 * time.Second
	// dialBound is how long one attempt may take, greetBound how long the client's
	// initialize waits for the gateway.
	dialBound  = 10 * time.Second
	greetBound = 3 * time.Second
)

func (o Options) complete() Options {
	if o.Connect == nil {
		o.Connect = o.dial
	}
	if o.Bound == 0 {
		o.Bound = DefaultBound
	}
	if o.Drain == 0 {
		o.Drain = DefaultDrain
	}
	if o.Silence == 0 {
		o.Silence = DefaultSilence
	}
	if o.Ping == 0 {
		o.Ping = DefaultPing
	}
	if o.Stall == 0 {
		o.Stall = DefaultStall
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// dial connects by WebSocket.
func (o Options) dial(ctx context.Context, t Target) (acp.MessageConn, error) {
	c, err := ws.Dial(ctx, t.URL, ws.DialOptions{Header: t.Header, MaxBytes: o.MaxBytes, Ping: o.Ping, Stall: o.Stall})
	if err != nil {
		return nil, classify(err)
	}
	return c, nil
}

// origin is what the bridge says of where it runs.
type origin struct {
	bridge string // names this process, once
	host   string
}

func newOrigin() origin {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return origin{rand.Text(), host}
}

// Package door decides who comes in to the gateway: it reads the credential of
// a request, checks that the request was meant for this gateway and comes from
// no foreign page, and says whose it is. It keeps the named tokens, hands them
// out for pairing codes, and holds everyone to their limits.
package door

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/secret"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// LocalOwner owns what static credentials, pairing and the bridge token let in.
const LocalOwner = "local"

// Options say what a Door stands on. Path is required.
type Options struct {
	Path     string // the file of named tokens; made when the first one is
	Settings Settings
	Now      func() time.Time // nil: time.Now
	Redact   *secret.Redactor // gets to know every credential that is made or let in
	Audit    *audit.Log       // nil records nothing
	Logger   *slog.Logger     // nil: discards
}

// Door lets requests in or refuses them. It is safe for concurrent use.
type Door struct {
	opts Options

	// adding is held from when a token gets its name until it is stored, so that
	// nobody else gets the same. It is taken before mu.
	adding sync.Mutex

	mu       sync.Mutex
	settings Settings
	static   []entry
	tokens   []record
	known    []entry // of static and tokens; see settle
	codes    []code
	visits   map[*visit]struct{}
	accounts map[string]*account
	guesses  *guard  // of credentials, per source
	pairing  *guard  // of codes, per source
	everyone *bucket // failed codes, of all sources together
}

// Pass is what a request was let in with.
type Pass struct {
	Owner string
	Name  string       // of the credential, for people and the log
	Role  session.Role // the most it may be in a session
	// Agents are the only ones it may use; empty means all.
	Agents []string
	// Local says that the client speaks to us on this machine, through no proxy.
	Local bool
	// Expires is when the credential ends; zero for never.
	Expires time.Time

	id string // of the credential; see entry.id
}

// Authority says for whom and for what a pass is good. What one pass has opened,
// only a pass of the same authority may use: another credential of the owner may
// have less.
func (p Pass) Authority() string {
	return strings.Join(append([]string{p.Owner, p.Role.String()}, p.Agents...), "\n")
}

// Open returns a Door with the named tokens that are stored at o.Path.
func Open(o Options) (*Door, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	tokens, err := loadTokens(o.Path)
	if err != nil {
		return nil, err
	}
	d := &Door{
		opts: o, tokens: tokens,
		visits: make(map[*visit]struct{}), accounts: make(map[string]*account),
		guesses:  newGuard(guessLimit, guessWindow, guessLock),
		pairing:  newGuard(codeLimit, codeWindow, codeLock),
		everyone: newBucket(everyoneBurst, everyonePerMinute, o.Now()),
	}
	d.Configure(o.Settings)
	return d, nil
}

// Configure puts other settings in force, for requests from now on. Connections
// of a static credential that is no longer among them end.
func (d *Door) Configure(s Settings) {
	static := s.entries()
	for _, secret := range []string{s.Token, s.Password, s.Bridge} {
		d.opts.Redact.Add(secret)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settings, d.static = s, static
	d.settle()
}

// Guarded reports whether there is a credential that someone chose to set or
// make: a static one, or a named token that has not expired. The bridge token,
// which is always there, does not count.
func (d *Door) Guarded() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.Now()
	for _, t := range d.tokens {
		if !t.expired(now) {
			return true
		}
	}
	return d.settings.Token != "" || d.settings.Password != ""
}

// Admit lets a request in, or returns a *Refusal to answer it with, before
// anything else is done about it. Host and Origin come first (403), then the
// credential (401), whose failures are counted per source (429). It runs at each
// request: nothing of an earlier one is relied on.
func (d *Door) Admit(r *http.Request) (Pass, error) {
	if err := d.Check(r); err != nil {
		return Pass{}, err
	}
	c, ok := readCredential(r)
	if !ok {
		return Pass{}, unauthorized()
	}
	source := d.Source(r)
	p, ok := d.match(c)
	if locked := d.guessed(r.Context(), c, ok, source); locked > 0 {
		return Pass{}, tooMany(locked)
	}
	if !ok {
		return Pass{}, unauthorized()
	}
	d.opts.Redact.Add(c.text)
	p.Local = d.direct(r)
	return p, nil
}

// guessed counts a credential that let nobody in. It returns how long the source
// is locked out for: with wrong credentials, and with passwords, which people
// choose and others guess. A token that is right always gets in, so that whoever
// shares an address with someone who guesses is not shut out.
func (d *Door) guessed(ctx context.Context, c credential, right bool, source string) time.Duration {
	d.mu.Lock()
	now := d.opts.Now()
	locked := d.guesses.locked(source, now)
	begins := false
	if !right && locked == 0 {
		begins = d.guesses.fail(source, now)
	}
	d.mu.Unlock()
	if begins {
		d.recordLockout(ctx, "credentials", source)
	}
	if right && c.kind != password {
		return 0
	}
	return locked
}

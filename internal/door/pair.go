package door

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/audit"
)

const (
	// codeAlphabet is Crockford's: no letter looks like another or like a digit.
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	codeLength   = 8
	codeLife     = 10 * time.Minute
	// maxCodes bounds how many codes are good at once; a further one takes the
	// place of the oldest.
	maxCodes = 8
	// pairedName is what a client that does not name itself is called.
	pairedName = "paired"
)

// code is a pairing code that was given out.
type code struct {
	hash    [hashSize]byte
	expires time.Time
}

// NewCode returns a code, such as 4K7Q-9XMT, that is good for one pairing until
// the time it returns. It is refused while pairing is off.
func (d *Door) NewCode(ctx context.Context) (string, time.Time, error) {
	d.mu.Lock()
	on := d.settings.Pairing
	d.mu.Unlock()
	if !on {
		return "", time.Time{}, pairingOff()
	}
	err := d.opts.Audit.Record(ctx, audit.Entry{Event: audit.CodeIssued, Owner: LocalOwner, By: "command line"})
	if err != nil {
		return "", time.Time{}, err
	}
	text := randomCode()
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.Now()
	d.forgetCodes(now)
	if len(d.codes) == maxCodes {
		d.codes = slices.Delete(d.codes, 0, 1)
	}
	until := now.Add(codeLife)
	d.codes = append(d.codes, code{hashOf(text), until})
	return text[:codeLength/2] + "-" + text[codeLength/2:], until, nil
}

func pairingOff() *Refusal {
	return forbidden("pairing is off (gateway.require_pairing = false): use a token that grapnel gateway token create made")
}

func randomCode() string {
	text := make([]byte, codeLength)
	_, _ = rand.Read(text) // never fails
	for i, b := range text {
		text[i] = codeAlphabet[int(b)%len(codeAlphabet)] // 256 is a multiple of 32
	}
	return string(text)
}

// readCode is a code as it was made, however it was typed.
func readCode(typed string) string {
	return strings.Map(func(c rune) rune {
		switch c {
		case '-', ' ':
			return -1
		case 'O', 'o':
			return '0'
		case 'I', 'i', 'L', 'l':
			return '1'
		}
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, typed)
}

// Pair takes a code and returns a new token of the local owner for it, named
// name or after it. source is where the request comes from, as Source says. The
// error is a *Refusal where the client may know why.
func (d *Door) Pair(ctx context.Context, typed, name, source string) (Token, string, error) {
	if name == "" {
		name = pairedName
	}
	d.adding.Lock()
	defer d.adding.Unlock()
	n, err := d.redeem(ctx, typed, name, source)
	if err != nil {
		return Token{}, "", err
	}
	return d.add(ctx, n, audit.Paired, source)
}

// redeem spends a code.
func (d *Door) redeem(ctx context.Context, typed, name, source string) (NewToken, error) {
	d.mu.Lock()
	n, begins, err := d.tryCode(typed, name, source)
	d.mu.Unlock()
	if begins {
		d.recordLockout(ctx, "pairing codes", source)
	}
	return n, err
}

// tryCode looks at a code. While the source is locked out, or too many codes
// were wrong lately from anywhere, it does not even look. d.mu is held.
func (d *Door) tryCode(typed, name, source string) (n NewToken, lockout bool, err error) {
	now := d.opts.Now()
	if !d.settings.Pairing {
		return n, false, pairingOff()
	}
	if wait := max(d.pairing.locked(source, now), d.everyone.wait(now)); wait > 0 {
		return n, false, tooMany(wait)
	}
	d.forgetCodes(now)
	at := d.findCode(readCode(typed))
	if at < 0 {
		d.everyone.take(now)
		lockout = d.pairing.fail(source, now)
		return n, lockout, unauthorized()
	}
	n = d.pairedToken(name)
	if err := n.check(now); err != nil { // the code can be used again
		return n, false, &Refusal{Status: http.StatusBadRequest, Message: err.Error()}
	}
	d.codes = slices.Delete(d.codes, at, at+1)
	d.pairing.forgive(source)
	return n, false, nil
}

func (d *Door) findCode(text string) int {
	all := make([]entry, len(d.codes))
	for i, c := range d.codes {
		all[i].hash = c.hash
	}
	return find(all, hashOf(text))
}

func (d *Door) forgetCodes(now time.Time) {
	d.codes = slices.DeleteFunc(d.codes, func(c code) bool { return ended(c.expires, now) })
}

// recordLockout puts on record that a source is locked out. It is locked out
// whether that works or not.
func (d *Door) recordLockout(ctx context.Context, what, source string) {
	d.opts.Logger.Warn("an address is locked out", "source", source, "after", "wrong "+what)
	err := d.opts.Audit.Record(ctx, audit.Entry{Event: audit.LockedOut, What: "wrong " + what, By: source})
	if err != nil {
		d.opts.Logger.Error("a lockout is not on record", "err", err)
	}
}

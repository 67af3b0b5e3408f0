package door

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/audit"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// ErrNoToken is matched by the error of Revoke when there is no such token.
var ErrNoToken = errors.New("there is no such token")

// Create makes a named token and returns it. This is the only time it can be
// seen: what is kept is its hash.
func (d *Door) Create(ctx context.Context, n NewToken) (Token, string, error) {
	if err := n.check(d.opts.Now()); err != nil {
		return Token{}, "", err
	}
	d.adding.Lock()
	defer d.adding.Unlock()
	d.mu.Lock()
	free := d.free(n.Name)
	d.mu.Unlock()
	if !free {
		return Token{}, "", fmt.Errorf("there is a token %s already; revoke it first, or choose another name", n.Name)
	}
	return d.add(ctx, n, audit.TokenCreated, "command line")
}

// free reports whether a name can be given to a new token: also when the one
// that has it has expired. d.mu is held.
func (d *Door) free(name string) bool {
	at := d.named(name)
	return at < 0 || d.tokens[at].expired(d.opts.Now())
}

func (d *Door) named(name string) int {
	return slices.IndexFunc(d.tokens, func(t record) bool { return t.Name == name })
}

// add puts a new token on record, then stores it. Its name is free, and d.adding is
// held.
func (d *Door) add(ctx context.Context, n NewToken, event audit.Event, by string) (Token, string, error) {
	text := newToken()
	d.opts.Redact.Add(text)
	err := d.opts.Audit.Record(ctx, audit.Entry{Event: event, Owner: n.Owner, What: n.describe(), By: by})
	if err != nil {
		return Token{}, "", err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.Now()
	kept := slices.DeleteFunc(slices.Clone(d.tokens), func(t record) bool { return t.Name == n.Name })
	if len(kept) >= maxTokens {
		kept = slices.DeleteFunc(kept, func(t record) bool { return t.expired(now) })
	}
	if len(kept) >= maxTokens {
		return Token{}, "", fmt.Errorf("there are %d tokens, which is as many as there can be; revoke some", maxTokens)
	}
	r := n.record(text, now)
	kept = append(kept, r)
	if err := saveTokens(d.opts.Path, kept); err != nil {
		return Token{}, "", err
	}
	d.tokens = kept
	d.settle()
	return r.Token, text, nil
}

// describe says for the record what a token is.
func (n NewToken) describe() string {
	text := fmt.Sprintf("token %s, owner %s, %s", n.Name, n.Owner, n.Role)
	if len(n.Scope) > 0 {
		text += ", agents " + strings.Join(n.Scope, ", ")
	}
	if !n.Expires.IsZero() {
		text += ", until " + n.Expires.UTC().Format(time.RFC3339)
	}
	return text
}

// Tokens lists the named tokens by name, those that have expired too.
func (d *Door) Tokens() []Token {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]Token, 0, len(d.tokens))
	for _, t := range d.tokens {
		list = append(list, t.Token)
	}
	slices.SortFunc(list, func(a, b Token) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Revoke takes a token back for good: it lets nobody in any more, and its
// connections end. That holds also when an error says that it could not be
// stored, until the gateway starts anew.
func (d *Door) Revoke(ctx context.Context, name string) error {
	d.mu.Lock()
	at := d.named(name)
	if at < 0 {
		d.mu.Unlock()
		return fmt.Errorf("%w: %.80q; grapnel gateway token list shows what there is", ErrNoToken, name)
	}
	owner := d.tokens[at].Owner
	d.tokens = slices.Delete(slices.Clone(d.tokens), at, at+1)
	d.settle()
	err := saveTokens(d.opts.Path, d.tokens)
	d.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("token %s lets nobody in until the gateway starts anew, but that cannot be stored: %w", name, err)
	}
	return errors.Join(err, d.opts.Audit.Record(ctx, audit.Entry{
		Event: audit.TokenRevoked, Owner: owner, What: "token " + name, By: "command line",
	}))
}

// touch remembers the day a token was used on. d.mu is held.
func (d *Door) touch(name string, now time.Time) {
	at := d.named(name)
	if at < 0 {
		return
	}
	day := now.UTC().Truncate(24 * time.Hour)
	if d.tokens[at].Used.Equal(day) {
		return
	}
	d.tokens[at].Used = day
	if err := saveTokens(d.opts.Path, d.tokens); err != nil { // which keeps nobody out
		d.opts.Logger.Warn("the day a token was used on is not stored", "token", name, "err", err)
	}
}

// pairedToken is what a code gets: all rights of the owner of this machine.
func (d *Door) pairedToken(name string) NewToken {
	base := name[:min(len(name), longestName-len("-1000"))] // as many as there can be
	for n := 2; !d.free(name) || name == nameBridge; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	return NewToken{Name: name, Owner: LocalOwner, Role: session.Approver}
}

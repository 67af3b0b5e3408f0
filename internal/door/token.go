package door

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/grapnel-ai/grapnel/internal/session"
)

// Token is what is known of a named token, which is everything but the token.
type Token struct {
	Name    string    `json:"name"`
	Owner   string    `json:"owner"`
	Role    string    `json:"role"`  // observer, prompter, approver
	Scope   []string  `json:"scope"` // aliases of agents; empty means all
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"lastUsed,omitzero"` // to the day
}

// record is a token as it is stored.
type record struct {
	Token
	Hash string `json:"hash"` // SHA-256 of the token, in hex
}

const (
	// tokenPrefix makes a token known for what it is where it turns up.
	tokenPrefix = "gp_"
	tokenBytes  = 32
	// maxTokens bounds how many there can be, and so what a comparison costs.
	maxTokens   = 1000
	longestName = 64
)

// newToken returns a token: the prefix and 256 random bits.
func newToken() string {
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // never fails
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random)
	return tokenPrefix + strings.ToLower(text)
}

// NewToken says what token to create.
type NewToken struct {
	Name    string
	Owner   string // empty: an owner of the token's name
	Role    session.Role
	Scope   []string
	Expires time.Time // zero: never
}

// check fills in what is left out and says what is wrong.
func (n *NewToken) check(now time.Time) error {
	if n.Owner == "" {
		n.Owner = n.Name
		if n.Owner == LocalOwner {
			return errors.New("a token named local would have all of this machine's own sessions; say so with --owner local, or choose another name")
		}
	}
	switch {
	case !validName(n.Name):
		return fmt.Errorf("%.80q cannot be a token's name: use letters, digits, - and _, at most %d", n.Name, longestName)
	case n.Name == nameBridge:
		return errors.New("the name bridge is taken by the bridge's own token; choose another")
	case !validName(n.Owner):
		return fmt.Errorf("%.80q cannot be an owner's name: use letters, digits, - and _, at most %d", n.Owner, longestName)
	case ended(n.Expires, now):
		return errors.New("the token would have expired already; give it a time to come")
	case n.Role > session.Approver:
		return errors.New("a role is observer, prompter or approver")
	}
	return nil
}

func validName(s string) bool {
	for i, c := range []byte(s) {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '-' && c != '_') {
			return false
		}
	}
	return s != "" && len(s) <= longestName
}

func (n NewToken) record(text string, now time.Time) record {
	h := hashOf(text)
	return record{Token{
		Name: n.Name, Owner: n.Owner, Role: n.Role.String(), Scope: append([]string{}, n.Scope...),
		Created: now.UTC().Truncate(time.Second), Expires: n.Expires.UTC(),
	}, hex.EncodeToString(h[:])}
}

// valid reports whether a stored record can be used as it is.
func (r record) valid() bool {
	hash, err := hex.DecodeString(r.Hash)
	_, unknown := session.ParseRole(r.Role)
	return err == nil && len(hash) == hashSize && unknown == nil && validName(r.Name) && validName(r.Owner) && !slices.Contains(r.Scope, "")
}

func (r record) expired(now time.Time) bool { return ended(r.Expires, now) }

func (r record) entry() entry {
	role, _ := session.ParseRole(r.Role) // checked when it was loaded
	e := entry{kind: bearer, pass: Pass{
		Owner: r.Owner, Name: r.Name, Role: role, Agents: r.Scope, Expires: r.Expires, id: r.Name + " " + r.Hash,
	}}
	_, _ = hex.Decode(e.hash[:], []byte(r.Hash)) // likewise
	return e
}

package door

import (
	"crypto/sha256"
	"crypto/subtle"
	"time"
)

const hashSize = sha256.Size

func hashOf(text string) [hashSize]byte { return sha256.Sum256([]byte(text)) }

// match finds what a credential lets in. Only hashes are kept and compared, and
// each one of them every time, so that how long it takes says neither whether
// one matched nor how much of it did.
func (d *Door) match(c credential) (Pass, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.Now()
	if len(c.text) > longestCredential {
		c.text = ""
	}
	at := find(d.known, hashOf(c.text))
	if at < 0 || c.text == "" || d.known[at].kind != c.kind {
		return Pass{}, false
	}
	p := d.known[at].pass
	if ended(p.Expires, now) {
		return Pass{}, false
	}
	d.touch(p.Name, now)
	return p, true
}

// settle makes known what credentials there are, the static ones and the named
// ones, and ends the visits of those that are none any more. d.mu is held.
func (d *Door) settle() {
	known := make([]entry, 0, len(d.static)+len(d.tokens))
	known = append(known, d.static...)
	for _, t := range d.tokens {
		known = append(known, t.entry())
	}
	d.known = known
	ids := make(map[string]bool, len(known))
	for _, e := range known {
		ids[e.pass.id] = true
	}
	for v := range d.visits {
		if !ids[v.id] {
			v.end(ErrRevoked)
		}
	}
}

// find returns the place of a hash, -1 when it is not there. It compares all of
// them, whatever they are.
func find(all []entry, hash [hashSize]byte) int {
	at := -1
	for i := range all {
		same := subtle.ConstantTimeCompare(all[i].hash[:], hash[:])
		at = subtle.ConstantTimeSelect(same, i, at)
	}
	return at
}

func ended(expires, now time.Time) bool { return !expires.IsZero() && !now.Before(expires) }

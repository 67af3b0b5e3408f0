package door

import (
	"fmt"
	"net/netip"

	"github.com/grapnel-ai/grapnel/internal/door/address"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// The names of the credentials that have none of their own. No token can have
// one of them.
const (
	nameToken    = "gateway.auth.token"
	namePassword = "gateway.auth.password"
	nameBridge   = "bridge"
)

// Settings are what the configuration says about the door.
type Settings struct {
	Token    string // static bearer token; "" for none
	Password string // static password; "" for none
	Bridge   string // the bridge's token, see BridgeToken; "" for none

	Pairing bool             // codes are given out and taken
	Hosts   []address.Host   // names it is reached by, besides its own address
	Origins []address.Origin // pages let in, besides its own
	Proxies []netip.Prefix   // peers whose forwarded headers count
	Limits  Limits
}

// Limits are what one owner may use at once; 0 is unlimited.
type Limits struct {
	Connections int
	PerMinute   int // JSON-RPC messages
}

// Lists reads the lists of hosts, origins and proxies as they are configured.
// The error names the entry that cannot be read.
func (s *Settings) Lists(hosts, origins, proxies []string) error {
	var err error
	if s.Hosts, err = parseAll("allowed_hosts", hosts, address.ParseHost); err != nil {
		return err
	}
	if s.Origins, err = parseAll("allowed_origins", origins, address.ParseOrigin); err != nil {
		return err
	}
	s.Proxies, err = parseAll("trusted_proxies", proxies, address.ParseNetwork)
	return err
}

func parseAll[T any](key string, list []string, parse func(string) (T, error)) ([]T, error) {
	parsed := make([]T, 0, len(list))
	for _, text := range list {
		v, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("gateway.%s has the entry %.100q: %w", key, text, err)
		}
		parsed = append(parsed, v)
	}
	return parsed, nil
}

// entry is a credential that is good: its hash and what it lets in.
type entry struct {
	hash [hashSize]byte
	kind kind
	pass Pass
}

// entries are the static credentials. An empty one is unset: nothing matches it.
func (s *Settings) entries() []entry {
	var all []entry
	add := func(text string, k kind, name string) {
		if text != "" {
			h := hashOf(text)
			all = append(all, entry{h, k, Pass{Owner: LocalOwner, Name: name, Role: session.Approver, id: name + string(h[:])}})
		}
	}
	add(s.Token, bearer, nameToken)
	add(s.Password, password, namePassword)
	add(s.Bridge, bearer, nameBridge)
	return all
}

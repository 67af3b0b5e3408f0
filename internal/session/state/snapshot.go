package state

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// version of the snapshot's encoding. A snapshot of another version is not
// read: the State is then built from all events.
const version = 1

type snapshot struct {
	V     int    `json:"v"`
	State *State `json:"state"`
}

// Encode writes a snapshot.
func (s *State) Encode() ([]byte, error) {
	b, err := json.Marshal(snapshot{V: version, State: s}, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode session state: %w", err)
	}
	return b, nil
}

// Decode reads a snapshot. ok is false for one that this build cannot use.
func Decode(b []byte) (s *State, ok bool) {
	snap := snapshot{}
	if err := json.Unmarshal(b, &snap); err != nil || snap.V != version || snap.State == nil {
		return nil, false
	}
	return snap.State, true
}

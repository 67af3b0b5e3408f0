// Package beacon is how processes on the same configuration directory find its
// gateway: the file run/gateway.json, which the gateway writes while it serves,
// and the lock beside it, which keeps a second gateway out.
package beacon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
	"github.com/grapnel-ai/grapnel/internal/ledger/instance"
	"github.com/grapnel-ai/grapnel/internal/privatefile"
)

const (
	fileName = "gateway.json"
	lockName = "gateway.lock"
	// maxBytes is more than any beacon has.
	maxBytes = 64 << 10
)

var (
	// ErrNone reports that no gateway runs on a configuration directory.
	ErrNone = errors.New("no gateway runs on this configuration directory: start one with grapnel gateway")
	// ErrTaken reports that another gateway runs on it.
	ErrTaken = errors.New("another gateway is running on this configuration directory: see grapnel gateway status")
)

// Beacon says where a gateway is.
type Beacon struct {
	URL      string    `json:"url"`      // http or https, with the path prefix and no final slash
	ACP      string    `json:"acp"`      // ws or wss, of the ACP endpoint
	Socket   string    `json:"socket"`   // of the instance, on which local clients and admins speak ACP
	PID      int       `json:"pid"`      // for people; never asked whether it lives
	Instance string    `json:"instance"` // whose lock says whether the gateway lives
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`
	Draining bool      `json:"draining,omitzero"` // it takes no new work
}

// run is where the processes of a configuration directory meet.
func run(dir string) string { return filepath.Join(dir, "run") }

// Write makes the beacon of the gateway on the configuration directory dir, in
// one step and for the user only.
func Write(dir string, b Beacon) error {
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("encode the gateway's beacon: %w", err)
	}
	if err := privatefile.Write(filepath.Join(run(dir), fileName), append(text, '\n')); err != nil {
		return fmt.Errorf("write the gateway's beacon: %w", err)
	}
	return nil
}

// Remove puts the beacon out. There may be none.
func Remove(dir string) error {
	err := os.Remove(filepath.Join(run(dir), fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Find returns the beacon of the living gateway on dir that takes new work, or
// ErrNone.
func Find(dir string) (Beacon, error) {
	b, err := Look(dir)
	if err != nil || b.Draining {
		return Beacon{}, ErrNone
	}
	return b, nil
}

// Look returns the beacon of the living gateway on dir, also of one that drains,
// or ErrNone. What a gateway that died left behind, and what cannot be read, is
// none.
func Look(dir string) (Beacon, error) {
	f, err := os.Open(filepath.Join(run(dir), fileName))
	if err != nil {
		return Beacon{}, ErrNone
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > maxBytes {
		return Beacon{}, ErrNone
	}
	b, err := parse(f, info.Size())
	if err != nil || !instance.Observe(run(dir)).Alive(b.Instance) {
		return Beacon{}, ErrNone
	}
	return b, nil
}

func parse(f *os.File, size int64) (b Beacon, err error) {
	text := make([]byte, size)
	if _, err := f.ReadAt(text, 0); err != nil {
		return b, err
	}
	return decode(text)
}

func decode(text []byte) (b Beacon, err error) {
	err = json.Unmarshal(text, &b)
	return b, err
}

// Claim makes this process the gateway of dir until release is called or it
// ends. It fails with ErrTaken while another process is.
func Claim(dir string) (release func() error, err error) {
	f, err := filelock.Open(filepath.Join(run(dir), lockName))
	if err != nil {
		return nil, fmt.Errorf("open the gateway's lock: %w", err)
	}
	err = filelock.TryLock(f, filelock.Exclusive)
	if errors.Is(err, filelock.ErrHeld) {
		return nil, errors.Join(ErrTaken, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the gateway's lock: %w", err), f.Close())
	}
	return f.Close, nil
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/grapnel-ai/grapnel/internal/ledger/filelock"
)

// Change is a new value of one setting, as plain text: strings need no quotes,
// lists may be written a,b,c.
type Change struct {
	Path  Path
	Value string
}

// Set changes one setting in config.toml, as SetAll.
func Set(home Home, p Path, value string) ([]Problem, error) {
	return SetAll(home, []Change{{p, value}})
}

// SetAll changes settings in config.toml, all or none, keeping comments, order
// and layout, and returns what the file is still warned of. The file is created
// when absent, replaced in one step, readable by its user only, and left alone
// when it does not parse or the result would not load.
func SetAll(home Home, changes []Change) ([]Problem, error) {
	return rewrite(home, func(text []byte) (after []byte, warnings []Problem, err error) {
		after = text
		for _, c := range changes {
			if len(c.Path) == 0 {
				return nil, nil, errors.New("no setting is named")
			}
			if after, warnings, err = changed(home, after, c.Path, c.Value); err != nil {
				return nil, nil, err
			}
		}
		return after, warnings, nil
	})
}

// rewrite replaces the file by what change makes of it. Only one process does so
// at a time.
func rewrite(home Home, change func(text []byte) ([]byte, []Problem, error)) ([]Problem, error) {
	if err := home.Create(); err != nil {
		return nil, err
	}
	unlock, err := home.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, err := readFile(home.File())
	if err != nil {
		return nil, err
	}
	after, warnings, err := change(before)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(before, after) {
		return warnings, nil
	}
	return warnings, replace(home.File(), before, after)
}

// lockBound is how long a change waits for the one of another process, which
// takes milliseconds.
const lockBound = 5 * time.Second

// lock keeps other processes from changing the file.
func (h Home) lock() (unlock func(), err error) {
	f, err := filelock.Open(filepath.Join(string(h), ".config.lock"))
	if err != nil {
		return nil, fmt.Errorf("lock the configuration: %w", err)
	}
	if err := filelock.LockWithin(f, filelock.Exclusive, lockBound); err != nil {
		return nil, errors.Join(fmt.Errorf("another process is changing %s (%w); run the command again", h.File(), err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// replace writes the file in one step. A link is followed, so that a file kept
// elsewhere stays there.
func replace(name string, before, after []byte) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	temp, err := writeTemp(filepath.Dir(name), after)
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	defer os.Remove(temp) // gone already when renamed
	if now, err := readFile(name); err != nil || !bytes.Equal(now, before) {
		return fmt.Errorf("%s was changed by someone else meanwhile; run the command again", name)
	}
	if err := os.Rename(temp, name); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	return nil
}

// writeTemp writes data to a new file in dir and to the disk. os.CreateTemp
// makes it readable by its user only.
func writeTemp(dir string, data []byte) (name string, err error) {
	f, err := os.CreateTemp(dir, ".config-*.toml")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

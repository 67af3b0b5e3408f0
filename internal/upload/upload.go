// Package upload keeps files that come into a session from outside: embedded in
// a prompt, delivered by the agent, or in the result of an MCP tool. Each is
// kept once, as uploads/<sha256>.<ext> below the session's working directory.
package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/grapnel-ai/grapnel/internal/fsroot"
	"github.com/grapnel-ai/grapnel/internal/media"
)

const (
	// Dir is the directory of uploads, below the session's working directory.
	Dir = "uploads"
	// MaxBytes bounds one file: 10 MiB.
	MaxBytes = media.MaxBytes
)

// ErrTooLarge refuses a file of more than MaxBytes.
var ErrTooLarge = media.ErrTooLarge

// Store is where one session keeps uploads. It is safe for concurrent use, also
// by several processes.
type Store struct {
	Roots *fsroot.Set // its first root is Cwd
	Cwd   string      // the session's working directory, real and absolute
}

// File is what is to be kept. All but Data are only claims of whoever sent it.
type File struct {
	Data     []byte
	Name     string // a file name, a path or a URI; may be anything, or empty
	MimeType string // may be wrong, or empty
}

// Saved is a file that has been kept.
type Saved struct {
	Path     string // absolute
	SHA256   string // of the content, in hex
	Name     string // the name it came with, fit to be shown; never empty
	MimeType string // the true type as far as it can be told; never empty
}

// Text is how the model is told of the file.
func (s Saved) Text() string {
	if strings.HasPrefix(s.MimeType, "image/") {
		return fmt.Sprintf("[IMAGE: %s]", s.Path)
	}
	return fmt.Sprintf("[Document: %s] %s", s.Name, s.Path)
}

// Save keeps a file and returns where. Saving the same bytes again writes
// nothing; a file of that name with other bytes is replaced. No link is
// followed and nothing but the uploads directory is touched. Errors are one
// sentence for a person.
func (s Store) Save(f File) (Saved, error) {
	saved := describe(f)
	if len(f.Data) > MaxBytes {
		return Saved{}, fmt.Errorf("%s is %w: it has %d bytes; at most %d are taken", saved.Name, ErrTooLarge, len(f.Data), MaxBytes)
	}
	saved.Path = filepath.Join(s.Cwd, Dir, saved.SHA256+ext(f.Name, saved.MimeType))
	if err := s.write(saved, f.Data); err != nil {
		return Saved{}, fmt.Errorf("%s cannot be kept: %w", saved.Name, err)
	}
	return saved, nil
}

func describe(f File) Saved {
	sum := sha256.Sum256(f.Data)
	s := Saved{SHA256: hex.EncodeToString(sum[:]), MimeType: media.Type(f.Data, f.MimeType)}
	if s.Name = Name(f.Name); s.Name == "" {
		s.Name = "file" + ext("", s.MimeType)
	}
	return s
}

func (s Store) write(saved Saved, data []byte) error {
	t, err := s.resolve(saved.Path)
	if err != nil {
		return err
	}
	defer t.Close()
	if t.Exists && holds(t, saved.SHA256) {
		return nil
	}
	err = t.WriteFile(data, fsroot.WriteOptions{MakeParents: true, Perm: 0o600})
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; make %s writable", err, filepath.Dir(saved.Path))
	}
	return err
}

// resolve finds the place of an upload, which no link may lead elsewhere.
func (s Store) resolve(path string) (*fsroot.Target, error) {
	dir := filepath.Join(s.Cwd, Dir)
	t, err := s.Roots.Resolve(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s has to be a directory of its own: %w", dir, err)
	case t.Abs == path:
		return t, nil
	}
	_ = t.Close()
	if filepath.Dir(t.Abs) == dir {
		return nil, fmt.Errorf("%s is a link; remove it", path)
	}
	return nil, fmt.Errorf("%s is a link or holds one; make it a directory of its own", dir)
}

// holds reports whether a file has the content its name promises.
func holds(t *fsroot.Target, sum string) bool {
	data, err := t.ReadFile(MaxBytes)
	if err != nil {
		return false
	}
	got := sha256.Sum256(data)
	return hex.EncodeToString(got[:]) == sum
}

// Read returns the content of an upload, if it is still what was kept.
func (s Store) Read(saved Saved) ([]byte, error) {
	t, err := s.resolve(saved.Path)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	data, err := t.ReadFile(MaxBytes)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(data); hex.EncodeToString(got[:]) != saved.SHA256 {
		return nil, fmt.Errorf("%s has been changed since it was kept", saved.Path)
	}
	return data, nil
}

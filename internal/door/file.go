package door

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/grapnel-ai/grapnel/internal/privatefile"
)

const (
	fileVersion = 1
	fileMode    = 0o600
	// longestFile is more than maxTokens tokens take.
	longestFile = 16 << 20
)

// tokenFile is the file of named tokens. It holds no token, only hashes.
type tokenFile struct {
	Version int      `json:"version"`
	Tokens  []record `json:"tokens"`
}

// loadTokens reads the file of named tokens; none where there is no file. One
// that cannot be read or trusted is an error: to go on without it could let a
// revoked token back in, or lose what there is at the next change.
func loadTokens(path string) ([]record, error) {
	data, err := readPrivate(path, longestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		var tokens []record
		if tokens, err = parseTokens(data); err == nil {
			return tokens, nil
		}
	}
	return nil, fmt.Errorf("the tokens in %s cannot be used: %w; put a copy back, or move the file away and create them anew", path, err)
}

func parseTokens(data []byte) ([]record, error) {
	var f tokenFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, errors.New("the file is damaged")
	}
	if f.Version != fileVersion {
		return nil, fmt.Errorf("it has version %d and this grapnel reads version %d", f.Version, fileVersion)
	}
	if len(f.Tokens) > maxTokens {
		return nil, fmt.Errorf("there are more than %d", maxTokens)
	}
	names := make(map[string]bool, len(f.Tokens))
	for _, t := range f.Tokens {
		if !t.valid() || names[t.Name] {
			return nil, fmt.Errorf("the entry %.80q is damaged", t.Name)
		}
		names[t.Name] = true
	}
	return f.Tokens, nil
}

// saveTokens replaces the file in one step.
func saveTokens(path string, tokens []record) error {
	data, err := json.Marshal(tokenFile{fileVersion, tokens}, jsontext.WithIndent("  "))
	if err == nil {
		err = writePrivate(path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the gateway's tokens: %w", err)
	}
	return nil
}

// readPrivate reads a file that only its user may read, and makes it one when it
// is not.
func readPrivate(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, fileMode); err != nil {
			return nil, fmt.Errorf("keep others from reading it: %w", err)
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is longer than %d bytes", limit)
	}
	return data, err
}

// writePrivate replaces a file by one with data that only its user may read.
func writePrivate(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return privatefile.Write(path, data)
}

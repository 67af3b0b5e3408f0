// Package oauth logs in to MCP servers by the user's browser, and keeps the
// tokens encrypted for the sessions that use those servers.
package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"

	"github.com/grapnel-ai/grapnel/internal/privatefile"
	"github.com/grapnel-ai/grapnel/internal/secret"
)

// Store keeps logins, one file each. It is safe for concurrent use, also by
// several processes.
type Store struct {
	Dir     string           // where the files are
	KeyFile string           // what they are encrypted for; made at the first login
	Seen    *secret.Redactor // learns the tokens; nil learns nothing
}

// login is what a login to one server left behind.
type login struct {
	URL          string           `json:"url"` // of the server: tokens are for it alone
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitzero"`
	TokenURL     string           `json:"tokenUrl"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle,omitzero"`
	Scopes       []string         `json:"scopes,omitzero"`
	AccessToken  string           `json:"accessToken"`
	RefreshToken string           `json:"refreshToken,omitzero"`
	TokenType    string           `json:"tokenType,omitzero"`
	Expiry       int64            `json:"expiry,omitzero"` // Unix seconds; 0 is never
}

// errNone is that there is no login to a server.
var errNone = errors.New("there is no login")

func (s Store) file(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(s.Dir, "mcp-"+hex.EncodeToString(sum[:8])+".age")
}

// load reads the login to the server of that name at that address.
func (s Store) load(ctx context.Context, name, url string) (*login, error) {
	sealed, err := os.ReadFile(s.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNone
	}
	if err != nil {
		return nil, fmt.Errorf("read the login to %s: %w", name, err)
	}
	text, err := secret.NewRef(string(sealed)).Resolve(ctx, secret.Source{KeyFile: s.KeyFile})
	if err != nil {
		return nil, fmt.Errorf("read the login to %s: %w", name, err)
	}
	var l login
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return nil, fmt.Errorf("the login to %s cannot be read; log in again with grapnel mcp login", name)
	}
	if l.URL != url {
		return nil, errNone // it was to another server
	}
	s.Seen.Add(l.AccessToken, l.RefreshToken, l.ClientSecret)
	return &l, nil
}

// save writes a login in place of an earlier one.
func (s Store) save(name string, l *login) error {
	s.Seen.Add(l.AccessToken, l.RefreshToken, l.ClientSecret)
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	sealed, _, err := secret.Seal(s.KeyFile, string(text))
	if err != nil {
		return err
	}
	if err := privatefile.Write(s.file(name), []byte(sealed)); err != nil {
		return fmt.Errorf("keep the login to %s: %w", name, err)
	}
	return nil
}

// Forget removes the login to a server and reports whether there was one.
func (s Store) Forget(name string) (bool, error) {
	err := os.Remove(s.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

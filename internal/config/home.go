package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// HomeEnv names the environment variable that moves the home directory.
const HomeEnv = "GRAPNEL_CONFIG_DIR"

// dirMode keeps other users out of everything Grapnel stores.
const dirMode = 0o700

// Home is Grapnel's home directory: an absolute path.
type Home string

// FindHome returns the home directory: flag when it is set, else
// GRAPNEL_CONFIG_DIR, else .grapnel in the user's home. It creates nothing.
func FindHome(flag string, getenv func(string) string) (Home, error) {
	dir := flag
	if dir == "" {
		dir = getenv(HomeEnv)
	}
	user := userHome(getenv)
	switch {
	case dir == "" && user == "":
		return "", fmt.Errorf("the home directory is unknown; set HOME, %s or --config-dir", HomeEnv)
	case dir == "":
		dir = filepath.Join(user, ".grapnel")
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(user, dir[1:])
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve the configuration directory %s: %w", dir, err)
	}
	return Home(abs), nil
}

func userHome(getenv func(string) string) string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := getenv(name); dir != "" {
			return dir
		}
	}
	return ""
}

// Create makes the home directory, readable by its user only, if it is absent.
func (h Home) Create() error {
	if err := os.MkdirAll(string(h), dirMode); err != nil {
		return fmt.Errorf("create the configuration directory (choose another with --config-dir): %w", err)
	}
	info, err := os.Stat(string(h))
	if err != nil {
		return fmt.Errorf("look at the configuration directory: %w", err)
	}
	if !info.IsDir() {
		return errors.New(string(h) + " is a file; the configuration directory must be a directory")
	}
	return nil
}

// File returns the path of config.toml.
func (h Home) File() string { return filepath.Join(string(h), "config.toml") }

// Run returns the directory of lock files and sockets of running instances.
func (h Home) Run() string { return filepath.Join(string(h), "run") }

// Temp is where sessions keep the temporary files of their commands, below the
// id of the process they run in.
func (h Home) Temp() string { return filepath.Join(string(h), "tmp") }

// Cache is where commands of an agent keep what they have built and downloaded.
func (h Home) Cache(alias string) string { return filepath.Join(string(h), "cache", alias) }

// Keys returns the directory of keys that were typed into grapnel setup, and of
// the identity of age: references.
func (h Home) Keys() string { return filepath.Join(string(h), "keys") }

// KeyFile returns the path of the identity that age: references are encrypted
// for. Its name is none that setup gives to a key that was typed.
func (h Home) KeyFile() string { return filepath.Join(h.Keys(), "identity.txt") }

// Skills returns the directory of skills shared by all agents.
func (h Home) Skills() string { return filepath.Join(string(h), "skills") }

// DataPath returns the data directory as an absolute path.
func (c *Config) DataPath() string { return c.home.abs(c.DataDir) }

// StorePath returns the path of the session database.
func (c *Config) StorePath() string { return filepath.Join(c.DataPath(), "sessions.db") }

// PricesPath returns the file in which the user says what models cost. It need
// not exist.
func (c *Config) PricesPath() string { return filepath.Join(c.DataPath(), "prices.toml") }

// TLSFiles returns the paths of the gateway's certificate and key, "" where none
// is set.
func (c *Config) TLSFiles() (cert, key string) {
	if f := c.Gateway.TLS.CertFile; f != "" {
		cert = c.home.abs(f)
	}
	if f := c.Gateway.TLS.KeyFile; f != "" {
		key = c.home.abs(f)
	}
	return cert, key
}

// WorkspacePath returns the agent's own directory as an absolute path. An alias
// without a section gets the default place.
func (c *Config) WorkspacePath(alias string) string {
	if dir := c.Agents[alias].Workspace; dir != "" {
		return c.home.abs(dir)
	}
	return filepath.Join(string(c.home), "agents", alias, "workspace")
}

// abs resolves a path written in the configuration: ~ is the user's home, and
// a relative path starts at the configuration directory.
func (h Home) abs(path string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if user, err := os.UserHomeDir(); err == nil {
			return filepath.Join(user, path[1:])
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(string(h), path)
}

package gateway

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// TLSSettings say where the certificate comes from: files, or an authority that
// speaks ACME.
type TLSSettings struct {
	CertFile, KeyFile string // PEM
	Domains           []string
	Email             string // where the authority may write to; may be empty
	Directory         string // URL of the authority; empty means Let's Encrypt
	Cache             string // directory for certificates from it
}

// Set reports whether the settings ask for TLS at all.
func (s TLSSettings) Set() bool { return s.CertFile != "" || s.KeyFile != "" || len(s.Domains) > 0 }

// Certificates are those a server shows. Files that change are read again; while
// they cannot be used, what they held before stays in force. It is safe for
// concurrent use.
type Certificates struct {
	settings TLSSettings
	log      *slog.Logger
	manager  *autocert.Manager // nil when they come from files

	mu      sync.Mutex
	current *tls.Certificate
	seen    [2]fileState // of what was read or tried last
	looked  time.Time
}

// fileState tells one state of a file from another.
type fileState struct {
	size int64
	time time.Time
}

// lookEvery is how often files are looked at, at most.
const lookEvery = time.Second

// NewCertificates returns the certificates of s, which is set. Files have to be
// readable and belong together.
func NewCertificates(s TLSSettings, log *slog.Logger) (*Certificates, error) {
	c := &Certificates{settings: s, log: log}
	switch {
	case len(s.Domains) > 0 && (s.CertFile != "" || s.KeyFile != ""):
		return nil, errors.New("gateway.tls has both files and acme_domains: choose one")
	case len(s.Domains) > 0:
		c.manager = &autocert.Manager{
			Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(s.Cache),
			HostPolicy: autocert.HostWhitelist(s.Domains...), Email: s.Email,
			Client: &acme.Client{DirectoryURL: s.directory(), UserAgent: "grapnel"},
		}
		return c, nil
	case s.CertFile == "" || s.KeyFile == "":
		return nil, errors.New("gateway.tls needs both cert_file and key_file")
	}
	c.seen = c.states()
	cert, err := c.load()
	if err != nil {
		return nil, err
	}
	c.current = cert
	return c, nil
}

func (s TLSSettings) directory() string {
	if s.Directory == "" {
		return autocert.DefaultACMEDirectory
	}
	return s.Directory
}

func (c *Certificates) load() (*tls.Certificate, error) {
	cert, err := tls.LoadX509KeyPair(c.settings.CertFile, c.settings.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("the certificate of gateway.tls cannot be used: %w", err)
	}
	return &cert, nil
}

// config is what a server needs. It is at least TLS 1.2, with Go's choice of
// ciphers.
func (c *Certificates) config() *tls.Config {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"h2", "http/1.1"}}
	if c.manager != nil {
		conf.GetCertificate = c.manager.GetCertificate
		conf.NextProtos = append(conf.NextProtos, acme.ALPNProto)
	}
	return conf
}

func (c *Certificates) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookEvery {
		c.refresh()
	}
	return c.current, nil
}

// Reload reads the files again if they have changed. Why they cannot be used is
// logged, once for each state of them.
func (c *Certificates) Reload() {
	if c == nil || c.manager != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refresh()
}

// refresh is Reload; c.mu is held.
func (c *Certificates) refresh() {
	c.looked = time.Now()
	now := c.states()
	if now == c.seen {
		return
	}
	c.seen = now
	cert, err := c.load()
	if err != nil {
		c.log.Error("the files of the certificate have changed and cannot be used; the one before stays in force", "err", err)
		return
	}
	c.current = cert
	c.log.Info("the certificate was read again")
}

func (c *Certificates) states() (s [2]fileState) {
	for i, name := range []string{c.settings.CertFile, c.settings.KeyFile} {
		if info, err := os.Stat(name); err == nil {
			s[i] = fileState{info.Size(), info.ModTime()}
		}
	}
	return s
}

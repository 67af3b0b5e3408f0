package gateway

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// files are a certificate on disk.
type files struct {
	t         *testing.T
	cert, key string
	pool      *x509.CertPool
}

func newFiles(t *testing.T, name string) *files {
	dir := t.TempDir()
	f := &files{t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()}
	f.write(name)
	return f
}

// write makes a new certificate for 127.0.0.1 with a name.
func (f *files) write(name string) {
	f.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames:    []string{"a.example.com"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		f.t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	f.put(f.cert, certPEM)
	f.put(f.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	f.pool.AppendCertsFromPEM(certPEM)
}

func (f *files) put(path string, text []byte) {
	f.t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *files) settings() TLSSettings { return TLSSettings{CertFile: f.cert, KeyFile: f.key} }

// shown is the name in the certificate that a server shows.
func (f *files) shown(addr string) string {
	f.t.Helper()
	c, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: f.pool})
	if err != nil {
		f.t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestChangedCertificateIsShown(t *testing.T) {
	f := newFiles(t, "one")
	var log bytes.Buffer
	c, err := NewCertificates(f.settings(), slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	g := start(t, func(o *Options) { o.TLS = c })
	if got := f.shown(g.addr); got != "one" {
		t.Errorf("at first %s", got)
	}
	f.write("two")
	c.Reload()
	if got := f.shown(g.addr); got != "two" {
		t.Errorf("after the change %s", got)
	}
	f.put(f.key, []byte("broken"))
	c.Reload()
	c.Reload()
	if got := f.shown(g.addr); got != "two" {
		t.Errorf("with broken files %s", got)
	}
	if n := strings.Count(log.String(), "cannot be used; the one before stays in force"); n != 1 {
		t.Errorf("reported %d times:\n%s", n, log.String())
	}
	f.write("three")
	c.mu.Lock()
	c.looked = time.Time{} // as if a while had passed
	c.mu.Unlock()
	if got := f.shown(g.addr); got != "three" {
		t.Errorf("repaired, without being asked to look: %s", got)
	}
}

func TestCertificateSettingsThatCannotWork(t *testing.T) {
	f, other := newFiles(t, "one"), newFiles(t, "two")
	for want, s := range map[string]TLSSettings{
		"needs both cert_file and key_file":       {CertFile: f.cert},
		"cannot be used":                          {CertFile: f.cert, KeyFile: other.key},
		"no such file":                            {CertFile: f.cert, KeyFile: f.key + "x"},
		"both files and acme_domains: choose one": {CertFile: f.cert, KeyFile: f.key, Domains: []string{"a"}},
	} {
		if _, err := NewCertificates(s, slog.New(slog.NewTextHandler(io.Discard, nil))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

// TestACMECertificates: what the cache has is shown, what it has not is asked of
// the authority that is set, and names that are not set are not asked for.
func TestACMECertificates(t *testing.T) {
	asked := make(chan string, 10)
	authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		http.Error(w, "not today", http.StatusNotFound)
	}))
	defer authority.Close()
	f := newFiles(t, "cached")
	cache := t.TempDir()
	key, err := os.ReadFile(f.key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		t.Fatal(err)
	}
	f.put(filepath.Join(cache, "a.example.com"), append(key, cert...))
	c, err := NewCertificates(TLSSettings{
		Domains: []string{"a.example.com", "b.example.com"}, Directory: authority.URL + "/directory", Cache: cache,
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	conf := c.config()
	if !slices.Contains(conf.NextProtos, "acme-tls/1") {
		t.Errorf("challenges cannot be answered: %v", conf.NextProtos)
	}
	hello := func(name string) *tls.ClientHelloInfo {
		return &tls.ClientHelloInfo{
			ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
			SupportedCurves: []tls.CurveID{tls.CurveP256}, SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		}
	}
	got, err := conf.GetCertificate(hello("a.example.com"))
	if err != nil || got.Leaf.Subject.CommonName != "cached" {
		t.Errorf("from the cache: %v %v", got, err)
	}
	if _, err := conf.GetCertificate(hello("c.example.com")); err == nil {
		t.Error("a name that is not set got a certificate")
	}
	if len(asked) > 0 {
		t.Errorf("the authority was asked for %s", <-asked)
	}
	if _, err := conf.GetCertificate(hello("b.example.com")); err == nil {
		t.Error("a certificate came from nowhere")
	}
	if path := <-asked; path != "/directory" {
		t.Errorf("asked for %s", path)
	}
	c.Reload() // there are no files
}

package testbed

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Token is the static credential of a Bed's gateway.
const Token = "interop-token-0123456789abcdef"

// ready is how long a gateway may take to start on a slow machine.
const ready = 30 * time.Second

// Gateway is a running gateway.
type Gateway struct {
	URL         string `json:"url"` // http or https
	ACP         string `json:"acp"` // ws or wss
	Certificate string `json:"-"`   // file of the certificate it shows; empty without TLS
}

// GatewayOptions say how a gateway is run.
type GatewayOptions struct {
	TLS     bool
	Origins []string // that pages may come from
}

// Gateway runs grapnel gateway on a port of its own. It ends with the test,
// which fails if it does not end well.
func (b *Bed) Gateway(tb testing.TB, o GatewayOptions) *Gateway {
	tb.Helper()
	g := &Gateway{}
	env := append(slices.Clone(b.Env), "GRAPNEL_acp__max_sessions=100", "GRAPNEL_gateway__port=0", "GRAPNEL_gateway__auth__token="+Token)
	if o.Origins != nil {
		env = append(env, "GRAPNEL_gateway__allowed_origins="+strings.Join(o.Origins, ","))
	}
	if o.TLS {
		cert, key := certificate(tb)
		g.Certificate = cert
		env = append(env, "GRAPNEL_gateway__tls__cert_file="+cert, "GRAPNEL_gateway__tls__key_file="+key)
	}
	cmd := exec.Command(b.Command[0], append(b.Command[1:], "gateway", "--json")...)
	cmd.Env, cmd.Dir = env, b.Work
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	r := bufio.NewReader(out)
	tb.Cleanup(func() { stop(tb, cmd, r, &stderr) })
	kill := time.AfterFunc(ready, func() { _ = cmd.Process.Kill() })
	line, err := r.ReadBytes('\n')
	kill.Stop()
	if err == nil {
		err = json.Unmarshal(line, g)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		tb.Fatalf("the gateway is not ready: %v in %q\n%s", err, line, &stderr)
	}
	return g
}

// stop has a gateway drain.
func stop(tb testing.TB, cmd *exec.Cmd, out io.Reader, stderr *strings.Builder) {
	if cmd.ProcessState != nil {
		return
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(ready, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); err != nil {
		tb.Errorf("the gateway ended with %v; stderr: %s", err, stderr)
	}
}

// certificate writes a certificate for 127.0.0.1 and its key to files.
func certificate(tb testing.TB) (cert, key string) {
	tb.Helper()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	pair := server.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		tb.Fatal(err)
	}
	dir := tb.TempDir()
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			tb.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", secret)
}

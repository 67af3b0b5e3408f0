package ws

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// HandshakeError reports an HTTP answer that is no WebSocket.
type HandshakeError struct {
	URL    string // without credentials and query
	Status int
	Header http.Header
	// Body is the beginning of what the server said, up to 1 KiB. It is not
	// part of Error.
	Body string
	Err  error // what the WebSocket library says about it
}

// Error says what the status means for who connects.
func (e *HandshakeError) Error() string {
	return fmt.Sprintf("cannot connect to %s: %s (HTTP %d)", e.URL, e.meaning(), e.Status)
}

func (e *HandshakeError) meaning() string {
	switch {
	case e.Status == http.StatusUnauthorized:
		return "the credentials are missing or wrong"
	case e.Status == http.StatusForbidden:
		return "the server does not allow it"
	case e.Status == http.StatusNotFound:
		return "there is nothing at this path"
	case e.Status == http.StatusProxyAuthRequired:
		return "the proxy wants credentials"
	case e.Status == http.StatusTooManyRequests:
		return "too many attempts, try again later"
	case e.Status == http.StatusSwitchingProtocols:
		return "the server's handshake is not a WebSocket's"
	case e.Status >= 500:
		return "the server or a proxy before it is not ready"
	default:
		return "it is not a WebSocket server"
	}
}

// Unwrap returns the cause.
func (e *HandshakeError) Unwrap() error { return e.Err }

// dialError turns a failed dial into one sentence.
func dialError(target string, resp *http.Response, err error) error {
	where := redacted(target)
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err // its text has the whole URL
	} else if resp != nil {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return &HandshakeError{URL: where, Status: resp.StatusCode, Header: resp.Header, Body: string(body), Err: err}
	}
	return fmt.Errorf("cannot connect to %s: %w", where, explained{explain(err), err})
}

// explained is an error told in other words.
type explained struct {
	text string
	err  error
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.err }

// explain says in people's words what went wrong before there was an answer.
func explain(err error) string {
	var (
		dns     *net.DNSError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return "it did not answer in time"
	case errors.As(err, &dns):
		return fmt.Sprintf("there is no host %q", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused, nothing listens there"
	case errors.As(err, &unknown):
		return "its certificate is signed by an unknown authority"
	case errors.As(err, &host):
		return "its certificate is for another host"
	case errors.As(err, &cert):
		return fmt.Sprintf("its certificate is not valid: %v", cert.Err)
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS, use ws:// if that is right"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return "it closed the connection without an answer"
	case strings.Contains(err.Error(), "malformed HTTP response"):
		return "it does not speak HTTP"
	default:
		return err.Error()
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// isAddress reports whether target is a URL that can be dialled.
func isAddress(target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return false
	}
	switch u.Scheme {
	case "ws", "wss", "http", "https":
		return true
	}
	return false
}

// redacted is a URL without what may be secret in it.
func redacted(target string) string {
	u, err := url.Parse(target)
	if err != nil {
		return "the given address"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

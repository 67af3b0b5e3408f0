package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// maxURL bounds an address, in bytes.
const maxURL = 4000

// Parse reads the address of a page: http or https, with a host, without
// credentials. The fragment is dropped. Errors are for the model.
func Parse(s string) (*url.URL, error) {
	if len(s) > maxURL {
		return nil, fmt.Errorf("the address has %d bytes; at most %d are taken", len(s), maxURL)
	}
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, fmt.Errorf("%q is not a web address: %w", s, errors.Unwrap(err))
	}
	if err := check(u); err != nil {
		return nil, err
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	return u, nil
}

func check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q is not fetched: only http and https addresses are", u.Redacted())
	case u.Hostname() == "":
		return fmt.Errorf("%q names no host", u.Redacted())
	case u.User != nil:
		return fmt.Errorf("%q holds credentials, which are not sent; leave them out", u.Redacted())
	case strings.ContainsFunc(u.Host, notHost):
		return fmt.Errorf("%q has characters in its host that are not ASCII letters and digits; write it in its xn-- form", u.Redacted())
	}
	return nil
}

// hostChars are what hosts and ports are made of: others can look like these.
const hostChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._:[]"

func notHost(r rune) bool { return !strings.ContainsRune(hostChars, r) }

// Host names the host of an address, with its port unless that is the usual
// one of the scheme.
func Host(u *url.URL) string {
	host, port := strings.ToLower(u.Host), u.Port()
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" || port == "" {
		return strings.TrimSuffix(strings.TrimSuffix(host, port), ":")
	}
	return host
}

// MovedError says that a page is on another host now.
type MovedError struct{ From, To string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("%s redirects to another host: fetch %s if it is wanted", e.From, e.To)
}

// checkRedirect follows few redirects, and only within one host, never from
// https back to http.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	if err := check(req.URL); err != nil {
		return fmt.Errorf("it redirects to a place that is not fetched: %w", err)
	}
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("it redirects more than %d times", maxRedirects)
	case from.Scheme == "https" && req.URL.Scheme == "http":
		return errors.New("it redirects from https to http")
	case !sameHost(from, req.URL):
		return &MovedError{From: from.String(), To: req.URL.String()}
	}
	return nil
}

// sameHost compares host and port; http and https are one host where both are
// on their usual ports.
func sameHost(a, b *url.URL) bool { return Host(a) == Host(b) }

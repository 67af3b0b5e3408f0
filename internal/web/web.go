// Package web fetches public web pages as text for a model. It reaches nothing
// but the public internet: every address is checked when a connection is made
// to it, after the name was resolved, so that neither a name that resolves to a
// private address nor a redirect nor a name that changes in between leads to
// this machine, its network or a cloud's metadata.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

const (
	// maxRedirects is how many redirects one fetch follows.
	maxRedirects = 5
	// maxHeader bounds the header of a response, in bytes.
	maxHeader = 64 << 10
	// userAgent is how we say who asks.
	userAgent = "Mozilla/5.0 (compatible; Grapnel web_fetch)"
	// accept names what can be read.
	accept = "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, text/*;q=0.5"
)

// Options configure a Fetcher. Zero values mean the defaults.
type Options struct {
	Timeout  time.Duration // for a whole fetch, redirects included; 30 s
	MaxBytes int64         // of a page that are read, decompressed; 5 MiB
	// Resolver looks names up; nil is the system's.
	Resolver *net.Resolver
	// Allow permits an address that is not public. It is for tests, whose
	// servers are on this machine.
	Allow func(netip.AddrPort) bool
}

// Fetcher fetches pages. It is safe for concurrent use and keeps no connections
// and no cookies.
type Fetcher struct {
	client  *http.Client
	timeout time.Duration
	max     int64
}

// New returns a Fetcher. It uses no proxy, whatever the environment says: a
// proxy would connect to addresses nobody has checked.
func New(o Options) *Fetcher {
	guard := &guard{allow: o.Allow}
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: o.Resolver, ControlContext: guard.control}
	return &Fetcher{
		timeout: cmp.Or(o.Timeout, 30*time.Second),
		max:     cmp.Or(o.MaxBytes, 5<<20),
		client: &http.Client{
			CheckRedirect: checkRedirect,
			Transport: &http.Transport{
				DialContext:            dialer.DialContext,
				DisableKeepAlives:      true, // each request is a connection of its own, and is checked
				ForceAttemptHTTP2:      true,
				MaxResponseHeaderBytes: maxHeader,
				ResponseHeaderTimeout:  20 * time.Second,
				TLSHandshakeTimeout:    10 * time.Second,
			},
		},
	}
}

// Page is what was fetched.
type Page struct {
	URL   string // where it came from in the end
	Type  string // its media type
	Title string // of an HTML page, may be empty
	Text  string // its text; Markdown for HTML
	Cut   bool   // it was longer than what is read
}

// Get fetches a page. Errors are one sentence for the model. A redirect to
// another host is not followed, so that leave for one host is not leave for
// another: the error is a *MovedError.
func (f *Fetcher) Get(ctx context.Context, u *url.URL) (*Page, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be asked for: %w", u, err)
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", accept)
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, f.explain(ctx, u, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered with HTTP %s", resp.Request.URL, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, f.max+1))
	if err != nil {
		return nil, f.explain(ctx, u, err)
	}
	page := &Page{URL: resp.Request.URL.String()}
	if int64(len(data)) > f.max {
		data, page.Cut = data[:f.max], true
	}
	return page, page.read(resp.Header.Get("Content-Type"), data, resp.Request.URL)
}

// explain turns an error of the client into one sentence.
func (f *Fetcher) explain(ctx context.Context, u *url.URL, err error) error {
	if moved, ok := errors.AsType[*MovedError](err); ok {
		return moved
	}
	if private, ok := errors.AsType[*AddressError](err); ok {
		return fmt.Errorf("%s is not fetched: %w", u, private)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s did not answer within %s", u, f.timeout)
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // its text repeats method and address
	}
	return fmt.Errorf("%s cannot be fetched: %w", u, err)
}

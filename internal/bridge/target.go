package bridge

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/grapnel-ai/grapnel/acp/ws"
)

// endpoint is where a gateway speaks ACP when its URL names no path.
const endpoint = "/acp"

// ParseURL reads the address of a gateway: ws, wss, http or https, with the path
// of its endpoint or none. The result is ws or wss; agent, if not empty, becomes
// the default of sessions that name none. The error is one sentence and shows no
// credentials.
func ParseURL(text, agent string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" {
		return nil, errors.New("the gateway's URL cannot be read: write it like wss://gateway.example:42617")
	}
	switch u.Scheme {
	case "ws", "http":
		u.Scheme = "ws"
	case "wss", "https":
		u.Scheme = "wss"
	default:
		return nil, errors.New("the gateway's URL must begin with wss://, ws://, https:// or http://, such as wss://gateway.example:42617")
	}
	switch {
	case u.Hostname() == "":
		return nil, errors.New("the gateway's URL names no host: write it like wss://gateway.example:42617")
	case u.User != nil:
		return nil, errors.New("the gateway's URL must not hold a password: use --token-file or --password-file")
	case u.Query().Has("token"):
		return nil, errors.New("the gateway's URL must not hold a token, which logs would show: use --token-file")
	case u.Fragment != "":
		return nil, errors.New("the gateway's URL must have no part after #")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = endpoint
	}
	if agent != "" {
		q := u.Query()
		q.Set("agent", agent)
		u.RawQuery = q.Encode()
	}
	return u, nil
}

// IsFar reports whether a gateway is on another host: not on a loopback address.
func IsFar(u *url.URL) bool {
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if name == "localhost" {
		return false
	}
	ip := net.ParseIP(name)
	return ip == nil || !ip.IsLoopback()
}

// Bearer and Basic are the headers of the two kinds of credential.
func Bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// Basic is the header of a password; the gateway takes any user name.
func Basic(password string) http.Header {
	r := http.Request{Header: make(http.Header)}
	r.SetBasicAuth("grapnel", password)
	return r.Header
}

// classify tells failures that last from those that pass.
func classify(err error) error {
	answer := (*ws.HandshakeError)(nil)
	if !errors.As(err, &answer) {
		if strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "TLS") {
			return &RefusedError{err}
		}
		return fmt.Errorf("%w: see that the gateway runs, and that the address is right", err)
	}
	switch {
	case answer.Status == http.StatusUnauthorized:
		return &RefusedError{fmt.Errorf("%w: give a token of that gateway with --token-file, or pair with --pair-code", err)}
	case answer.Status == http.StatusTooManyRequests, answer.Status >= 500, answer.Status == http.StatusRequestTimeout:
		return err
	case answer.Status == http.StatusForbidden:
		return &RefusedError{fmt.Errorf("%w: look whether gateway.allowed_hosts there has this name", err)}
	}
	return &RefusedError{fmt.Errorf("%w: the URL must be that of a grapnel gateway", err)}
}

// tilde writes a path below the home directory as people do.
func tilde(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" || home == "" {
		return path
	}
	if path == home {
		return "~"
	}
	if rest, ok := strings.CutPrefix(path, home+string(os.PathSeparator)); ok {
		return "~/" + rest
	}
	return path
}

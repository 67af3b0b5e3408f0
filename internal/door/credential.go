package door

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// kind says what a credential is: each is only good for its own way in.
type kind int

const (
	bearer kind = iota
	password
)

// credential is what a request shows.
type credential struct {
	kind kind
	text string
}

// longestCredential is more than anybody uses; a longer one is wrong.
const longestCredential = 4 << 10

// bearerProtocol begins the subprotocol by which browsers pass a token: they
// cannot set headers on a WebSocket.
const bearerProtocol = "bearer."

// readCredential returns the credential of a request: Authorization: Bearer,
// the subprotocol bearer.<token>, ?token=, Authorization: Basic (its password,
// of any user), the first of these that is there, even when it is wrong or
// empty. More than one Authorization header is a wrong one.
func readCredential(r *http.Request) (credential, bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) > 1 {
		return credential{}, true
	}
	scheme, value := "", ""
	if len(headers) == 1 {
		scheme, value, _ = strings.Cut(headers[0], " ")
	}
	if strings.EqualFold(scheme, "Bearer") {
		return credential{bearer, value}, true
	}
	if token, ok := bearerOffered(r.Header.Values("Sec-WebSocket-Protocol")); ok {
		return credential{bearer, token}, true
	}
	if token, ok := queryToken(r.URL.RawQuery); ok {
		return credential{bearer, token}, true
	}
	if strings.EqualFold(scheme, "Basic") {
		return credential{password, basicPassword(value)}, true
	}
	return credential{}, false
}

// bearerOffered finds the token among the subprotocols a client offers.
func bearerOffered(headers []string) (string, bool) {
	for _, h := range headers {
		for p := range strings.SplitSeq(h, ",") {
			if token, ok := strings.CutPrefix(strings.Trim(p, " \t"), bearerProtocol); ok {
				return token, true
			}
		}
	}
	return "", false
}

// queryToken finds token= in a query. What else is in it may be malformed.
func queryToken(query string) (string, bool) {
	for pair := range strings.SplitSeq(query, "&") {
		value, ok := strings.CutPrefix(pair, "token=")
		if !ok {
			continue
		}
		token, err := url.QueryUnescape(value)
		if err != nil {
			return "", true
		}
		return token, true
	}
	return "", false
}

// basicPassword is the password of Basic credentials (RFC 7617), "" when they
// are malformed.
func basicPassword(value string) string {
	text, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return ""
	}
	_, pass, _ := strings.Cut(string(text), ":")
	return pass
}

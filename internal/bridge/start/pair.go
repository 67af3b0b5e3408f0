package start

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/grapnel-ai/grapnel/internal/privatefile"
)

// kept is a token that a pairing got, in a file of its own per gateway.
type kept struct {
	Token string `json:"token"`
	// Code is the hash of the code it was got for: the same code again means the
	// same token, another one a new pairing.
	Code string `json:"code"`
}

// paired is the credential got by pairing with this very gateway, now or before.
func (f *finder) paired(ctx context.Context, u *url.URL) (http.Header, error) {
	name, err := f.keptFile(u)
	if err != nil {
		return nil, err
	}
	var k kept
	if _, statErr := os.Lstat(name); statErr == nil {
		text, err := ReadSecret("the token kept from pairing", name, true)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			return nil, fmt.Errorf("the token kept from pairing in %s is damaged: remove the file and pair again", name)
		}
	}
	code := strings.TrimSpace(f.flags.PairCode)
	if code != "" && k.Code != hashed(code) {
		token, err := pair(ctx, u, code)
		if err != nil {
			return nil, err
		}
		k = kept{token, hashed(code)}
		if err := writeKept(name, k); err != nil {
			return nil, fmt.Errorf("keep the token of the pairing: %w", err)
		}
	}
	if k.Token == "" {
		return nil, nil
	}
	return f.bearer(k.Token), nil
}

func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// keptFile is where the token for a gateway is kept.
func (f *finder) keptFile(u *url.URL) (string, error) {
	c, err := f.config()
	if err != nil {
		return "", err
	}
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return filepath.Join(c.DataPath(), "bridge-tokens", hashed(at.String())[:32]+".json"), nil
}

func writeKept(name string, k kept) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return privatefile.Write(name, append(data, '\n'))
}

// longestAnswer bounds the answer to a pairing.
const longestAnswer = 16 << 10

// pair trades a one-time code for a token.
func pair(ctx context.Context, u *url.URL, code string) (string, error) {
	at := *u
	at.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	at.Path, at.RawQuery = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/"), "/acp")+"/pair", ""
	host, _ := os.Hostname() // without, there is a name all the same
	body, err := json.Marshal(struct {
		Name string `json:"name"`
	}{tokenName(host)})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), strings.NewReader(string(body)))
	if err != nil {
		return "", err
	}
	r.Header.Set("X-Pairing-Code", code)
	r.Header.Set("Content-Type", "application/json")
	// A redirect is not followed: the code is for this gateway alone.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		cause := (*url.Error)(nil)
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return "", fmt.Errorf("cannot pair with %s: %w", at.Host, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	if err != nil {
		return "", fmt.Errorf("cannot pair with %s: %w", at.Host, err)
	}
	var answer struct {
		Token string `json:"token"`
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(data, &answer) != nil || answer.Token == "" {
		return "", fmt.Errorf("cannot pair with %s: %s: get a new code there with grapnel gateway pair", at.Host, pairFault(resp.StatusCode))
	}
	return answer.Token, nil
}

// longestName leaves room for what the gateway adds to a name that is taken.
const longestName = 60

// tokenName makes a name for the token of what a host is called: the gateway takes
// letters, digits, - and _ in it.
func tokenName(host string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
			return c
		}
		return '-'
	}, host)
	if name = strings.Trim(name[:min(len(name), longestName)], "-_"); name == "" {
		return "bridge-client"
	}
	return name
}

func pairFault(status int) string {
	switch status {
	case http.StatusTooManyRequests:
		return "too many wrong codes were tried, wait five minutes"
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusGone:
		return "the code is wrong or used up"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "it is not a grapnel gateway"
	}
	return fmt.Sprintf("it answered HTTP %d", status)
}

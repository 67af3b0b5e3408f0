package door

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// FuzzAdmit sends a request made of outside bytes to a door: only the very token
// gets in, by none but the documented ways, and what is refused is refused as one
// of the answers there are.
func FuzzAdmit(f *testing.F) {
	const token = "gp_0123456789abcdef"
	f.Add("gw.example", "", "Bearer "+token, "", "", "")
	f.Add("gw.example:80", "http://gw.example", "", "zeroclaw.acp.v1, bearer."+token, "", "127.0.0.1")
	f.Add("localhost", "null", "Basic Og==", "bearer.", "agent=a&token="+token, "::1, 10.0.0.1")
	f.Add("[::1]:1", "http://a@b", "bearer  "+token, ",,bearer.x", "token=%67p_", "x")
	d, err := Open(Options{Path: filepath.Join(f.TempDir(), "tokens.json"), Settings: Settings{Token: token}})
	if err != nil {
		f.Fatal(err)
	}
	s := Settings{Token: token}
	if err := s.Lists([]string{"gw.example"}, nil, []string{"192.0.2.0/24"}); err != nil {
		f.Fatal(err)
	}
	d.Configure(s)
	f.Fuzz(func(t *testing.T, host, origin, authorization, protocols, query, forwarded string) {
		r := &http.Request{Method: "GET", Host: host, URL: &url.URL{Path: "/acp", RawQuery: query}, Header: http.Header{}, RemoteAddr: "192.0.2.1:1"}
		for name, value := range map[string]string{
			"Origin": origin, "Authorization": authorization, "Sec-Websocket-Protocol": protocols, "X-Forwarded-For": forwarded, "X-Forwarded-Host": forwarded,
		} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		p, err := d.Admit(r)
		if err == nil {
			decoded, _ := url.QueryUnescape(query)
			if p.Owner != LocalOwner || !strings.Contains(authorization+" "+protocols+" "+query+" "+decoded, token) {
				t.Errorf("%+v is let in", r)
			}
			return
		}
		refusal, ok := err.(*Refusal)
		if !ok || refusal.Status != 401 && refusal.Status != 403 && refusal.Status != 429 {
			t.Errorf("refused with %v", err)
		}
	})
}

// FuzzCredential holds that what is read is a part of what was sent.
func FuzzCredential(f *testing.F) {
	f.Add("Bearer abc", "bearer.abc", "token=a%20b")
	f.Add("Basic dXNlcjpwYXNz", "a, b", "x=y&token=")
	f.Add("", " bearer.", "token")
	f.Fuzz(func(t *testing.T, authorization, protocols, query string) {
		r := &http.Request{URL: &url.URL{RawQuery: query}, Header: http.Header{}}
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		if protocols != "" {
			r.Header.Set("Sec-WebSocket-Protocol", protocols)
		}
		c, ok := readCredential(r)
		if !ok && c != (credential{}) {
			t.Errorf("no credential, and yet %+v", c)
		}
		if c.kind == password && !strings.HasPrefix(strings.ToLower(authorization), "basic") {
			t.Errorf("a password out of %q", authorization)
		}
	})
}

// FuzzTokenFile holds that a file is refused, or read to tokens that can be
// written and read again.
func FuzzTokenFile(f *testing.F) {
	f.Add(`{"version":1,"tokens":[{"name":"a","owner":"o","role":"observer","scope":["main"],"created":"2030-01-01T00:00:00Z","hash":"` + strings.Repeat("0", 64) + `"}]}`)
	f.Add(`{"version":1}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := parseTokens([]byte(text))
		if err != nil {
			return
		}
		for _, r := range tokens {
			if e := r.entry(); e.kind != bearer || e.pass.Owner == "" {
				t.Errorf("%q gives %+v", text, e)
			}
		}
		data, err := json.Marshal(tokenFile{fileVersion, tokens})
		if err != nil {
			t.Fatalf("%q cannot be written again: %v", text, err)
		}
		if again, err := parseTokens(data); err != nil || len(again) != len(tokens) {
			t.Errorf("%q reads as %q: %v", text, data, err)
		}
	})
}

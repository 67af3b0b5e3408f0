package secret

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const key = "sk-test-0123/4567+89 abc\"def"

func TestReplace(t *testing.T) {
	pem := "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAo\n-----END PRIVATE KEY-----"
	r := NewRedactor(key, "short", "hunter", "longer-secret-1", "longer-secret-1-and-more", pem, "Bearer abcdefghij", "postgres://user:pa55word@host/db")
	b64 := base64.StdEncoding.EncodeToString
	tests := []struct{ name, text, want string }{
		{"nothing", "a text without any of them", "a text without any of them"},
		{"as it is", "x" + key + "y", "x[redacted]y"},
		{"twice", key + key, "[redacted]"},
		{"short", "short", "short"},
		{"shortest", "a hunter's", "a [redacted]'s"},
		{"the longest", "<longer-secret-1-and-more>", "<[redacted]>"},
		{"the shorter of two", "<longer-secret-1-and>", "<[redacted]-and>"},
		{"in JSON", `{"a":"sk-test-0123/4567+89 abc\"def"}`, `{"a":"[redacted]"}`},
		{"in JSON with escaped slashes", `{"a":"sk-test-0123\/4567+89 abc\"def"}`, `{"a":"[redacted]"}`},
		{"in a query", "?k=" + url.QueryEscape(key) + "&x", "?k=[redacted]&x"},
		{"in a path", "/" + url.PathEscape(key) + "/x", "/[redacted]/x"},
		{"base64", "x " + b64([]byte(key)), "x [redacted]"},
		{"in base64", b64([]byte("a:" + key + ":b")), "YTp[redacted]OmI="},
		{"a key over lines", "1: MIIEvQIBADANBgkqhkiG9w0\r\n2: BAQEFAASCBKcwggSjAgEAAo", "1: [redacted]\r\n2: [redacted]"},
		{"a whole key", pem, "[redacted]"},
		{"of a scheme", "token=abcdefghij", "token=[redacted]"},
		{"a password of a URL", "pa55word", "[redacted]"},
		{"the rest of a URL", "postgres://user", "postgres://user"},
		{"cut at the end", "x sk-test-01", "x [redacted]"},
		{"cut at the end of a line", "x sk-test-01\ny", "x [redacted]\ny"},
		{"cut by an ellipsis", "`x sk-test-01…`", "`x [redacted]…`"},
		{"cut at the start", "67+89 abc\"def x", "[redacted] x"},
		{"cut at the start of a line", "x\n67+89 abc\"def x", "x\n[redacted] x"},
		{"a small piece at a cut", "x sk-test\n", "x sk-test\n"},
		{"a piece and no cut", "the sk-test-01 prefix", "the sk-test-01 prefix"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Replace(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Two secrets that overlap leave nothing of either.
func TestReplaceOverlap(t *testing.T) {
	r := NewRedactor("abcdefgh", "efghijklmn")
	if got := r.Replace("xabcdefghijklmny"); got != "x[redacted]y" {
		t.Errorf("got %q", got)
	}
}

// Wherever a text is cut, no piece of a secret of pieceBytes or more is left.
func TestReplaceAtEveryCut(t *testing.T) {
	secret := "Zq7-longsecretvalue-81"
	r := NewRedactor(secret)
	for at := range len(secret) {
		for _, cut := range []string{"a " + secret[:at], "a " + secret[:at] + "\n[… 5 bytes left out …]\nb", "a\n[… 5 bytes left out …]\n" + secret[at:] + " b"} {
			out := r.Replace(cut)
			for i := 0; i+pieceBytes <= len(secret); i++ {
				if strings.Contains(out, secret[i:i+pieceBytes]) {
					t.Fatalf("%q became %q", cut, out)
				}
			}
		}
	}
}

func TestReplaceJSON(t *testing.T) {
	r := NewRedactor(key, "12345678")
	tests := []struct{ in, want string }{
		{`{"a": [1, "b"]}`, `{"a": [1, "b"]}`},
		{`{"sk-test-0123/4567+89 abc\"def": {"x":["` + `\u0073k-test-0123/4567+89 abc\"def` + `", null, true]}}`, `{"[redacted]":{"x":["[redacted]",null,true]}}`},
		{`{"uri":"file:///a","blob":"YWJjMTIzNDU2Nzg=","x":"12345678"}`, `{"uri":"file:///a","blob":"YWJjMTIzNDU2Nzg=","x":"[redacted]"}`},
		{`[{"data":"YWJjMTIzNDU2Nzg=","annotations":{"type":"x"},"type":"image"},"12345678"]`, `[{"data":"YWJjMTIzNDU2Nzg=","annotations":{"type":"x"},"type":"image"},"[redacted]"]`},
		{`{"blob":"YWJjMTIzNDU2Nzg="}`, `{"blob":"YWJj[redacted]"}`},
		{`{"data":"YWJjMTIzNDU2Nzg=","type":"text"}`, `{"data":"YWJj[redacted]","type":"text"}`},
		{`{"x":{"data":"YWJjMTIzNDU2Nzg="},"type":"image"}`, `{"x":{"data":"YWJj[redacted]"},"type":"image"}`},
		{`{"type":"image","data":"abcd12345678"}`, `{"type":"image","data":"abcd[redacted]"}`},
		{`{"data":"abcd12345678"}`, `{"data":"abcd[redacted]"}`},
		{`{"data":"12345678","blob":"a 12345678"}`, `{"data":"[redacted]","blob":"a [redacted]"}`},
		{`{"n":12345678}`, `{"n":"[redacted]"}`},
		{`not json 12345678`, `not json [redacted]`},
		{``, ``},
	}
	for _, tt := range tests {
		if got := string(r.ReplaceJSON(jsontext.Value(tt.in))); got != tt.want {
			t.Errorf("%s became %s, want %s", tt.in, got, tt.want)
		}
	}
}

func TestNilRedactor(t *testing.T) {
	var r *Redactor
	r.Add("secret-value")
	if got := r.Replace("secret-value"); got != "secret-value" {
		t.Errorf("got %q", got)
	}
	if got := string(r.ReplaceJSON(jsontext.Value(`"secret-value"`))); got != `"secret-value"` {
		t.Errorf("got %q", got)
	}
}

func TestWriterOfALogger(t *testing.T) {
	r := NewRedactor(key)
	var out bytes.Buffer
	w := r.Writer(&out)
	slog.New(slog.NewTextHandler(w, nil)).Warn("refused", "body", "got "+key, "err", fmt.Errorf("key %q", key))
	slog.New(slog.NewJSONHandler(w, nil)).Warn("refused", "body", "got "+key)
	if s := out.String(); strings.Contains(s, "sk-test") || strings.Count(s, Redacted) != 3 {
		t.Errorf("logged %s", s)
	}
}

func TestRedactorConcurrently(t *testing.T) {
	r := NewRedactor()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			v := fmt.Sprintf("secret-number-%d", i)
			r.Add(v)
			if got := r.Replace("a " + v + " b"); got != "a [redacted] b" {
				t.Errorf("got %q", got)
			}
		})
	}
	wg.Wait()
}

func TestLongValue(t *testing.T) {
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "%x", i*7919)
	}
	r := NewRedactor(long.String())
	if got := r.Replace("a " + long.String() + " b"); got != "a [redacted] b" {
		t.Errorf("%d bytes are left of %d", len(got), long.Len())
	}
}

func TestSensitive(t *testing.T) {
	tests := []struct {
		name, value string
		want        bool
	}{
		{"GITHUB_PERSONAL_ACCESS_TOKEN", "SEKRET1", true},
		{"X-Api-Key", "SEKRET2", true},
		{"Authorization", "Bearer abcdef", true},
		{"DB_PASSWORD", "hunter22", true},
		{"SSH_AUTH_SOCK", "/tmp/ssh-x/agent.1", false},
		{"MAX_TOKENS", "4096", false},
		{"NODE_ENV", "production", false},
		{"ROOT", "/home/me/project", false},
		{"TOKEN", "abc", false},
		{"URL", "postgres://user:pa55word@host/db", true},
		{"URL", "https://example.com/a", false},
		{"ANYTHING", "ghp_0123456789abcdefABCD", true},
		{"ANYTHING", "aB3dE6gH9jK2mN5pQ8sT1vW4", true},
		{"ANYTHING", "a-plain-hyphenated-name-of-something", false},
		{"Accept", "application/json, text/event-stream", false},
	}
	for _, tt := range tests {
		if got := Sensitive(tt.name, tt.value); got != tt.want {
			t.Errorf("%s=%s: %v, want %v", tt.name, tt.value, got, tt.want)
		}
	}
}

// Whatever the text, no secret is left in it, and text without one stays.
func FuzzReplace(f *testing.F) {
	f.Add("secret", "a text with a secret in it")
	f.Add("aaaaaaab", "aaaaaaaaaab")
	f.Add("a\nbcdefgh", "a\nbcdefgha\nbcdefgh")
	f.Fuzz(func(t *testing.T, value, text string) {
		r := NewRedactor(value)
		value = strings.TrimSpace(value)
		if len(value) < MinRedacted || len(value) > longestForm || len(partsOf(value)) > 1 || partsOf(value)[0] != value {
			t.Skip()
		}
		out := r.Replace(text + value + text)
		for _, left := range strings.Split(out, Redacted) {
			if strings.Contains(left, value) {
				t.Errorf("%q became %q", text+value+text, out)
			}
		}
		if r := NewRedactor("another-secret-value"); !strings.Contains(text, "another") && !strings.Contains(text, "value") && r.Replace(text) != text {
			t.Errorf("%q became %q", text, r.Replace(text))
		}
	})
}

func BenchmarkReplace(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog; func main() { x := 42 }\n", 1000)
	r := NewRedactor()
	for i := range 10 {
		r.Add(fmt.Sprintf("sk-ant-api03-%d-abcdefghijklmnopqrstuvwxyz0123456789", i))
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if r.Replace(text) != text {
			b.Fatal("changed")
		}
	}
}

// An update of a tool call that has no secret in it, as nearly all have none.
func BenchmarkReplaceJSON(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog; func main() { x := 42 }\n", 240)
	body, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		b.Fatal(err)
	}
	v := jsontext.Value(fmt.Sprintf(`{"sessionId":"s_1","update":{"sessionUpdate":"tool_call_update","content":[{"type":"content","content":{"type":"text","text":%s}}]}}`, body))
	r := NewRedactor("sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789", "ghp_0123456789abcdefABCD")
	b.SetBytes(int64(len(v)))
	for b.Loop() {
		if &r.ReplaceJSON(v)[0] != &v[0] {
			b.Fatal("changed")
		}
	}
}

// What JSON may escape without need hides no secret, nor does text that is
// escaped more than once.
func TestReplaceJSONSeesThroughEscapes(t *testing.T) {
	const slashes, quotes = "???abc???def???", `"a"bcd efg"h"` // both ends of their forms change
	r := NewRedactor(slashes, quotes)
	thrice := quotes
	for range 3 {
		thrice = strconv.Quote(thrice)
		thrice = thrice[1 : len(thrice)-1]
	}
	for _, v := range []string{
		`{"text":"` + strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(slashes)), "/", `\/`) + `"}`,
		`{"text":"` + thrice + `"}`,
	} {
		if got := string(r.ReplaceJSON(jsontext.Value(v))); got != `{"text":"[redacted]"}` {
			t.Errorf("%s became %s", v, got)
		}
	}
}

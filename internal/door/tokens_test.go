package door_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/door"
	"github.com/grapnel-ai/grapnel/internal/session"
)

// events are the lines of the audit log: event, what, by.
func (h *house) events() string {
	h.t.Helper()
	data, err := os.ReadFile(h.audit.Path())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		h.t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		lines = append(lines, strings.Join([]string{field(line, "event"), field(line, "what"), field(line, "by")}, " "))
	}
	return strings.Join(lines, "\n")
}

func field(line, name string) string {
	_, after, _ := strings.Cut(line, `"`+name+`":"`)
	value, _, _ := strings.Cut(after, `"`)
	return value
}

func TestTokens(t *testing.T) {
	h := open(t, nil)
	secrets := []string{
		h.create(door.NewToken{Name: "laptop", Owner: "local", Role: session.Approver}),
		h.create(door.NewToken{Name: "ci", Role: session.Prompter, Scope: []string{"main"}, Expires: h.clock.Now().Add(48 * time.Hour)}),
	}
	now := h.clock.Now()
	h.request("/acp", bearer(secrets[1]))
	want := []door.Token{
		{Name: "ci", Owner: "ci", Role: "prompter", Scope: []string{"main"}, Created: now, Expires: now.Add(48 * time.Hour), Used: now.Truncate(24 * time.Hour)},
		{Name: "laptop", Owner: "local", Role: "approver", Scope: []string{}, Created: now},
	}
	if diff := cmp.Diff(want, h.Tokens()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	h.reopen(door.Settings{})
	if diff := cmp.Diff(want, h.Tokens()); diff != "" {
		t.Errorf("after a new start (-want +got)\n%s", diff)
	}
	h.checkKeptNowhere(secrets)
	wantEvents := "token_created token laptop, owner local, approver command line\n" +
		"token_created token ci, owner ci, prompter, agents main, until 2030-05-03T12:00:00Z command line"
	if diff := cmp.Diff(wantEvents, h.events()); diff != "" {
		t.Errorf("on record (-want +got)\n%s", diff)
	}
}

// checkKeptNowhere looks for secrets in every file, which only the user may
// read, and holds that they are redacted.
func (h *house) checkKeptNowhere(secrets []string) {
	h.t.Helper()
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(h.dir, e.Name()))
		if err != nil {
			h.t.Fatal(err)
		}
		info, _ := e.Info()
		if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			h.t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		for _, s := range secrets {
			if strings.Contains(string(data), s) {
				h.t.Errorf("%s holds the token", e.Name())
			}
		}
	}
	for _, s := range secrets {
		if got := h.redact.Replace("x " + s); strings.Contains(got, s) {
			h.t.Errorf("the redactor does not know the token: %s", got)
		}
	}
}

func TestBadTokens(t *testing.T) {
	h := open(t, nil)
	h.create(door.NewToken{Name: "taken"})
	for _, tt := range []struct {
		n    door.NewToken
		want string
	}{
		{door.NewToken{}, "cannot be a token's name"},
		{door.NewToken{Name: "a b"}, "cannot be a token's name"},
		{door.NewToken{Name: "-a"}, "cannot be a token's name"},
		{door.NewToken{Name: "gateway.auth.token"}, "cannot be a token's name"},
		{door.NewToken{Name: strings.Repeat("a", 65)}, "cannot be a token's name"},
		{door.NewToken{Name: "bridge"}, "is taken"},
		{door.NewToken{Name: "local"}, "--owner local"},
		{door.NewToken{Name: "a", Owner: "../x"}, "cannot be an owner's name"},
		{door.NewToken{Name: "taken"}, "there is a token taken already"},
		{door.NewToken{Name: "a", Role: 7}, "a role is"},
		{door.NewToken{Name: "a", Expires: h.clock.Now()}, "expired already"},
	} {
		if _, _, err := h.Create(t.Context(), tt.n); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v; want …%s…", tt.n, err, tt.want)
		}
	}
	if got := h.events(); strings.Count(got, "\n") != 0 {
		t.Errorf("what was not made is on record:\n%s", got)
	}
}

// TestNameAgain gives the name of an expired token to another one.
func TestNameAgain(t *testing.T) {
	h := open(t, nil)
	old := h.create(door.NewToken{Name: "a", Expires: h.clock.Now().Add(time.Hour)})
	h.clock.Advance(time.Hour)
	fresh := h.create(door.NewToken{Name: "a"})
	if h.request("/", bearer(old)).status != 401 || h.request("/", bearer(fresh)).status != 200 || len(h.Tokens()) != 1 {
		t.Errorf("the tokens are %+v", h.Tokens())
	}
}

func TestRevoke(t *testing.T) {
	h := open(t, nil)
	text := h.create(door.NewToken{Name: "a"})
	if err := h.Revoke(t.Context(), "b"); !errors.Is(err, door.ErrNoToken) {
		t.Errorf("revoking what is not there: %v", err)
	}
	if err := h.Revoke(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	h.reopen(door.Settings{})
	if h.request("/", bearer(text)).status != 401 || len(h.Tokens()) != 0 {
		t.Error("a revoked token is back after a new start")
	}
	if got := h.events(); !strings.Contains(got, "token_revoked token a command line") {
		t.Errorf("not on record:\n%s", got)
	}
}

// TestRevokeOnFullDisk shows that a revoked token is out also when that cannot
// be stored.
func TestRevokeOnFullDisk(t *testing.T) {
	h := open(t, nil)
	text := h.create(door.NewToken{Name: "a"})
	path := filepath.Join(h.dir, "tokens.json")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil { // cannot be replaced by a file
		t.Fatal(err)
	}
	if err := h.Revoke(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "cannot be stored") {
		t.Errorf("Revoke: %v", err)
	}
	if got := h.request("/", bearer(text)); got.status != 401 {
		t.Errorf("it gets %d", got.status)
	}
	if _, _, err := h.Create(t.Context(), door.NewToken{Name: "b"}); err == nil || len(h.Tokens()) != 0 {
		t.Errorf("a token that was not stored is good: %v", err)
	}
}

// TestMostTokens shows that there are only so many, and that expired ones make
// room.
func TestMostTokens(t *testing.T) {
	h := open(t, nil)
	var file strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&file, `%s{"name":"t%d","owner":"o","role":"observer","scope":[],"created":"2030-01-01T00:00:00Z","expires":"2030-05-01T13:00:00Z","hash":"%064x"}`, strings.Repeat(",", min(i, 1)), i, i)
	}
	write(t, h, `{"version":1,"tokens":[`+file.String()+`]}`)
	h.reopen(door.Settings{})
	if _, _, err := h.Create(t.Context(), door.NewToken{Name: "a"}); err == nil || !strings.Contains(err.Error(), "1000 tokens") {
		t.Errorf("one more: %v", err)
	}
	h.clock.Advance(time.Hour)
	h.create(door.NewToken{Name: "a"})
	if got := len(h.Tokens()); got != 1 {
		t.Errorf("%d tokens are left", got)
	}
}

func write(t *testing.T, h *house, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.dir, "tokens.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedFile refuses to go on without the tokens there were.
func TestDamagedFile(t *testing.T) {
	const good = `{"name":"a","owner":"o","role":"observer","scope":[],"created":"2030-01-01T00:00:00Z","hash":"` + zeros + `"}`
	for name, text := range map[string]string{
		"empty":        "",
		"cut":          `{"version":1,"tokens":[{"na`,
		"newer":        `{"version":2,"tokens":[]}`,
		"no name":      `{"version":1,"tokens":[` + strings.Replace(good, `"a"`, `""`, 1) + `]}`,
		"twice":        `{"version":1,"tokens":[` + good + `,` + good + `]}`,
		"short hash":   `{"version":1,"tokens":[` + strings.Replace(good, "00", "", 1) + `]}`,
		"no role":      `{"version":1,"tokens":[` + strings.Replace(good, "observer", "admin", 1) + `]}`,
		"empty scope":  `{"version":1,"tokens":[` + strings.Replace(good, "[]", `[""]`, 1) + `]}`,
		"twice a key":  `{"version":1,"version":1,"tokens":[]}`,
		"not a string": `{"version":1,"tokens":[{"name":7}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tokens.json")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := door.Open(door.Options{Path: path}); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("Open: %v", err)
			}
			if after, _ := os.ReadFile(path); string(after) != text {
				t.Error("the file was changed")
			}
		})
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func TestBridgeToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "bridge-token")
	first, err := door.BridgeToken(path)
	if err != nil || !strings.HasPrefix(first, "gp_") {
		t.Fatal(first, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if again, err := door.BridgeToken(path); again != first || err != nil {
		t.Errorf("a second start has %s, %v", again, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _ = door.BridgeToken(path)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v, %v", info, err)
	}
	for text, ok := range map[string]bool{"": true, " \n": true, "short": false, "two words that are long enough": false, strings.Repeat("x", 5000): false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := door.BridgeToken(path); (err == nil) != ok || ok && !strings.HasPrefix(got, "gp_") {
			t.Errorf("%.20q: %q, %v", text, got, err)
		}
	}
}

// TestRecordFails shows that nothing is given out that cannot be put on record.
func TestRecordFails(t *testing.T) {
	h := open(t, nil)
	code := h.code()
	if err := os.Remove(h.audit.Path()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(h.audit.Path(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Create(context.Background(), door.NewToken{Name: "a"}); err == nil {
		t.Error("a token is made")
	}
	if _, _, err := h.NewCode(context.Background()); err == nil {
		t.Error("a code is made")
	}
	if got := h.pair(code, ""); got.status != 500 || strings.TrimSpace(got.body) != "internal error" {
		t.Errorf("pairing: %d %s", got.status, got.body)
	}
	if len(h.Tokens()) != 0 {
		t.Error("there is a token")
	}
}

package fieldtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHooksAreTheUsersOwn: hooks run in the configuration directory, so that a
// repository cannot take their place, and see no key.
func TestHooksAreTheUsersOwn(t *testing.T) {
	w := NewWorld(t, `[hooks]`, `before_tool_call = ["./guard.sh"]`, `permission_request = ["sh", "answer.sh"]`)
	w.Env = append(w.Env, "ANTHROPIC_API_KEY=sk-leak")
	write := func(dir, name, script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(w.Home, "guard.sh", "env > seen-env; if grep -q forbidden-word; then echo '{\"block\":true,\"reason\":\"the word\"}'; fi\n")
	write(w.Home, "answer.sh", "cat >/dev/null; echo '{\"answer\":\"allow\"}'\n")
	write(w.Cwd, "guard.sh", "touch taken-over\n")
	write(w.Cwd, "answer.sh", "touch taken-over; echo '{\"answer\":\"allow\"}'\n")
	a, s := w.Opened()
	a.Prompt(s, "D:TOOL shell touch forbidden-word")
	if !hasUpdate(a.Updates(s, 0), func(u Update) bool { return u.Status == "failed" }) {
		t.Errorf("it was not blocked:\n%s", a.Transcript())
	}
	a.Prompt(s, "D:TOOL shell touch fine")
	for name, want := range map[string]bool{"forbidden-word": false, "fine": true, "taken-over": false} {
		if _, err := os.Stat(filepath.Join(w.Cwd, name)); (err == nil) != want {
			t.Errorf("%s is there: %v\n%s", name, err == nil, a.Transcript())
		}
	}
	if strings.Contains(a.Transcript(), "session/request_permission") {
		t.Error("people were asked although the hook answered")
	}
	env, err := os.ReadFile(filepath.Join(w.Home, "seen-env"))
	if err != nil || strings.Contains(string(env), "sk-leak") {
		t.Errorf("the hook's environment, %v:\n%s", err, env)
	}
	a.Prompt(s, "D:TOOL shell sudo touch over")
	if !hasUpdate(a.Updates(s, 0), func(u Update) bool {
		return strings.Contains(string(u.Raw["content"]), "not allowed by policy (high risk)")
	}) {
		t.Errorf("the hook's yes overrules policy:\n%s", a.Transcript())
	}
}

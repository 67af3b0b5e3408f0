package fieldtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestWebFetch: off unless turned on; the network's setting decides whether it
// asks; and this machine's own servers are out of reach whatever was allowed.
func TestWebFetch(t *testing.T) {
	var hits atomic.Int32
	private := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer private.Close()
	prompt := fmt.Sprintf(`D:TOOL web_fetch {"url":"%s/x?y=z"} ; D:SAY done`, private.URL)
	failure := func(a *Agent, s string) string {
		t.Helper()
		u := a.AwaitUpdate(s, 0, "the refusal", func(u Update) bool { return u.Kind == "tool_call_update" && u.Status == "failed" })
		return string(u.Raw["content"])
	}

	w := NewWorld(t)
	a, s := w.Opened()
	a.Prompt(s, "D:SAY hi")
	if tools := w.Model.Requests()[0].Tools; slices.Contains(tools, "web_fetch") {
		t.Error("web_fetch is there without being turned on")
	}

	for network, want := range map[string]string{
		"allow": "only public ones are fetched",
		"ask":   "only public ones are fetched",
		"deny":  "autonomy.network",
	} {
		w := NewWorld(t, "[tools.web_fetch]", "enabled = true", "[autonomy]", fmt.Sprintf("network = %q", network))
		a, s := w.Opened()
		id := a.BeginPrompt(s, prompt)
		if network == "ask" {
			p := a.AwaitPermission(0)
			host := strings.TrimPrefix(private.URL, "http://")
			if shown := string(p.ToolCall.RawInput); !strings.Contains(shown, private.URL+"/x?y=z") {
				t.Errorf("the request does not show the address: %s", shown)
			}
			if offered := fmt.Sprint(p.Options); !strings.Contains(offered, "Always allow `web_fetch` from "+host+" in this session") {
				t.Errorf("the request offers %s", offered)
			}
			a.Choose(p, "allow_always")
		}
		if got := failure(a, s); !strings.Contains(got, want) {
			t.Errorf("network %s: %s", network, got)
		}
		a.Response(id)
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the private server was reached %d times", n)
	}
}

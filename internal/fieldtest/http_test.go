package fieldtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// ask sends an HTTP request to the gateway's endpoint with the token.
func (g *Gateway) ask(method, body string, header ...string) *http.Response {
	g.tb.Helper()
	req, err := http.NewRequestWithContext(g.tb.Context(), method, g.URL+"/acp", strings.NewReader(body))
	if err != nil {
		g.tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+Token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		g.tb.Fatal(err)
	}
	g.tb.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestW10StatusesOfTheHTTPProfile(t *testing.T) {
	g := NewWorld(t).Gateway()
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`
	const list = `{"jsonrpc":"2.0","id":2,"method":"session/list","params":{}}`
	const prompt = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`
	first := g.ask("POST", initialize)
	id := first.Header.Get("Acp-Connection-Id")
	if body, err := io.ReadAll(first.Body); err != nil || first.StatusCode != 200 || id == "" || !strings.Contains(string(body), `"id":1,"result"`) {
		t.Fatalf("initialize: %s %q %s %v", first.Status, id, body, err)
	}
	conn, events := "Acp-Connection-Id: "+id, "Accept: text/event-stream"
	for _, c := range []struct {
		what, method, body string
		header             []string
		want               int
	}{
		{"a request", "POST", list, []string{conn}, 202},
		{"a notification", "POST", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9}}`, []string{conn}, 202},
		{"no connection", "POST", list, nil, 400},
		{"an unknown connection", "POST", list, []string{"Acp-Connection-Id: nobody"}, 404},
		{"initialize again", "POST", initialize, []string{conn}, 400},
		{"another type", "POST", list, []string{conn, "Content-Type: text/plain"}, 415},
		{"no JSON", "POST", `{"jsonrpc":`, []string{conn}, 400},
		{"a batch", "POST", "[" + list + "]", []string{conn}, 400},
		{"a session's request without its header", "POST", prompt, []string{conn}, 400},
		{"with another session's", "POST", prompt, []string{conn, "Acp-Session-Id: other"}, 400},
		{"events without Accept", "GET", "", []string{conn}, 406},
		{"events of no connection", "GET", "", []string{events}, 400},
		{"events of an unknown one", "GET", "", []string{events, "Acp-Connection-Id: nobody"}, 404},
		{"events", "GET", "", []string{events, conn}, 200},
		{"events twice", "GET", "", []string{events, conn}, 409},
		{"another verb", "PUT", list, []string{conn}, 405},
		{"the end", "DELETE", "", []string{conn}, 202},
		{"the end again", "DELETE", "", []string{conn}, 404},
		{"a request after it", "POST", list, []string{conn}, 404},
	} {
		if resp := g.ask(c.method, c.body, c.header...); resp.StatusCode != c.want {
			t.Errorf("%s: %s, want %d", c.what, resp.Status, c.want)
		}
	}
}

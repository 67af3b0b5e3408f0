package fieldtest

import (
	"path/filepath"
	"strings"
	"testing"
)

// begin sends a prompt and returns its request's id.
func (a *Agent) begin(s, text string) string {
	return a.Begin("session/prompt", object{"sessionId": s, "prompt": []object{{"type": "text", "text": text}}})
}

// Commands act while the model is silent, without a request to it, whatever
// becomes of other prompts then.
func TestCommandsActAtOnce(t *testing.T) {
	for _, concurrent := range []string{"queue", "reject", "steer"} {
		w := NewWorld(t)
		w.ConfigureFake("[acp]", `concurrent_prompt = "`+concurrent+`"`)
		a, s := w.Opened()
		from := a.Lines()
		running := a.begin(s, "D:SAY begun ; D:STALL")
		a.AwaitUpdate(s, from, "the first words", func(u Update) bool { return strings.Contains(string(u.Raw["content"]), "begun") })
		for command, want := range map[string]string{"/status": "Now: at work", "/help": "/stop", "/usage": "tokens", "/think": "cannot be told"} {
			at := a.Lines()
			m := a.Response(a.begin(s, command))
			if got := a.Said(s, at); m.Error != nil || m.StopReason() != "end_turn" || !strings.Contains(got, want) {
				t.Errorf("%s, %s: %v %s, said %q", concurrent, command, m.Error, m.StopReason(), got)
			}
		}
		stopped := a.begin(s, "/stop")
		if got := a.Response(running).StopReason(); got != "cancelled" {
			t.Errorf("%s: what ran ended with %s", concurrent, got)
		}
		if got := a.Response(stopped).StopReason(); got != "end_turn" {
			t.Errorf("%s: /stop ended with %s", concurrent, got)
		}
		if n := len(w.Model.Requests()); n != 1 {
			t.Errorf("%s: %d requests to the model", concurrent, n)
		}
		a.Quit()
	}
}

// A client that loads a session hears what it has used, at the user's own price.
func TestOwnPrices(t *testing.T) {
	w := NewWorld(t)
	prices := filepath.Join(w.Home, "data", "prices.toml")
	put(t, prices, "[[price]]\nmodel = \"fake-\"\ninput = -1\noutput = 1\n")
	a, s := w.Opened()
	from := a.Lines()
	a.Prompt(s, "D:SAY hello")
	u := a.AwaitUpdate(s, from, "usage", func(u Update) bool { return u.Kind == "usage_update" })
	if cost := u.Raw["cost"]; cost != nil || string(u.Raw["size"]) != "100000" {
		t.Errorf("with a broken file: %v", u.Raw)
	}
	if got := a.Stderr(); strings.Count(got, "prices.toml:1:1: the price of fake-: -1 is no price") != 1 {
		t.Errorf("it was told as %q", got)
	}
	put(t, prices, "# mended\n[[price]]\nmodel = \"fake-\"\ninput = 1000\noutput = 2000.5\ncurrency = \"EUR\"\ncontext_window = 50000\n")
	from = a.Lines()
	a.Prompt(s, "D:SAY hello")
	u = a.AwaitUpdate(s, from, "usage", func(u Update) bool { return u.Kind == "usage_update" })
	if got := string(u.Raw["cost"]); !strings.Contains(got, `"EUR"`) || string(u.Raw["size"]) != "50000" {
		t.Errorf("with a good one: %v", u.Raw)
	}
	cost := string(u.Raw["cost"])
	a.Quit()
	b := w.Start()
	b.Init()
	if m := b.Call("session/load", w.LoadParams(s)); m.Error != nil {
		t.Fatal(m.Error)
	}
	u = b.AwaitUpdate(s, 0, "usage", func(u Update) bool { return u.Kind == "usage_update" })
	if got := string(u.Raw["cost"]); got != cost {
		t.Errorf("after a load the cost is %s, was %s", got, cost)
	}
}

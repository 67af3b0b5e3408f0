package price_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/grapnel-ai/grapnel/internal/model/price"
)

func TestLookup(t *testing.T) {
	tests := []struct {
		id    string
		input float64 // in dollars; 0: no price
	}{
		{"claude-sonnet-4-6", 3},
		{"claude-haiku-4-5-20251001", 1},
		{"anthropic/claude-sonnet-4.5", 3},
		{"claude-opus-5-5", 4},
		{"claude-opus-5", 5},
		{"gpt-5-2025-08-07", 1.25},
		{"gpt-5.4-mini", 0.75},
		{"openai/gpt-4o", 2.5},
		{"gpt-5-pro", 0},
		{"gpt-4o-realtime", 0},
		{"llama3.2:3b", 0},
		{"", 0},
	}
	for _, tt := range tests {
		p := price.Lookup(tt.id)
		if (p != nil) != (tt.input != 0) || p != nil && p.Input != price.Rate(tt.input*1e6) {
			t.Errorf("Lookup(%q) = %+v, want input price %v", tt.id, p, tt.input)
		}
	}
}

func TestLookupReturnsACopy(t *testing.T) {
	price.Lookup("gpt-5").Input = 99
	if p := price.Lookup("gpt-5"); p.Input != 1_250_000 {
		t.Errorf("the table was changed to %v", p.Input)
	}
}

func TestCostIsExact(t *testing.T) {
	p := price.Lookup("claude-sonnet-4-6") // 3, 15, 0.30, 3.75
	var bill price.Bill
	for range 1_000_000 {
		bill = bill.Add(p.Cost(price.Tokens{Input: 1, Output: 1, CacheRead: 1}))
	}
	if got := bill[price.USD].String(); got != "18.3" {
		t.Errorf("a million times 3 + 15 + 0.3 millionths of a dollar is %s", got)
	}
	if full := p.Cost(price.Tokens{Input: math.MaxUint64}).Add(bill); full[price.USD] != math.MaxInt64 {
		t.Errorf("too much is %v", full)
	}
}

func TestBillInJSON(t *testing.T) {
	for _, c := range []struct {
		in, want, said string
	}{
		{"0.000123", "0.000123", "0.00012 USD"},
		{"0.30000000000000004", "0.3", "0.30 USD"}, // as floats were summed once
		{"1.5e-7", "0.00000015", "0.00000015 USD"},
		{"12", "12", "12.00 USD"},
		{`{"USD":1.25,"EUR":3}`, `{"EUR":3,"USD":1.25}`, "3.00 EUR and 1.25 USD"},
		{`{}`, `{}`, ""},
	} {
		var b price.Bill
		if err := json.Unmarshal([]byte(c.in), &b); err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		got, err := json.Marshal(b)
		if err != nil || string(got) != c.want || b.String() != c.said {
			t.Errorf("%s became %s, %q, %v", c.in, got, b.String(), err)
		}
	}
	for _, bad := range []string{"-1", `"1"`, `{"USD":"x"}`, "1e300", "true"} {
		var b price.Bill
		if err := json.Unmarshal([]byte(bad), &b); err == nil {
			t.Errorf("%s was read as %v", bad, b)
		}
	}
}

func TestParse(t *testing.T) {
	list, err := price.Parse("p.toml", []byte("\ufeff[[price]]\nmodel = \"Kimi-\"\ninput = 1\noutput = 2.5\n"+
		"cache_read = 0.25\ncurrency = \"EUR\"\ncontext_window = 262144\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []price.Entry{{Model: "kimi-", ContextWindow: 262144, Price: price.Price{
		Currency: "EUR", Input: 1_000_000, Output: 2_500_000, CacheRead: 250_000, CacheWrite: 1_000_000,
	}}}
	if d := cmp.Diff(want, list); d != "" {
		t.Error(d)
	}
}

func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	entry := "[[price]]\nmodel = \"a\"\ninput = 1\noutput = 1\n"
	for _, c := range []struct{ text, want string }{
		{entry + "[[price]]\nmodel = \"b\"\n", "p.toml:5:1: the price of b needs input and output"},
		{"[[price]]\ninput = 1\noutput = 1\n", "p.toml:1:1: this price names no model"},
		{entry + "outputs = 3\n", "p.toml:5:1: unknown key price.outputs"},
		{"[[price]\n", "p.toml:1:"},
		{"[[price]]\nmodel = 3\n", "p.toml:2:"},
		{strings.Replace(entry, "input = 1", "input = -1", 1), "p.toml:1:1: the price of a: -1 is no price"},
		{strings.Replace(entry, "input = 1", "input = nan", 1), "p.toml:1:1: the price of a: NaN is no price"},
		{strings.Replace(entry, "input = 1", "input = \"1\"", 1), "p.toml:1:1: the price of a: 1 is no price"},
		{entry + "currency = \"$$\"\n", "p.toml:1:1: the price of a has the currency \"$$\""},
		{entry + "context_window = -1\n", "p.toml:1:1: the price of a has a context_window of -1"},
	} {
		_, err := price.Parse("p.toml", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestBook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.toml")
	var told []error
	b := price.NewBook(path, func(err error) { told = append(told, err) })
	changes := 0
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		changes++
		when := time.Now().Add(time.Duration(changes) * time.Hour) // no two states look alike
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	find := func(id string, want price.Rate) {
		t.Helper()
		if e, ok := b.Find(id); ok != (want != 0) || e.Price.Input != want {
			t.Errorf("%s: %+v, want %d", id, e, want)
		}
	}
	entry := func(model, input string) string {
		return "[[price]]\nmodel = \"" + model + "\"\ninput = " + input + "\noutput = 1\n"
	}
	find("gpt-5", 0) // there is no file
	write(entry("gpt-", "1") + entry("gpt-5", "2") + entry("openai/gpt-5", "3") + entry("gpt-", "4"))
	find("gpt-4o", 4_000_000)
	find("GPT-5-mini", 2_000_000)
	find("openai/gpt-5", 3_000_000)
	find("other/gpt-5", 2_000_000)
	find("claude", 0)
	write(entry("gpt-", "-1"))
	find("gpt-4o", 0)
	find("gpt-5", 0)
	if len(told) != 1 || !strings.HasPrefix(told[0].Error(), path+":1:1: ") {
		t.Errorf("told: %v", told)
	}
	write(entry("gpt-", "5"))
	find("gpt-5", 5_000_000)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	find("gpt-5", 0)
	if len(told) != 1 {
		t.Errorf("told: %v", told)
	}
}

func TestLoadOfWhatIsNoFile(t *testing.T) {
	if _, err := price.Load(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
	big := filepath.Join(t.TempDir(), "prices.toml")
	if err := os.WriteFile(big, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := price.Load(big); err == nil || !strings.Contains(err.Error(), "larger than 1 MiB") {
		t.Errorf("a big file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("[[price]]\nmodel = \"a\"\ninput = 1\noutput = 2.5\ncache_read = 0.1\ncurrency = \"EUR\"\n"))
	f.Add([]byte("price = [{model = 'x', input = 1e3, output = inf}]"))
	f.Add([]byte("[price]\nmodel = 1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := price.Parse("p.toml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "p.toml:") {
				t.Errorf("an error that does not say where: %v", err)
			}
			return
		}
		for _, e := range list {
			if cost := e.Price.Cost(price.Tokens{Input: 1 << 40, Output: 7}); cost[e.Price.Unit()] < 0 {
				t.Errorf("%+v costs %v", e, cost)
			}
		}
	})
}

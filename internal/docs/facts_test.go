package docs

import (
	"context"
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/config"
	"github.com/grapnel-ai/grapnel/internal/policy"
)

// row finds the rows of tables whose first cell is code.
var (
	row  = regexp.MustCompile("(?m)^\\| (`.*?) \\| (.*?) \\| (.*) \\|$")
	code = regexp.MustCompile("`([^`]+)`")
)

// section returns the part of a page below a heading.
func section(t *testing.T, name, title string) string {
	t.Helper()
	for _, p := range pages(t) {
		if p.name != name {
			continue
		}
		_, after, ok := strings.Cut(p.text, "\n## "+title+"\n")
		if !ok {
			t.Fatalf("%s has no section %q", name, title)
		}
		part, _, _ := strings.Cut(after, "\n## ")
		return part
	}
	t.Fatalf("there is no %s", name)
	return ""
}

// TestProviderTable holds the table of kinds against the presets: every kind is
// in it, with its key and its model.
func TestProviderTable(t *testing.T) {
	table := section(t, "docs/providers.md", "Kinds")
	kinds := kindsOf(t)
	rows := row.FindAllStringSubmatch(table, -1)
	if len(rows) != len(kinds) {
		t.Errorf("the table has %d kinds, there are %d: %s", len(rows), len(kinds), strings.Join(kinds, ", "))
	}
	for _, m := range rows {
		kind := strings.Trim(m[1], "`")
		key, model, _ := strings.Cut(m[3], " | ")
		wantKey, wantModel := "none", "the first the server has"
		c := config.Default()
		c.Providers[kind] = config.Provider{Kind: kind, BaseURL: baseURL(kind)}
		choice, err := c.ProviderNamed(context.Background(), kind, config.Sources{Getenv: func(string) string { return "" }})
		switch {
		case err == nil:
			wantModel = "`" + choice.Model + "`"
		case !strings.Contains(err.Error(), "names no model"):
			t.Errorf("%s: %v", kind, err)
		}
		if _, err := choice.Credentials(context.Background(), config.Sources{Getenv: func(string) string { return "" }}); errors.Is(err, config.ErrNoCredentials) {
			wantKey = "`" + variable.FindString(err.Error()) + "`"
		}
		if key != wantKey || model != wantModel {
			t.Errorf("%s: the table says %s and %s, the code %s and %s", kind, key, model, wantKey, wantModel)
		}
	}
}

// variable finds the variable an error names.
var variable = regexp.MustCompile(`[A-Z]+_API_KEY`)

// baseURL is an address for the one kind that has none of its own.
func baseURL(kind string) string {
	if kind == config.KindChat {
		return "http://127.0.0.1:8080/v1"
	}
	return ""
}

func kindsOf(t *testing.T) []string {
	t.Helper()
	for _, k := range config.Keys() {
		if k.Path == "providers.<name>.kind" {
			return k.Values
		}
	}
	t.Fatal("the configuration has no providers.<name>.kind")
	return nil
}

// TestVerdictTable holds the table of commands against the policy.
func TestVerdictTable(t *testing.T) {
	const cwd = "/home/you/project"
	a := config.Default().Autonomy
	p, err := policy.New(policy.Settings{
		Level: policy.Level(a.Level), WorkspaceOnly: a.WorkspaceOnly,
		AllowedCommands: a.AllowedCommands, AutoApprove: a.AutoApprove, Home: "/home/you", Network: policy.Network(a.Network),
	})
	if err != nil {
		t.Fatal(err)
	}
	look := func(name, from string) policy.Path {
		if !path.IsAbs(name) {
			name = path.Join(from, name)
		}
		in := name == cwd || strings.HasPrefix(name, cwd+"/")
		return policy.Path{Abs: name, Root: cwd, InRoot: in, Forbidden: strings.HasPrefix(name, "/etc/")}
	}
	judged := 0
	for _, m := range row.FindAllStringSubmatch(section(t, "docs/permissions.md", "What asks, at level supervised"), -1) {
		for _, c := range code.FindAllStringSubmatch(m[1], -1) {
			if strings.Contains(c[1], "…") {
				continue
			}
			judged++
			d := p.Decide(policy.Subject{Tool: "shell", Kind: "execute", Acts: true, Command: c[1], Cwd: cwd, Look: look}, nil, policy.ModeAsk)
			if want, always := strings.CutSuffix(m[2], ", always"); d.Verdict.String() != want || always && d.Grant != nil {
				t.Errorf("`%s`: the table says %s, the policy %s", c[1], m[2], d.Explain())
			}
		}
	}
	if judged < 10 {
		t.Errorf("only %d commands of the table were judged", judged)
	}
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write generated pages instead of comparing them")

// run executes a command line in an empty home and returns its output.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = Run(t.Context(), Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
		Environ: []string{"HOME=" + t.TempDir()},
	})
	return code, out.String(), errOut.String()
}

func TestReferencePagesAreCurrent(t *testing.T) {
	for page, args := range map[string][]string{
		"config.md":   {"config", "schema", "--markdown"},
		"commands.md": {"help", "--markdown"},
	} {
		t.Run(page, func(t *testing.T) { checkPage(t, "../../docs/"+page, args) })
	}
}

func checkPage(t *testing.T, page string, args []string) {
	code, want, stderr := run(t, args...)
	if code != ExitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(string(got), "\r\n", "\n")); diff != "" {
		t.Errorf("%s is out of date, run go generate ./cmd/grapnel (-want +got):\n%s", page, diff)
	}
}

// Every command explains itself, and says a sentence per flag.
func TestEveryCommandHasHelp(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: its short help is %q", cmd.CommandPath(), cmd.Short)
		}
		if cmd.RunE == nil || cmd.Run != nil || cmd.Args == nil {
			t.Errorf("%s: it must set RunE and Args, so that errors are ours", cmd.CommandPath())
		}
		page := manPage(cmd)
		for line := range strings.Lines(page) {
			if strings.Contains(line, "-") && !strings.Contains(line, `\-`) && !strings.HasPrefix(line, ".TH") {
				t.Errorf("%s: unescaped line in its manual page: %s", cmd.CommandPath(), line)
			}
		}
		for _, v := range cmd.Commands() {
			visit(v)
		}
	}
	i := &invocation{env: Env{Stdout: io.Discard, Stderr: io.Discard}}
	visit(i.root(i.all()))
}

func TestExitCodes(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		ran    bool
		err    error
		want   int
		stderr string
	}{
		{"done", t.Context(), true, nil, ExitOK, ""},
		{"failed", t.Context(), true, errors.New("a\nb"), ExitFailed, "grapnel: a\ngrapnel: b\n"},
		{"usage found by the command", t.Context(), true, usagef("wrong"), ExitUsage, "grapnel: wrong\n"},
		{"usage found by the parser", t.Context(), false, errors.New("wrong"), ExitUsage, "grapnel: wrong\n"},
		{"a code of its own", t.Context(), true, &codeError{5, errors.New("denied")}, 5, "grapnel: denied\n"},
		{"all is said", t.Context(), true, &codeError{code: ExitFailed}, ExitFailed, ""},
		{"interrupted", canceled, true, context.Canceled, ExitInterrupted, ""},
		{"canceled from within", t.Context(), true, context.Canceled, ExitFailed, "grapnel: context canceled\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			i := &invocation{env: Env{Stderr: &stderr}, ran: tt.ran}
			if got := i.exit(tt.ctx, tt.err); got != tt.want || stderr.String() != tt.stderr {
				t.Errorf("exit code %d, stderr %q, want %d, %q", got, stderr.String(), tt.want, tt.stderr)
			}
		})
	}
}

func TestHomelessUser(t *testing.T) {
	var stderr bytes.Buffer
	code := Run(t.Context(), Env{Args: []string{"config", "show"}, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr})
	if want := "grapnel: the home directory is unknown; set HOME, GRAPNEL_CONFIG_DIR or --config-dir\n"; code != ExitFailed || stderr.String() != want {
		t.Errorf("exit code %d, stderr %q, want %q", code, stderr.String(), want)
	}
}

package secret

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"key": "\ufefffrom-file\r\n", "empty": "\n", "big": strings.Repeat("x", maxFileBytes+1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src := Source{Dir: dir, Getenv: func(name string) string {
		return map[string]string{"KEY": " from-env ", "EMPTY": ""}[name]
	}}
	tests := []struct {
		ref, want, wantErr string
		missing            bool
	}{
		{ref: "", want: ""},
		{ref: "sk-literal", want: "sk-literal"},
		{ref: "a:b", want: "a:b"},
		{ref: "literal:file:dev.db", want: "file:dev.db"},
		{ref: "env:KEY", want: "from-env"},
		{ref: "env:EMPTY", wantErr: "environment variable EMPTY is not set", missing: true},
		{ref: "env:", wantErr: "env: names no variable"},
		{ref: "file:key", want: "from-file"},
		{ref: "file:" + filepath.Join(dir, "key"), want: "from-file"},
		{ref: "file:absent", wantErr: "does not exist", missing: true},
		{ref: "file:empty", wantErr: "is empty", missing: true},
		{ref: "file:big", wantErr: "is longer than 65536 bytes"},
		{ref: "file:.", wantErr: "is not a regular file"},
		{ref: "file:", wantErr: "file: names no file"},
		{ref: "cmd:echo from-command", want: "from-command"},
		{ref: "cmd:exit 3", wantErr: "ended with status 3", missing: true},
		{ref: "cmd:", wantErr: "cmd: names no command"},
		{ref: "age:", wantErr: "age: holds no encrypted text"},
		{ref: "age:xyz", wantErr: "there is no directory of keys here"},
	}
	for _, tt := range tests {
		t.Run(tt.ref, func(t *testing.T) {
			got, err := NewRef(tt.ref).Resolve(t.Context(), src)
			if tt.wantErr == "" && (err != nil || got != tt.want) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("error %v, want %q", err, tt.wantErr)
			}
			if errors.Is(err, ErrMissing) != tt.missing {
				t.Errorf("error %v matches ErrMissing: %v, want %v", err, !tt.missing, tt.missing)
			}
		})
	}
}

// A reference is looked up anew at each call.
func TestResolveSeesChanges(t *testing.T) {
	dir := t.TempDir()
	ref := NewRef("file:key")
	if _, err := ref.Resolve(t.Context(), Source{Dir: dir}); !errors.Is(err, ErrMissing) {
		t.Fatalf("error %v, want ErrMissing", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("now"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ref.Resolve(t.Context(), Source{Dir: dir}); got != "now" || err != nil {
		t.Errorf("got %q, %v, want the new key", got, err)
	}
}

func TestCommandEndsWithContext(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a POSIX shell")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if _, err := NewRef("cmd:sleep 30").Resolve(ctx, Source{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %s after the cancel", took)
	}
}

func TestCommandOutputIsBounded(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a POSIX shell")
	}
	_, err := NewRef("cmd:yes SEKRET | head -c 200000").Resolve(t.Context(), Source{})
	if err == nil || !strings.Contains(err.Error(), "printed more than 65536 bytes") {
		t.Errorf("error %v, want the bound", err)
	}
}

// Whatever prints a reference, or a struct that holds one, shows no secret.
func TestNothingShowsTheSecret(t *testing.T) {
	type holder struct {
		Shown  Ref
		hidden Ref
	}
	for _, text := range []string{"SEKRET", "cmd:echo SEKRET", "age:SEKRET", "literal:SEKRET"} {
		ref := NewRef(text)
		h := holder{ref, ref}
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb, ref)
			fmt.Fprintf(&out, verb, h)
			fmt.Fprintf(&out, verb, &h)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "ref", ref, "holder", h)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "ref", ref, "holder", h)
		encoded, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(encoded)
		if s := out.String(); strings.Contains(s, "SEKRET") || strings.Contains(s, fmt.Sprintf("%x", "SEKRET")) {
			t.Errorf("%s is shown:\n%s", text, s)
		}
	}
}

func TestRefText(t *testing.T) {
	tests := []struct{ ref, want string }{
		{"", ""},
		{"env:KEY", "env:KEY"},
		{"file:~/key", "file:~/key"},
		{"cmd:pass show x", "cmd:[redacted]"},
		{"sk-1", "[redacted]"},
	}
	for _, tt := range tests {
		if got := NewRef(tt.ref).String(); got != tt.want {
			t.Errorf("NewRef(%q) shows %q, want %q", tt.ref, got, tt.want)
		}
	}
	if !NewRef("").IsZero() || !NewRef("a").Equal(NewRef("a")) || NewRef("a").Equal(NewRef("b")) {
		t.Error("IsZero or Equal is wrong")
	}
}

func FuzzRef(f *testing.F) {
	for _, seed := range []string{"", "env:A", "file:x", "cmd:y", "literal:", "age:", ":", "env: "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref := NewRef(text)
		_ = ref.Check()
		switch ref.Scheme() {
		case SchemeLiteral, SchemeCommand, SchemeAge:
			if s := ref.String(); s != Redacted && s != "cmd:"+Redacted {
				t.Errorf("%q shows %q", text, s)
			}
		case SchemeEnv, SchemeFile:
			if ref.String() != text {
				t.Errorf("%q shows %q", text, ref)
			}
		}
	})
}

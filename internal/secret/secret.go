// Package secret holds references to credentials: where a secret is, not what
// it is. A reference is safe to log, print and marshal; only Resolve gives the
// secret away, and it looks again at every call, so that a key put in place
// after start-up is found.
package secret

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// Redacted stands where a secret would have been shown.
const Redacted = "[redacted]"

// maxFileBytes bounds a secret read from a file: longer ones are the wrong file.
const maxFileBytes = 64 << 10

// ErrMissing is matched by the errors of references that point at nothing: an
// unset variable, an absent or empty file, a command that prints nothing.
var ErrMissing = errors.New("secret is missing")

// Scheme says where a reference points.
type Scheme string

// The schemes of a reference.
const (
	SchemeNone    Scheme = ""
	SchemeLiteral Scheme = "literal"
	SchemeEnv     Scheme = "env"
	SchemeFile    Scheme = "file"
	SchemeCommand Scheme = "cmd"
	SchemeAge     Scheme = "age"
)

// Ref is a reference to a secret as written in the configuration: a literal,
// env:NAME, file:PATH, cmd:COMMAND or age:…. A literal that begins like one of
// these is written literal:…. The zero value and the empty string are unset.
//
// The text hides behind a pointer so that even printing a struct that holds a
// Ref in an unexported field cannot show it.
type Ref struct {
	text *string
}

// NewRef returns the reference written as text.
func NewRef(text string) Ref {
	if text == "" {
		return Ref{}
	}
	return Ref{text: &text}
}

// IsZero reports whether the reference is unset.
func (r Ref) IsZero() bool { return r.text == nil }

// Equal reports whether both references are written alike.
func (r Ref) Equal(other Ref) bool { return r.raw() == other.raw() }

func (r Ref) raw() string {
	if r.text == nil {
		return ""
	}
	return *r.text
}

func (r Ref) split() (Scheme, string) {
	raw := r.raw()
	if raw == "" {
		return SchemeNone, ""
	}
	scheme, rest, found := strings.Cut(raw, ":")
	if !found {
		return SchemeLiteral, raw
	}
	switch s := Scheme(scheme); s {
	case SchemeEnv, SchemeFile, SchemeCommand, SchemeAge, SchemeLiteral:
		return s, rest
	}
	return SchemeLiteral, raw
}

// Scheme says where the reference points.
func (r Ref) Scheme() Scheme {
	s, _ := r.split()
	return s
}

// Check reports a reference that can never resolve, such as env: without a name.
func (r Ref) Check() error {
	switch s, rest := r.split(); {
	case s == SchemeAge && strings.TrimSpace(rest) == "":
		return errors.New("age: holds no encrypted text; grapnel secret set writes it")
	case s == SchemeEnv && strings.TrimSpace(rest) == "":
		return errors.New("env: names no variable; write env:NAME")
	case s == SchemeFile && strings.TrimSpace(rest) == "":
		return errors.New("file: names no file; write file:PATH")
	case s == SchemeCommand && strings.TrimSpace(rest) == "":
		return errors.New("cmd: names no command; write cmd:COMMAND")
	}
	return nil
}

// String shows the reference without the secret: env:NAME and file:PATH as
// written, everything else redacted.
func (r Ref) String() string {
	switch s, rest := r.split(); s {
	case SchemeNone:
		return ""
	case SchemeEnv, SchemeFile:
		return string(s) + ":" + rest
	case SchemeCommand:
		return "cmd:" + Redacted
	default:
		return Redacted
	}
}

// Format writes String for every verb, so that no verb shows the secret.
func (r Ref) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.String()) }

// LogValue shows String to structured logs.
func (r Ref) LogValue() slog.Value { return slog.StringValue(r.String()) }

// MarshalText writes String; a marshalled reference is for people to read.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText takes a reference as written.
func (r *Ref) UnmarshalText(text []byte) error {
	*r = NewRef(string(text))
	return nil
}

// Source is where references are looked up.
type Source struct {
	Getenv  func(string) string // nil: os.Getenv
	Dir     string              // what a relative file: path is relative to
	KeyFile string              // the identity of age: references; "" where there are none
	// Seen gets to know every secret that is resolved from a place made for
	// secrets (file:, cmd: and age:). nil: nobody does.
	Seen *Redactor
}

// Resolve returns the secret, and "" for an unset reference. It reads the
// environment or file, runs the command or decrypts, at every call. The error
// never holds the secret; it matches ErrMissing when the reference points at
// nothing, and ErrKey when it cannot be decrypted.
func (r Ref) Resolve(ctx context.Context, src Source) (string, error) {
	value, err := r.resolve(ctx, src)
	switch r.Scheme() {
	case SchemeFile, SchemeCommand, SchemeAge:
		src.Seen.Add(value)
	}
	return value, err
}

// ResolveFor is Resolve for the value of a variable, header or setting of that
// name: Seen gets to know it also when it is a literal or from the environment,
// if it is Sensitive.
func (r Ref) ResolveFor(ctx context.Context, name string, src Source) (string, error) {
	value, err := r.Resolve(ctx, src)
	from := name
	if s, rest := r.split(); s == SchemeEnv && SecretName(rest) {
		from = rest
	}
	if Sensitive(from, value) {
		src.Seen.Add(value)
	}
	return value, err
}

func (r Ref) resolve(ctx context.Context, src Source) (string, error) {
	if err := r.Check(); err != nil {
		return "", err
	}
	switch s, rest := r.split(); s {
	case SchemeAge:
		return fromAge(rest, src.KeyFile)
	case SchemeEnv:
		return fromEnv(rest, src.Getenv)
	case SchemeFile:
		return fromFile(expand(rest, src))
	case SchemeCommand:
		return fromCommand(ctx, rest)
	default:
		return rest, nil
	}
}

func fromEnv(name string, getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	name = strings.TrimSpace(name)
	if v := strings.TrimSpace(getenv(name)); v != "" {
		return v, nil
	}
	return "", fmt.Errorf("environment variable %s is not set (%w)", name, ErrMissing)
}

// expand makes a file: path absolute: ~ is the home directory, and a relative
// path starts at the source's directory.
func expand(path string, src Source) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(src.Dir, path)
}

func fromFile(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("secret file %s does not exist (%w)", path, ErrMissing)
	}
	if err != nil {
		return "", fmt.Errorf("read secret file: %w", err)
	}
	if !info.Mode().IsRegular() { // opening a FIFO would wait for a writer
		return "", fmt.Errorf("secret file %s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read secret file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return "", fmt.Errorf("read secret file: %w", err)
	}
	if len(data) > maxFileBytes {
		return "", fmt.Errorf("secret file %s is longer than %d bytes; is it the right file?", path, maxFileBytes)
	}
	return clean(data, "secret file "+path+" is empty")
}

// clean strips the byte order mark and the space around a secret that editors
// and shells add.
func clean(data []byte, empty string) (string, error) {
	s := strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))
	if s == "" {
		return "", fmt.Errorf("%s (%w)", empty, ErrMissing)
	}
	return s, nil
}

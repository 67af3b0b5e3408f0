// Package start starts a bridge as a command line, the environment and the
// configuration ask for: which gateway, with which credential. It is shared by
// grapnel acp and grapnel-acp-bridge, and links no store.
package start

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/grapnel-ai/grapnel/internal/bridge"
)

// Flags are those of a bridge.
type Flags struct {
	URL                              string
	Token, TokenFile                 string
	Password, PasswordFile           string
	PairCode                         string
	Session, SessionLabel            string
	RequireExisting, Reset, NoPrefix bool
	Provenance                       string
	ClientFs                         bool
	Tools                            string

	set *pflag.FlagSet
}

// Names of the flags that have to do with what session is chosen; they also work
// without a gateway.
var sessionFlags = []string{"session", "session-label", "require-existing", "reset-session"}

// Bind adds the flags to a set.
func (f *Flags) Bind(set *pflag.FlagSet) {
	f.set = set
	set.StringVar(&f.URL, "url", "", "`address` of the gateway, such as wss://gateway.example:42617 (default gateway.remote.url, else the gateway of this configuration directory)")
	set.StringVar(&f.TokenFile, "token-file", "", "`file` with the token for the gateway")
	set.StringVar(&f.PasswordFile, "password-file", "", "`file` with the password for the gateway")
	set.StringVar(&f.Token, "token", "", "`token` for the gateway; unsafe, other users of this machine can read it: use --token-file")
	set.StringVar(&f.Password, "password", "", "`password` for the gateway; unsafe, other users of this machine can read it: use --password-file")
	set.StringVar(&f.PairCode, "pair-code", "", "one-time `code` of grapnel gateway pair; the token got for it is kept")
	set.StringVar(&f.Session, "session", "", "`key` of the session that new sessions are, such as agent:main:notes")
	set.StringVar(&f.SessionLabel, "session-label", "", "`label` of the session that new sessions are; it must exist")
	set.BoolVar(&f.RequireExisting, "require-existing", false, "fail when the session does not exist, instead of making it")
	set.BoolVar(&f.Reset, "reset-session", false, "give the key a new, empty session, once")
	set.BoolVar(&f.NoPrefix, "no-prefix-cwd", false, "do not tell agents that work elsewhere the working directory")
	set.StringVar(&f.Provenance, "provenance", string(bridge.ProvenanceOff), "what prompts tell of where they come from: `off|meta|meta+receipt`")
	set.BoolVar(&f.ClientFs, "client-fs", false, "paths mean the same on the gateway's host: it may use the client's files and terminals")
	set.StringVar(&f.Tools, "tools", "gateway", "where tools act: on the `gateway|client`")
}

// UsageError is a command line that asks for what does not go together.
type UsageError struct{ text string }

// Error says what is wrong, in one sentence.
func (e *UsageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// Check finds what is wrong with the flags; the error is a *UsageError.
func (f *Flags) Check() error {
	var credentials []string
	for _, name := range []string{"token", "token-file", "password", "password-file"} {
		if !f.set.Changed(name) {
			continue
		}
		credentials = append(credentials, "--"+name)
		if f.set.Lookup(name).Value.String() == "" {
			return usagef("--%s is empty: leave it out, or give it a value", name)
		}
	}
	switch {
	case len(credentials) > 1:
		return usagef("%s and %s are both given: choose one", credentials[0], credentials[1])
	case f.set.Changed("url") && f.URL == "":
		return usagef("--url is empty: leave it out, or write it like wss://gateway.example:42617")
	case f.Session != "" && f.SessionLabel != "":
		return usagef("--session and --session-label are both given: choose one")
	case f.RequireExisting && f.Reset:
		return usagef("--require-existing and --reset-session are both given: choose one")
	case !slices.Contains([]string{"off", "meta", "meta+receipt"}, f.Provenance):
		return usagef("--provenance must be off, meta or meta+receipt, not %q", f.Provenance)
	case f.Tools != "gateway" && f.Tools != "client":
		return usagef("--tools must be gateway or client, not %q", f.Tools)
	}
	if f.URL != "" {
		if _, err := bridge.ParseURL(f.URL, ""); err != nil {
			return usagef("--url: %v", err)
		}
	}
	return nil
}

// Chooses reports whether a flag says which session is meant.
func (f *Flags) Chooses() bool { return slices.ContainsFunc(sessionFlags, f.set.Changed) }

// Bridges reports whether a flag was given that only means something to a bridge.
func (f *Flags) Bridges() bool {
	return slices.ContainsFunc([]string{
		"url", "token", "token-file", "password", "password-file", "pair-code",
		"provenance", "client-fs", "tools", "no-prefix-cwd",
	}, f.set.Changed)
}

package proc

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// shellMarker tells a child whose it is.
const shellMarker = "GRAPNEL_SHELL=acp"

// passed are the variables every child gets. Windows programs do not start
// without the second list.
func passed() []string {
	names := []string{"PATH", "HOME", "TERM", "LANG", "USER", "SHELL", "TMPDIR"}
	if runtime.GOOS == "windows" {
		names = append(names, "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP",
			"USERNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "WINDIR")
	}
	return names
}

// providerKeys are credentials of model providers that no child gets, whoever
// asks. A harness that needs one is given it by its own configuration.
func providerKeys() []string {
	return []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENROUTER_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "XAI_API_KEY",
	}
}

// Environ returns the environment for a child out of base (KEY=value, as of
// os.Environ): PATH, HOME, TERM, LANG, LC_*, USER, SHELL and TMPDIR, the
// variables named in extra, and GRAPNEL_SHELL=acp. Other GRAPNEL_ variables
// and provider keys are left out even when extra names them.
func Environ(base []string, extra ...string) []string {
	names := append(passed(), extra...)
	var env []string
	for _, kv := range base {
		name, _, ok := strings.Cut(kv, "=")
		if !ok || name == "" || secret(name) {
			continue
		}
		if named(names, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, kv)
		}
	}
	return append(env, shellMarker)
}

func secret(name string) bool {
	return strings.HasPrefix(strings.ToUpper(name), "GRAPNEL_") || named(providerKeys(), name)
}

func named(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
}

// sameName compares names of variables as the system does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

func defaultEnv() []string { return Environ(os.Environ()) }

// lookupEnv returns the last value of name in env.
func lookupEnv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if n, v, ok := strings.Cut(kv, "="); ok && sameName(n, name) {
			return v
		}
	}
	return ""
}

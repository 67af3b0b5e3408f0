package secret

import (
	"slices"
	"strings"
)

// SecretName reports whether a variable, header or parameter of this name holds
// a credential, going by the words in it: API_KEY, X-Auth-Token, password.
func SecretName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	return slices.ContainsFunc(words, secretWord)
}

func secretWord(word string) bool {
	switch word {
	case "pass", "pat", "auth", "authorization", "credential", "credentials", "cookie", "dsn", "bearer", "signature":
		return true
	}
	for _, end := range []string{"key", "token", "secret", "password", "passwd", "passphrase"} {
		if strings.HasSuffix(strings.TrimSuffix(word, "s"), end) {
			return true
		}
	}
	return false
}

// Sensitive reports whether the value of a variable or header is to be kept out
// of sight, going by its name and looks. A path, a word or a number of a
// variable that is not named like a secret is none: it would be missing
// everywhere it is shown.
func Sensitive(name, value string) bool {
	if len(value) < MinRedacted {
		return false
	}
	if SecretName(name) {
		return !isPath(value) && !isNumber(value)
	}
	return looksSecret(value)
}

// isPath tells a socket or key file, as in SSH_AUTH_SOCK, from what is in it.
func isPath(value string) bool {
	return strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "./") || strings.HasPrefix(value, "../") ||
		strings.Count(value, "/") > 1 && value[0] == '/'
}

// isNumber tells a count from a secret: short ones are no secret, whatever
// their name.
func isNumber(value string) bool {
	return len(value) < pieceBytes && strings.Trim(value, "0123456789") == ""
}

// looksSecret knows the tokens of well-known services, long random strings and
// addresses with a password.
func looksSecret(value string) bool {
	for _, prefix := range []string{"sk-", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-", "AKIA", "AIza", "eyJ", "npm_", "hf_"} {
		if strings.HasPrefix(value, prefix) && len(value) >= 16 {
			return true
		}
	}
	if parts := partsOf(value); len(parts) > 0 && parts[0] != value {
		return true // an address with a password in it
	}
	return len(value) >= 24 && mixed(value)
}

// mixed reports whether a value is made of upper and lower case letters and
// digits, and little else.
func mixed(value string) bool {
	var upper, lower, digit bool
	for _, r := range value {
		switch {
		case r >= 'A' && r <= 'Z':
			upper = true
		case r >= 'a' && r <= 'z':
			lower = true
		case r >= '0' && r <= '9':
			digit = true
		case !strings.ContainsRune("_-+=", r):
			return false
		}
	}
	return upper && lower && digit
}

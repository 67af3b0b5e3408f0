package door

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// shortestBridge is what a bridge token someone put there must have at least.
const shortestBridge = 16

// BridgeToken returns the token in the file at path by which programs of the
// same user reach the gateway without pairing. It makes the file (0600) when
// there is none or it is empty.
func BridgeToken(path string) (string, error) {
	data, err := readPrivate(path, longestCredential)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the bridge's token %s: %w", path, err)
	}
	token := strings.TrimSpace(string(data))
	switch {
	case token == "":
		token = newToken()
		if err := writePrivate(path, []byte(token+"\n")); err != nil {
			return "", fmt.Errorf("write the bridge's token: %w", err)
		}
	case len(token) < shortestBridge || strings.ContainsAny(token, " \t\r\n"):
		return "", fmt.Errorf("the bridge's token in %s is no token: remove the file, and a new one is made at the next start", path)
	}
	return token, nil
}

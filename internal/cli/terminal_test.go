package cli

import (
	"io"
	"strings"
	"testing"
)

func TestKeyReaderNotesCtrlC(t *testing.T) {
	for keys, want := range map[string]bool{"": false, "half\r": false, "\x04": false, "\x03": true, "half\x03": true} {
		k := &keyReader{r: strings.NewReader(keys)}
		if got, err := io.ReadAll(k); err != nil || string(got) != keys || k.interrupted != want {
			t.Errorf("%q: read %q, %v, interrupted %v", keys, got, err, k.interrupted)
		}
	}
}

package doctor

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/grapnel-ai/grapnel/internal/audit"
)

func TestKeyFile(t *testing.T) {
	key := filepath.Join(t.TempDir(), "identity.txt")
	expect(t, []Finding{KeyFile(key)}, OK, "does not exist yet")
	expect(t, []Finding{KeyFile(filepath.Dir(key))}, Fail, "is not a file")
	if err := os.WriteFile(key, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, []Finding{KeyFile(key)}, OK, "yours alone")
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(key, 0o640); err != nil {
		t.Fatal(err)
	}
	expect(t, []Finding{KeyFile(key)}, Fail, "0640")
}

func TestAudit(t *testing.T) {
	dir := t.TempDir()
	expect(t, []Finding{Audit(dir)}, OK, "no lines yet")
	log := audit.New(audit.Options{Dir: dir})
	for range 3 {
		if err := log.Record(t.Context(), audit.Entry{Event: audit.Option, What: "mode = plan"}); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, []Finding{Audit(dir)}, OK, "3 lines, the last is number 3")
	whole, err := os.ReadFile(log.Path())
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for says, text := range map[string][]byte{
		"audit.jsonl line 2": bytes.Replace(whole, lines[1], bytes.Replace(lines[1], []byte("plan"), []byte("full"), 1), 1),
		"missing at the end": bytes.Join(lines[:2], nil),
	} {
		if err := os.WriteFile(log.Path(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		expect(t, []Finding{Audit(dir)}, Warn, says)
	}
}
